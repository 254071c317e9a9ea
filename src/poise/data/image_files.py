"""Image files on disk: find them in a folder, and load their bytes."""

import os
import stat
from pathlib import Path

from poise.data.image_kinds import picture_endings, why_not_read
from poise.data.images import MOST_FILE_BYTES, UnreadableError

#: Flags of `os.open` that some systems lack. A pipe would make whoever opens it wait for ever.
FLAGS = ("O_NONBLOCK", "O_BINARY", "O_CLOEXEC")


def find_images(
    root: Path, *, allow_outside: bool = False
) -> tuple[list[str], list[tuple[str, str]]]:
    """Images below a folder, hidden ones excepted.

    Links to folders are not followed: what they hold is read where it lies, or lies outside.

    Parameters
    ----------
    allow_outside : bool
        Whether links to files may lead out of the folder.

    Returns
    -------
    names : paths below `root`, with slashes, in order
    refused : names of images that cannot be read, each with the reason
    """
    names: list[str] = []
    refused: list[tuple[str, str]] = []
    endings = picture_endings()

    def refuse_folder(error: OSError) -> None:
        name = Path(error.filename).relative_to(root).as_posix()
        refused.append((name, f"it cannot be listed ({error.strerror})"))

    def refuse_outside(name: str) -> bool:
        try:
            if not allow_outside:
                located(root, name)
        except UnreadableError as error:
            refused.append((name, str(error)))
            return True
        return False

    for path, folders, files in os.walk(root, onerror=refuse_folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        folder = Path(path)
        below = folder.relative_to(root).as_posix()
        prefix = "" if below == "." else f"{below}/"
        for name in folders:
            if (folder / name).is_symlink():
                refuse_outside(prefix + name)
        for name in files:
            ending = Path(name).suffix.lower()
            if name.startswith("."):
                continue
            if ending not in endings:
                if why := why_not_read(ending):
                    refused.append((prefix + name, why))
                continue
            if not (folder / name).is_symlink() or not refuse_outside(prefix + name):
                names.append(prefix + name)
    names.sort(key=lambda name: name.split("/"))
    return names, sorted(refused)


def located(root: Path, name: str) -> Path:
    """The file itself, with links followed, if it lies below `root`, a path without links."""
    try:
        path = (root / name).resolve(strict=True)
    except (OSError, RuntimeError, ValueError):  # links in a circle; a name with a zero in it
        raise UnreadableError("there is no such file") from None
    if not path.is_relative_to(root):
        raise UnreadableError("it leads out of the folder")
    return path


def load_below(root: Path, name: str) -> tuple[bytes, int]:
    """The bytes of a file below `root`, and when it was written, in nanoseconds."""
    # Another file may take its place after its links were followed: no link is followed again.
    return load_file(located(root, name), os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))


def load_file(path: Path, flags: int = os.O_RDONLY) -> tuple[bytes, int]:
    """The bytes of an image file, and when it was written, in nanoseconds.

    Raises
    ------
    UnreadableError
        If it cannot be opened, is not a regular file, or is too large.
    """
    for flag in FLAGS:
        flags |= getattr(os, flag, 0)
    try:
        with os.fdopen(os.open(path, flags), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise UnreadableError("it is not a file")
            if status.st_size > MOST_FILE_BYTES:
                raise UnreadableError(f"it has {status.st_size / 1e9:.1f} GB")
            return file.read(), status.st_mtime_ns
    except FileNotFoundError:
        raise UnreadableError("there is no such file") from None
    except OSError as error:
        raise UnreadableError(f"it cannot be opened ({error.strerror or error})") from None
