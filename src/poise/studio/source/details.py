"""What is known of an item beyond what it shows: its file, or the rest of its row in a table."""

from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from poise.data.image_cache import File
from poise.data.image_files import load_below
from poise.data.images import UnreadableError, size_of
from poise.data.tables import TABLES, read_columns
from poise.data.text import clean
from poise.errors import PoiseError
from poise.studio.source.catalogue import Catalogue

#: Characters of a value that are shown.
SHOWN_CHARACTERS = 2000

Details = list[tuple[str, str]]


def other_columns(catalogue: Catalogue) -> dict[str, list[Any]]:
    """The columns of the table that the page does not show; none if the table changed."""
    path = Path(catalogue.source)
    if path.suffix.lower() not in TABLES or not path.is_file():
        return {}
    shown = catalogue.column or ""
    hidden = {shown, *shown.split(",")}
    try:
        columns = read_columns(path, lambda names: [name for name in names if name not in hidden])
    except PoiseError:
        return {}
    return {name: values for name, values in columns.items() if len(values) == catalogue.total}


def details(catalogue: Catalogue, node: int, columns: dict[str, list[Any]]) -> Details:
    """Names and values, as they are shown."""
    listed: Details = []
    if catalogue.files:
        listed += _of_file(catalogue.root, catalogue.files[node])
    elif catalogue.kind == "text":
        listed.append(("Length", f"{len(str(catalogue.items[node])):,} characters"))  # type: ignore[index]
    row = catalogue.rows[node]
    if not catalogue.files or columns:
        listed.append(("Row", f"{row + 1:,} of {catalogue.total:,}"))
    return listed + [(name, _shown(values[row])) for name, values in columns.items()]


def _of_file(root: Path, file: File) -> Details:
    written = datetime.fromtimestamp(file.changed / 1e9).astimezone()
    listed = [("File", clean(file.name)), ("Date", f"{written:%d %B %Y, %H:%M}")]
    with suppress(UnreadableError):
        width, height = size_of(load_below(root, file.name)[0])
        listed.append(("Pixels", f"{width:,} × {height:,}"))
    return [*listed, ("Size", _bytes(file.size))]


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
    return words if len(words) <= SHOWN_CHARACTERS else words[:SHOWN_CHARACTERS] + " …"
