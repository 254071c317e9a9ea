"""What is known of one item beside what it shows: its file, or the rest of its row in a table."""

from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from poise.data.images import UnreadableError, size_of
from poise.data.sources import TABLES, read_columns
from poise.errors import PoiseError
from poise.studio.source.catalogue import Catalogue
from poise.studio.source.reading import File, clean, load_file

#: Letters of a value that are shown.
LONGEST = 2000

Details = list[tuple[str, str]]


def other_columns(catalogue: Catalogue) -> dict[str, list[Any]]:
    """The columns of the table that the page does not show; none if the table changed."""
    path = Path(catalogue.source)
    if path.suffix.lower() not in TABLES or not path.is_file():
        return {}
    shown = catalogue.column or ""
    hidden = {shown, *shown.split(",")}
    try:
        found = read_columns(path, lambda names: [name for name in names if name not in hidden])
    except PoiseError:
        return {}
    return {name: values for name, values in found.items() if len(values) == catalogue.total}


def details(catalogue: Catalogue, index: int, columns: dict[str, list[Any]]) -> Details:
    """Names and values, as they are shown."""
    found: Details = []
    if catalogue.files:
        found += _of_file(catalogue.root, catalogue.files[index])
    elif catalogue.kind == "text":
        found.append(("Length", f"{len(str(catalogue.items[index])):,} characters"))  # type: ignore[index]
    row = catalogue.rows[index]
    if not catalogue.files or columns:
        found.append(("Row", f"{row + 1:,} of {catalogue.total:,}"))
    return found + [(name, _shown(values[row])) for name, values in columns.items()]


def _of_file(root: Path, file: File) -> Details:
    written = datetime.fromtimestamp(file.changed / 1e9).astimezone()
    found = [("File", clean(file.name)), ("Date", f"{written:%d %B %Y, %H:%M}")]
    with suppress(UnreadableError):
        width, height = size_of(load_file(root, file.name)[0])
        found.append(("Pixels", f"{width:,} × {height:,}"))
    return [*found, ("Size", _bytes(file.size))]


def _bytes(number: int) -> str:
    size, unit = float(number), "bytes"
    for larger in ("kB", "MB", "GB"):
        if size < 1000:
            break
        size, unit = size / 1000, larger
    return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.3g} {unit}"


def _shown(value: object) -> str:
    if isinstance(value, list | tuple):
        return f"{len(value):,} values"
    words = "" if value is None else clean(str(value))
    return words if len(words) <= LONGEST else words[:LONGEST] + " …"
