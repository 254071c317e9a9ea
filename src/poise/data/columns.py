"""Which columns of a table hold the items, and whether those are texts or paths of images."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from poise.data.image_kinds import HEIF, PICTURES
from poise.data.text import plain
from poise.errors import InputError

#: Names of columns that hold the items, and of those that hold labels.
CONTENT = ("text", "image", "path", "file", "filename", "content", "sentence", "review")
LABELS = ("label", "class")
#: Names of columns that hold images.
IMAGES = frozenset({"image", "path", "file", "filename"})
#: Values of a column that are checked to see whether it holds images.
CHECKED_VALUES = 50
#: Characters of an address that an error shows.
SHOWN_CHARACTERS = 80


def no_column(path: Path, column: str, names: Sequence[str]) -> InputError:
    """The error for a column that does not exist; it names the nearest one and all others."""
    lower = {name.lower(): name for name in reversed(names)}
    near = [lower[name] for name in get_close_matches(column.lower(), lower, 1)]
    listed = ", ".join(names)
    hint = f"did you mean {near[0]!r}? There are {listed}" if near else f"there are {listed}"
    return InputError(f"{path} has no column {column!r}: {hint}")


def label_column(names: Iterable[str]) -> str | None:
    """The column whose name says that it holds labels, if there is one."""
    known = list(names)
    return next((name for label in LABELS for name in known if name.lower() == label), None)


def content_columns(
    path: Path, wanted: str | None, names: Sequence[str], others: Iterable[str | None] = ()
) -> list[str]:
    """The columns that hold the items: the ones asked for, or the one whose name says so.

    Parameters
    ----------
    path : Path
        The table, for errors.
    wanted : str, optional
        A column, or several with commas between them.
    names : sequence of str
        All columns of the table.
    others : iterable of str
        Columns that hold something else, such as labels.
    """
    if wanted is not None:
        return _several(path, wanted, names)
    taken = set(others)
    free = [name for name in names if name not in taken] if len(names) > 1 else list(names)
    usual = [name for name in free if name.lower() in CONTENT]
    if len(free) != 1 and len(usual) != 1:
        raise InputError(
            f"{path} has the columns {', '.join(names)}: say which holds the texts, or the paths "
            "of images, --column NAME"
        )
    return free if len(free) == 1 else usual


def _several(path: Path, wanted: str, names: Sequence[str]) -> list[str]:
    """Columns from names with commas between them; a name may contain commas itself."""
    columns: list[str] = []
    parts = wanted.split(",")
    while parts:
        for length in range(len(parts), 0, -1):
            together = ",".join(parts[:length])
            name = together if together in names else together.strip()
            if name in names:
                break
        else:
            raise no_column(path, parts[0].strip() if columns or len(parts) > 1 else wanted, names)
        columns.append(name)
        parts = parts[length:]
    return list(dict.fromkeys(columns))


def contents(columns: Mapping[str, list[Any]], names: Sequence[str]) -> list[Any]:
    """What each row holds in these columns; several are joined, with an empty line between them."""
    if len(names) == 1:
        return columns[names[0]]
    return [_joined(fields) for fields in zip(*(columns[name] for name in names), strict=True)]


def _joined(fields: Iterable[object]) -> str:
    texts = (plain(field) for field in fields if isinstance(field, str | int | float))
    return "\n\n".join(text for text in texts if text.strip())


# Images -------------------------------------------------------------------------------------------


def name_images(values: Iterable[Any], columns: Sequence[str]) -> bool:
    """Whether the rows of some columns hold paths of images rather than texts."""
    if len(columns) > 1:
        return False
    texts = (text.strip() for text in values if isinstance(text, str))
    some = [text for text, _ in zip(filter(None, texts), range(CHECKED_VALUES), strict=False)]
    by_name = columns[0].lower() in IMAGES
    named = [text for text in some if _names_image(text, by_name)]
    return bool(named) and 2 * len(named) >= len(some)


def is_address(text: str) -> bool:
    """Whether a text is a web address."""
    return text.lower().startswith(("http://", "https://"))


def addresses_refused(path: Path, column: str, example: str) -> InputError:
    """The error for a column of web addresses: poise downloads no items."""
    shown = example.encode("utf-8", "replace").decode()[:SHOWN_CHARACTERS]
    return InputError(
        f"the column {column!r} of {path} holds web addresses such as {shown}, and poise "
        "downloads no images: download them, and give their paths relative to the table"
    )


def _names_image(text: str, by_name: bool) -> bool:
    """Whether a field names an image: by its ending, or by its column if it is an address."""
    if len(text.split()) > 1 and (is_address(text) or "\n" in text):
        return False
    ending = text.split("?")[0].split("#")[0] if is_address(text) else text
    return ending.lower().endswith((*PICTURES, *HEIF)) or (by_name and is_address(text))
