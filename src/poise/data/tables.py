"""What a table's columns hold: texts, several of them joined, or paths of images."""

import math
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from poise.errors import InputError

#: Endings of image files, and of those that need a package of their own (see `other_pictures`).
PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif", ".tif", ".tiff")
HEIF = (".heic", ".heif", ".hif")
#: Names of columns that hold the items, and of those that hold labels.
CONTENT = ("text", "image", "path", "file", "filename", "content", "sentence", "review")
LABELS = ("label", "class")
#: Names of columns that hold images, and values of a column that tell whether it does.
IMAGES = frozenset({"image", "path", "file", "filename"})
LOOKED_AT = 50
#: Letters of an address that an error shows.
SHOWN = 80


def no_column(path: Path, column: str, names: Sequence[str]) -> InputError:
    """A column that is not there: the nearest name, and all."""
    lower = {name.lower(): name for name in reversed(names)}
    near = [lower[name] for name in get_close_matches(column.lower(), lower, 1)]
    there = ", ".join(names)
    hint = f"did you mean {near[0]!r}? There are {there}" if near else f"there are {there}"
    return InputError(f"{path} has no column {column!r}: {hint}")


def label_column(names: Iterable[str]) -> str | None:
    """The column that holds labels by its name, if there is one."""
    known = list(names)
    return next((name for label in LABELS for name in known if name.lower() == label), None)


def content_columns(
    path: Path, given: str | None, names: Sequence[str], others: Iterable[str | None] = ()
) -> list[str]:
    """The columns that hold the items: those given, or the one that can be told from its name.

    Parameters
    ----------
    path : Path
        Of the table, for errors.
    given : str, optional
        A column, or several with commas between them.
    names : sequence of str
        Of all columns.
    others : iterable of str
        Columns that hold something else, such as labels.
    """
    if given is not None:
        return _several(path, given, names)
    taken = set(others)
    free = [name for name in names if name not in taken] if len(names) > 1 else list(names)
    usual = [name for name in free if name.lower() in CONTENT]
    if len(free) != 1 and len(usual) != 1:
        raise InputError(
            f"{path} has the columns {', '.join(names)}: say which holds the texts, or the paths "
            "of images, --column NAME"
        )
    return free if len(free) == 1 else usual


def _several(path: Path, given: str, names: Sequence[str]) -> list[str]:
    """Names of columns with commas between them; a name may have commas itself."""
    found: list[str] = []
    parts = given.split(",")
    while parts:
        for length in range(len(parts), 0, -1):
            together = ",".join(parts[:length])
            name = together if together in names else together.strip()
            if name in names:
                break
        else:
            raise no_column(path, parts[0].strip() if found or len(parts) > 1 else given, names)
        found.append(name)
        parts = parts[length:]
    return list(dict.fromkeys(found))


def contents(columns: Mapping[str, list[Any]], names: Sequence[str]) -> list[Any]:
    """What each row holds in these columns; several are joined, with an empty line between them."""
    if len(names) == 1:
        return columns[names[0]]
    return [_joined(fields) for fields in zip(*(columns[name] for name in names), strict=True)]


def _joined(fields: Iterable[object]) -> str:
    texts = (plain(one) for one in fields if isinstance(one, str | int | float))
    return "\n\n".join(text for text in texts if text.strip())


def plain(value: object) -> str:
    """A field as text; empty if it holds nothing."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # whole numbers beside empty fields are read as 1.0
    return str(value)


# Images -------------------------------------------------------------------------------------------


def name_images(values: Iterable[Any], columns: Sequence[str]) -> bool:
    """Whether the rows of some columns hold paths of images rather than texts."""
    if len(columns) > 1:
        return False
    texts = (text.strip() for text in values if isinstance(text, str))
    some = [text for text, _ in zip(filter(None, texts), range(LOOKED_AT), strict=False)]
    said = columns[0].lower() in IMAGES
    named = [text for text in some if _names_image(text, said)]
    return bool(named) and 2 * len(named) >= len(some)


def is_address(text: str) -> bool:
    """Whether a text is an address in the network."""
    return text.lower().startswith(("http://", "https://"))


def addresses_refused(path: Path, column: str, example: str) -> InputError:
    """A column that holds addresses of images: nothing is fetched."""
    shown = example.encode("utf-8", "replace").decode()[:SHOWN]
    return InputError(
        f"the column {column!r} of {path} holds addresses such as {shown}, and poise fetches "
        "nothing from the network: download the images, and give their paths relative to the table"
    )


def _names_image(text: str, said: bool) -> bool:
    """Whether a field names an image: by its ending; an address in a column that is `said` to."""
    if len(text.split()) > 1 and (is_address(text) or "\n" in text):
        return False
    ending = text.split("?")[0].split("#")[0] if is_address(text) else text
    return ending.lower().endswith((*PICTURES, *HEIF)) or (said and is_address(text))
