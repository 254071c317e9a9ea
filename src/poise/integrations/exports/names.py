"""Names of files and folders that every system accepts, made from any text."""

import re
import unicodedata
from collections.abc import Iterable

#: Characters that some system forbids in a name.
FORBIDDEN = re.compile(r'[/\\:*?"<>|]')
#: Names that Windows gives to devices, whatever their ending.
DEVICES = frozenset(
    {"con", "prn", "aux", "nul", *(f"{port}{i}" for port in ("com", "lpt") for i in range(1, 10))}
)
#: Most bytes of a name; the limit of usual file systems is 255.
MOST_BYTES = 150


def safe_name(text: str) -> str:
    """A name for a file or folder: visible, within the folder, and never empty."""
    composed = unicodedata.normalize("NFC", text)
    shown = "".join(letter if letter.isprintable() else "_" for letter in composed)
    name = FORBIDDEN.sub("_", shown).encode("utf-8", "replace")[:MOST_BYTES]
    short = name.decode("utf-8", "ignore").strip(" .") or "_"
    return f"_{short}" if short.split(".")[0].strip().lower() in DEVICES else short


def distinct_names(texts: Iterable[str], endings: Iterable[str] | None = None) -> list[str]:
    """A safe name for each text; names differ in more than case, by a number if necessary.

    Parameters
    ----------
    endings : ending of each name, such as ".png", which the number comes before
    """
    stems = [safe_name(text) for text in texts]
    suffixes = [""] * len(stems) if endings is None else list(endings)
    taken: set[str] = set()
    following: dict[str, int] = {}
    names = []
    for stem, ending in zip(stems, suffixes, strict=True):
        name = stem + ending
        while _folded(name) in taken:
            number = following[stem + ending] = following.get(stem + ending, 1) + 1
            name = f"{stem}-{number}{ending}"
        taken.add(_folded(name))
        names.append(name)
    return names


def _folded(name: str) -> str:
    """The same for names that a file system may take for one."""
    return unicodedata.normalize("NFKD", name).casefold()
