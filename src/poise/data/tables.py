"""Tables in files, read by column: .csv, .tsv, .jsonl and .parquet."""

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any

from poise.data.text import parse_json
from poise.errors import DataError, InputError
from poise.extras import needed

#: What separates fields, by the ending of the file.
DELIMITERS = {".csv": ",", ".tsv": "\t"}
TABLES = (*DELIMITERS, ".jsonl", ".parquet")
#: Most characters of a field: those of many books.
MOST_CHARACTERS = 100_000_000
#: Rows of a .jsonl file whose names are the columns.
NAMING_ROWS = 1_000
#: What pyarrow raises, or its bases.
PARQUET_ERRORS = (OSError, ValueError, KeyError, NotImplementedError, OverflowError)

#: The names of a table's columns -> those that are wanted.
Choose = Callable[[Sequence[str]], Sequence[str]]
Convert = Callable[[Any], Any]


def read_columns(
    path: Path, choose: Choose, convert: Mapping[str, Convert] | None = None
) -> dict[str, list[Any]]:
    """Some columns of a table; the file is read once.

    Parameters
    ----------
    path : Path
        Of a .csv, .tsv, .jsonl or .parquet file.
    choose : callable
        Takes the names of all columns and returns those that are wanted.
    convert : dict, optional
        Name -> function that converts each value of that column as it is read.

    Returns
    -------
    dict
        Name -> a value per row, None where a row has none. A row of a .csv or .tsv file with more
        fields than the header has no values at all, because nobody knows where its fields belong.

    Raises
    ------
    DataError
        If the file cannot be read, or holds no rows.
    """
    kind = path.suffix.lower()
    read = _parquet if kind == ".parquet" else _lines if kind == ".jsonl" else _fields
    columns = read(path, choose, convert or {})
    if not all(columns.values()):
        raise DataError(f"{path} holds no rows")
    return columns


def _parquet(path: Path, choose: Choose, convert: Mapping[str, Convert]) -> dict[str, list[Any]]:
    with open_parquet(path) as file:
        wanted = list(dict.fromkeys(choose(file.schema_arrow.names)))
        table = file.read(columns=wanted)
        columns = {name: table.column(name).to_pylist() for name in wanted}
        return {
            name: list(map(convert[name], column)) if name in convert else column
            for name, column in columns.items()
        }


@contextmanager
def open_parquet(path: Path) -> Iterator[Any]:
    """An open Parquet file; what pyarrow cannot read of it is a `DataError`."""
    parquet = needed("pyarrow.parquet", "parquet", f"reading {path}")
    try:
        with parquet.ParquetFile(path) as file:
            yield file
    except PARQUET_ERRORS as error:
        if isinstance(error, InputError):
            raise
        raise DataError(
            f"{path} cannot be read: it is damaged, is no Parquet file, or holds dates out of range"
        ) from None


def _fields(path: Path, choose: Choose, convert: Mapping[str, Convert]) -> dict[str, list[Any]]:
    """Columns of a file with delimiters between its fields and the names in the first row."""
    before = csv.field_size_limit(MOST_CHARACTERS)  # the module's own limit is a long article
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.reader(file, delimiter=DELIMITERS[path.suffix.lower()])
            names = next(filter(None, rows), None)
            if names is None:
                raise DataError(f"{path} holds no rows")
            wanted = {name: names.index(name) for name in choose(names)}
            columns: dict[str, list[Any]] = {name: [] for name in wanted}
            for row in filter(None, rows):
                overlong = len(row) > len(names) and any(row[len(names) :])
                for name, position in wanted.items():
                    value = row[position] if position < len(row) and not overlong else None
                    columns[name].append(convert[name](value) if name in convert else value)
            return columns
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path} cannot be read: {error}") from None
    finally:
        csv.field_size_limit(before)


def _lines(path: Path, choose: Choose, convert: Mapping[str, Convert]) -> dict[str, list[Any]]:
    """Columns of a file of JSON objects, one per line; the first of them name the columns."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            rows = _objects(path, file)
            first = list(islice(rows, NAMING_ROWS))
            names = list(dict.fromkeys(str(name) for row in first for name in row))
            if not names:
                raise DataError(f"{path} holds no rows")
            columns: dict[str, list[Any]] = {name: [] for name in choose(names)}
            for row in chain(first, rows):
                for name, column in columns.items():
                    value = row.get(name)
                    column.append(convert[name](value) if name in convert else value)
            return columns
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise DataError(f"{path} cannot be read: {error}") from None


def _objects(path: Path, lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    for line in lines:
        if line.strip():
            row = parse_json(line)
            if not isinstance(row, dict):
                raise DataError(f"{path} has a line that is not an object: {line.strip()[:40]}")
            yield row
