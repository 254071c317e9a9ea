"""Items from where people keep them: arrays, tables with texts, data sets by name."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy.typing as npt

from poise.data.datasets import datasets, load_dataset
from poise.data.datasets.files import read_arrays
from poise.data.embeddings.registry import Items
from poise.errors import DataError, InputError

#: What tables are told apart by.
DELIMITERS = {".csv": ",", ".tsv": "\t"}


def read_items(source: str, column: str | None = None) -> Items:
    """The items of a source.

    Parameters
    ----------
    source : str
        A data set's name; a .npy file, or a .npz file with an array `X`; a .csv, .tsv or .jsonl
        file, of which `column` names the texts.
    column : str, optional
        May be left out if the table has one column.
    """
    path = Path(source)
    kind = path.suffix.lower()
    if not path.exists() and not kind:
        return load_dataset(source).X
    if not path.is_file():
        names = ", ".join(datasets)
        raise InputError(
            f"there is no file {source}: give a .npy, .npz, .csv, .tsv or .jsonl file, or a data "
            f"set's name ({names})"
        )
    if kind in (".npy", ".npz"):
        return _array(path)
    if kind in DELIMITERS or kind == ".jsonl":
        return _texts(path, column)
    raise InputError(f"{source} is of no known kind: expected .npy, .npz, .csv, .tsv or .jsonl")


def _array(path: Path) -> npt.NDArray[Any]:
    (array,) = read_arrays(path, *(["X"] if path.suffix.lower() == ".npz" else []))
    if array.ndim < 2:
        raise DataError(f"{path} has shape {array.shape}: expected a row per item")
    return array


def _texts(path: Path, column: str | None) -> list[str]:
    texts = []
    try:
        for number, row in enumerate(_rows(path), start=1):
            name = column
            if name is None:
                if len(row) != 1:
                    raise InputError(
                        f"{path} has the columns {', '.join(row)}: say which holds the texts, "
                        "--column NAME"
                    )
                name = next(iter(row))
            if name not in row:
                raise InputError(f"{path} has no column {name!r}: there are {', '.join(row)}")
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
