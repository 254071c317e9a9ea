"""Reading files that somebody else made: within their folder, of a limited size, without links out.

Rows of labels are dictionaries with id, source, label, by and time, as `poise.studio.exchange`
takes them in. Where only the content is known, the id is the one that poise gives to such content.
"""

from pathlib import Path, PurePosixPath
from typing import Any

from poise.data.image_files import load_below
from poise.data.images import UnreadableError
from poise.data.text import parse_json
from poise.errors import InputError

LabelRow = dict[str, Any]


def load(folder: Path, name: str) -> bytes:
    """The bytes of a file in a folder; links that lead out, pipes and huge files are refused."""
    try:
        return load_below(folder.resolve(), name)[0]
    except UnreadableError as error:
        raise InputError(f"{folder / name} cannot be imported: {error}") from None


def load_json(folder: Path, name: str, *kinds: type) -> Any:
    """The value of a JSON file, which must be of one of these kinds: `list`, `dict`."""
    try:
        value = parse_json(load(folder, name).decode("utf-8-sig"))
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{folder / name} cannot be read as JSON: {error}") from None
    if not isinstance(value, kinds):
        wanted = " or ".join("list" if kind is list else "object" for kind in kinds)
        raise InputError(f"{folder / name} holds no JSON {wanted}: export it again")
    return value


def texts(folder: Path, name: str) -> list[str]:
    """A JSON list of texts."""
    values = load_json(folder, name, list)
    if not all(isinstance(value, str) for value in values):
        raise InputError(f"{folder / name} must be a list of texts alone: export it again")
    return list(values)


def text(value: Any) -> str:
    """The value if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""


def own(values: Any, label: str) -> LabelRow:
    """Author and time as an export wrote them; nothing if the label has changed since then."""
    if not isinstance(values, dict) or values.get("label") != label:
        return {}
    return {"by": text(values.get("by")), "time": text(values.get("time")) or None}


def source_below(path: str, source: Path | None) -> str:
    """What poise calls a file of the folder that is labelled: its path below that folder."""
    below = PurePosixPath(path)
    if source is not None and below.is_absolute():
        for root in (source.absolute(), source.resolve()):
            if below.is_relative_to(root.as_posix()):
                return below.relative_to(root.as_posix()).as_posix()
    return path
