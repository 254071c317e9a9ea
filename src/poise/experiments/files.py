"""Writing the files of a page: all of them, or none."""

from collections.abc import Mapping
from pathlib import Path


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write texts by their names within `folder`, in order; each file appears whole or not at all.

    What is there already is replaced once everything new is on the disk, and left alone if anything
    goes wrong before. A page comes last, so that what it tells of is there.
    """
    parts = {folder / name: (folder / name).with_name(Path(name).name + ".part") for name in files}
    try:
        for (path, part), text in zip(parts.items(), files.values(), strict=True):
            path.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(text, encoding="utf-8", newline="\n")
        for path, part in parts.items():
            part.replace(path)
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)
