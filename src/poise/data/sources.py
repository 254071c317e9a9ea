"""Items from where people keep them: arrays, tables, folders of images, data sets by name."""

from pathlib import Path
from typing import Any

import numpy.typing as npt

from poise.data.array_files import read_arrays
from poise.data.columns import addresses_refused, is_address
from poise.data.datasets import datasets, load_dataset
from poise.data.embeddings.items import Images, Items
from poise.data.image_files import find_images
from poise.data.image_kinds import picture_endings
from poise.data.item_tables import ItemTable
from poise.data.tables import TABLES
from poise.errors import DataError, InputError

KINDS = ".npy, .npz, .csv, .tsv, .jsonl or .parquet"


def read_items(
    source: str, column: str | None = None, size: int | None = None, colour: bool = False
) -> Items:
    """The items of a source.

    Parameters
    ----------
    source : str
        A data set's name; a .npy file, or a .npz file with an array `X`; a .csv, .tsv, .jsonl or
        .parquet file; a folder of images.
    column : str, optional
        Column of a table that holds the texts, or the paths of images relative to the table.
        Several columns of texts, with commas between them, are joined. May be left out if the
        table has one column, or one with a common name such as "text".
    size : int, optional
        Side of the square that images are resized to where equal sizes are needed; default: 64, or
        32 for principal components of grey images.
    colour : bool
        Whether images keep their colours.
    """
    path = Path(source)
    kind = path.suffix.lower()
    folder = path.is_dir()
    if column is not None and (folder or kind in (".npy", ".npz")):
        raise InputError(f"{source} is not a table, so it has no column {column!r}: leave it out")
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
        raise InputError(f"{source} is of an unknown kind: expected {KINDS}, or a folder of images")
    if (size is not None or colour) and not isinstance(items, Images):
        raise InputError(f"size and colour are for files of images, and {source} holds none")
    return items


def _images(folder: Path, size: int | None, colour: bool) -> Images:
    """Every image in the folder and the folders in it, in the order of their paths."""
    names, _ = find_images(folder, allow_outside=True)
    paths = tuple(path for path in (folder / name for name in names) if path.is_file())
    if not paths:
        raise no_images(folder)
    return Images(paths, size, colour)


def no_images(folder: Path) -> DataError:
    """The error for a folder without images."""
    endings = ", ".join(picture_endings())
    return DataError(f"{folder} holds no images: expected files that end in {endings}")


def _array(path: Path) -> npt.NDArray[Any]:
    (array,) = read_arrays(path, *(["X"] if path.suffix.lower() == ".npz" else []))
    if array.ndim < 2:
        raise DataError(f"{path} has shape {array.shape}: expected a row per item")
    return array


def _rows(path: Path, column: str | None, size: int | None, colour: bool) -> list[str] | Images:
    """The texts, or the image files, that the rows of a table hold: every row has one."""
    table = ItemTable(path, column)
    for number, value in enumerate(table.contents, start=1):
        if not isinstance(value, str):
            raise InputError(f"row {number} of {path} has no text in the column {table.column!r}")
    if not table.shows_images:
        return table.contents
    paths = []
    for number, value in enumerate(table.contents, start=1):
        if is_address(value):
            raise addresses_refused(path, table.column, value)
        paths.append(path.resolve().parent / value.strip())
        if not paths[-1].is_file():
            raise DataError(
                f"row {number} of {path} names {value.strip()!r}: there is no such file, relative "
                "to the table"
            )
    return Images(tuple(paths), size, colour)
