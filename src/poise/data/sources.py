"""Items from where people keep them: arrays, tables, folders of images, data sets by name."""

import csv
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy.typing as npt

from poise.data.datasets import datasets, load_dataset
from poise.data.datasets.files import read_arrays
from poise.data.embeddings.items import Images, Items, extra
from poise.errors import DataError, InputError

#: What tables are told apart by.
DELIMITERS = {".csv": ",", ".tsv": "\t"}
PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif", ".tif", ".tiff")
KINDS = ".npy, .npz, .csv, .tsv, .jsonl or .parquet"


def read_items(
    source: str, column: str | None = None, size: int | None = None, colour: bool = False
) -> Items:
    """The items of a source.

    Parameters
    ----------
    source : str
        A data set's name; a .npy file, or a .npz file with an array `X`; a .csv, .tsv, .jsonl or
        .parquet file, of which `column` names the texts; a folder of images.
    column : str, optional
        May be left out if the table has one column.
    size : int, optional
        Side of the square that images of a folder are brought to (64), where equal sizes are
        needed.
    colour : bool
        Whether images keep their colours.
    """
    path = Path(source)
    kind = path.suffix.lower()
    folder = path.is_dir()
    if column is not None and (folder or kind in (".npy", ".npz")):
        raise InputError(f"{source} is no table, so it has no column {column!r}: leave it out")
    if (size is not None or colour) and not folder:
        raise InputError(f"size and colour are for a folder of images, and {source} is none")
    if folder:
        return _images(path, 64 if size is None else size, colour)
    if not path.exists() and not kind:
        return load_dataset(source).X
    if not path.is_file():
        raise InputError(
            f"there is no file {source}: give a {KINDS} file, a folder of images, or a data set's "
            f"name ({', '.join(datasets)})"
        )
    if kind in (".npy", ".npz"):
        return _array(path)
    if kind == ".parquet":
        return _parquet(path, column)
    if kind in DELIMITERS or kind == ".jsonl":
        return _texts(path, column)
    raise InputError(f"{source} is of no known kind: expected {KINDS}, or a folder of images")


def _images(folder: Path, size: int, colour: bool) -> Images:
    """Every image in the folder and the folders in it, in the order of their paths."""
    paths = sorted(
        path
        for path in folder.rglob("*")
        if path.suffix.lower() in PICTURES
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and path.is_file()
    )
    if not paths:
        raise DataError(
            f"{folder} holds no images: expected files that end in {', '.join(PICTURES)}"
        )
    return Images(tuple(paths), size, colour)


def _parquet(path: Path, column: str | None) -> list[str]:
    parquet = extra("pyarrow.parquet", "parquet", f"reading {path}")
    try:
        with parquet.ParquetFile(path) as file:
            column = _column(path, file.schema_arrow.names, column)
            texts: list[str] = file.read(columns=[column]).column(column).to_pylist()
    except (OSError, ValueError, KeyError, NotImplementedError) as error:  # bases of pyarrow's
        if isinstance(error, InputError):
            raise
        raise DataError(f"{path} cannot be read: it is damaged, or no Parquet file") from None
    for number, text in enumerate(texts, start=1):
        if not isinstance(text, str):
            raise InputError(f"row {number} of {path} has no text in the column {column!r}")
    if not texts:
        raise DataError(f"{path} holds no rows")
    return texts


def _column(path: Path, names: Sequence[str], column: str | None) -> str:
    """The column that holds the texts."""
    if column is None:
        if len(names) != 1:
            raise InputError(
                f"{path} has the columns {', '.join(names)}: say which holds the texts, "
                "--column NAME"
            )
        return names[0]
    if column not in names:
        raise InputError(f"{path} has no column {column!r}: there are {', '.join(names)}")
    return column


def _array(path: Path) -> npt.NDArray[Any]:
    (array,) = read_arrays(path, *(["X"] if path.suffix.lower() == ".npz" else []))
    if array.ndim < 2:
        raise DataError(f"{path} has shape {array.shape}: expected a row per item")
    return array


def _texts(path: Path, column: str | None) -> list[str]:
    texts = []
    try:
        for number, row in enumerate(_rows(path), start=1):
            name = _column(path, [str(key) for key in row], column)
            if not isinstance(row[name], str):
                raise InputError(f"row {number} of {path} has no text in the column {name!r}")
            texts.append(row[name])
    except (UnicodeDecodeError, csv.Error, json.JSONDecodeError) as error:
        raise DataError(f"{path} cannot be read: {error}") from None
    if not texts:
        raise DataError(f"{path} holds no rows")
    return texts


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        if path.suffix.lower() == ".jsonl":
            for line in file:
                if line.strip():
                    row = json.loads(line)
                    if not isinstance(row, dict):
                        raise DataError(f"{path} has a line that is no object: {line.strip()[:40]}")
                    yield row
        else:
            yield from csv.DictReader(file, delimiter=DELIMITERS[path.suffix.lower()])
