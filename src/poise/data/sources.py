"""Items from where people keep them: arrays, tables, folders of images, data sets by name."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy.typing as npt

from poise.data.datasets import datasets, load_dataset
from poise.data.datasets.files import read_arrays
from poise.data.embeddings.items import Images, Items
from poise.data.other_pictures import picture_endings
from poise.data.tables import (
    addresses_refused,
    content_columns,
    contents,
    is_address,
    label_column,
    name_images,
)
from poise.errors import DataError, InputError
from poise.extras import needed

#: What tables are told apart by.
DELIMITERS = {".csv": ",", ".tsv": "\t"}
TABLES = (*DELIMITERS, ".jsonl", ".parquet")
#: Letters of a field at most: those of many books.
LONGEST_FIELD = 100_000_000
KINDS = ".npy, .npz, .csv, .tsv, .jsonl or .parquet"

#: What pyarrow raises, or its bases.
PARQUET_ERRORS = (OSError, ValueError, KeyError, NotImplementedError, OverflowError)

#: The names of a table's columns -> those that are wanted.
Choose = Callable[[Sequence[str]], Sequence[str]]
Convert = Callable[[Any], Any]


def read_items(
    source: str, column: str | None = None, size: int | None = None, colour: bool = False
) -> Items:
    """The items of a source.

    Parameters
    ----------
    source : str
        A data set's name; a .npy file, or a .npz file with an array `X`; a .csv, .tsv, .jsonl or
        .parquet file, of which `column` names the texts or the paths of images, relative to the
        table; a folder of images.
    column : str, optional
        Several columns of texts, with commas between them, are joined. May be left out if the
        table has one column, or one with a common name such as "text".
    size : int, optional
        Side of the square that images are brought to, where equal sizes are needed; 64, or 32 for
        principal components of grey images, if it is not given.
    colour : bool
        Whether images keep their colours.
    """
    path = Path(source)
    kind = path.suffix.lower()
    folder = path.is_dir()
    if column is not None and (folder or kind in (".npy", ".npz")):
        raise InputError(f"{source} is no table, so it has no column {column!r}: leave it out")
    items: Items
    if folder:
        items = _images(path, size, colour)
    elif not path.exists() and not kind:
        data = load_dataset(source)
        items = data.X if data.texts is None else list(data.texts)
    elif not path.is_file():
        raise InputError(
            f"there is no file {source}: give a {KINDS} file, a folder of images, or a data set's "
            f"name ({', '.join(datasets)})"
        )
    elif kind in (".npy", ".npz"):
        items = _array(path)
    elif kind in TABLES:
        items = _rows(path, column, size, colour)
    else:
        raise InputError(f"{source} is of no known kind: expected {KINDS}, or a folder of images")
    if (size is not None or colour) and not isinstance(items, Images):
        raise InputError(f"size and colour are for files of images, and {source} holds none")
    return items


def _images(folder: Path, size: int | None, colour: bool) -> Images:
    """Every image in the folder and the folders in it, in the order of their paths."""
    endings = picture_endings()
    paths = sorted(
        path
        for path in folder.rglob("*")
        if path.suffix.lower() in endings
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and path.is_file()
    )
    if not paths:
        raise DataError(
            f"{folder} holds no images: expected files that end in {', '.join(endings)}"
        )
    return Images(tuple(paths), size, colour)


def _array(path: Path) -> npt.NDArray[Any]:
    (array,) = read_arrays(path, *(["X"] if path.suffix.lower() == ".npz" else []))
    if array.ndim < 2:
        raise DataError(f"{path} has shape {array.shape}: expected a row per item")
    return array


def _rows(path: Path, column: str | None, size: int | None, colour: bool) -> list[str] | Images:
    """The texts, or the image files, that the rows of a table hold: every row has one."""
    chosen: list[str] = []

    def choose(names: Sequence[str]) -> list[str]:
        chosen[:] = content_columns(path, column, names, [label_column(names)])
        return chosen

    values = contents(read_columns(path, choose), chosen)
    name = ",".join(chosen)
    for number, value in enumerate(values, start=1):
        if not isinstance(value, str):
            raise InputError(f"row {number} of {path} has no text in the column {name!r}")
    if not name_images(values, chosen):
        return values
    paths = []
    for number, value in enumerate(values, start=1):
        if is_address(value):
            raise addresses_refused(path, name, value)
        paths.append(path.resolve().parent / value.strip())
        if not paths[-1].is_file():
            raise DataError(
                f"row {number} of {path} names {value.strip()!r}: there is no such file, relative "
                "to the table"
            )
    return Images(tuple(paths), size, colour)


def read_columns(
    path: Path, choose: Choose, convert: Mapping[str, Convert] | None = None
) -> dict[str, list[Any]]:
    """Some columns of a table, which is read once.

    Parameters
    ----------
    path : Path
        Of a .csv, .tsv, .jsonl or .parquet file.
    choose : callable
        Is given the names of the columns, and gives those that are wanted.
    convert : dict, optional
        Name -> what is made of each value of that column as it is read.

    Returns
    -------
    dict
        Name -> a value per row, None where a row has none. A row of a .csv or .tsv file with more
        fields than the header has none at all: who knows where its fields belong.

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
    parquet = needed("pyarrow.parquet", "parquet", f"reading {path}")
    try:
        with parquet.ParquetFile(path) as file:
            wanted = list(dict.fromkeys(choose(file.schema_arrow.names)))
            table = file.read(columns=wanted)
            columns = {name: table.column(name).to_pylist() for name in wanted}
            return {
                name: list(map(convert[name], column)) if name in convert else column
                for name, column in columns.items()
            }
    except PARQUET_ERRORS as error:
        if isinstance(error, InputError):
            raise
        raise unreadable_parquet(path) from None


def unreadable_parquet(path: Path) -> DataError:
    """What is said of a Parquet file that pyarrow cannot read."""
    return DataError(
        f"{path} cannot be read: it is damaged, is no Parquet file, or holds dates out of range"
    )


def _fields(path: Path, choose: Choose, convert: Mapping[str, Convert]) -> dict[str, list[Any]]:
    """Of a file of fields with delimiters between them, the names first."""
    before = csv.field_size_limit(LONGEST_FIELD)  # the module's own limit is a long article
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
                for name, place in wanted.items():
                    there = place < len(row) and not overlong
                    value = row[place] if there else None
                    columns[name].append(convert[name](value) if name in convert else value)
            return columns
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path} cannot be read: {error}") from None
    finally:
        csv.field_size_limit(before)


def _lines(path: Path, choose: Choose, convert: Mapping[str, Convert]) -> dict[str, list[Any]]:
    """Of a file of JSON objects, one a line; their names are those in the first of them."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            rows = _objects(path, file)
            first = list(islice(rows, 1_000))
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
                raise DataError(f"{path} has a line that is no object: {line.strip()[:40]}")
            yield row


def parse_json(text: str | bytes) -> Any:
    """What JSON says; a `ValueError` in words if it is none, whatever is wrong with it."""
    try:
        return json.loads(text)
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise
    except RecursionError:
        raise ValueError("its brackets are nested too deeply") from None
    except ValueError:
        raise ValueError("it holds a number of thousands of digits") from None
