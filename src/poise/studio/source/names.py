"""Names of sources, classes and items that are left out, as people read them."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from poise.data.text import clean
from poise.errors import InputError
from poise.studio.log.events import MAX_CHARACTERS


def source_name(source: str) -> str:
    """What a source is called: the last part of its path, or the data set's name."""
    path = Path(source)
    return clean(path.resolve().name if path.exists() else source) or "items"


def class_name(text: str) -> str:
    """A folder's name or a field as the name of a class."""
    shown = "".join(letter if letter.isprintable() else "\ufffd" for letter in text)
    return shown.strip()[:MAX_CHARACTERS]


def left_out(refused: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Names of what was left out, fit to be stored, and the reasons."""
    return tuple((clean(name), why) for name, why in refused)


def none_usable(what: str, refused: Sequence[tuple[str, str]]) -> InputError:
    """The error for a source of which everything was left out."""
    name, why = refused[0]
    return InputError(
        f"none of {what} can be used: {len(refused):,} left out, the first being {clean(name)}: "
        f"{why}"
    )
