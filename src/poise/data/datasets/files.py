"""Points and clusters from .npz files: a folder of one's own first, then the cache."""

import math
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import numpy.typing as npt
from numpy.lib.format import read_array_header_1_0, read_array_header_2_0, read_magic

from poise.data.folders import cache, own_files
from poise.errors import DataError
from poise.machine import available_memory

#: Points, a row each, and their clusters.
Pair = tuple[npt.NDArray[Any], npt.NDArray[np.int64]]
#: Of the memory that is free, the share that an unpacked file may take: work on it needs as much.
SHARE_OF_MEMORY = 0.5


def stored(name: str) -> Pair | None:
    """`X` and `y` of NAME.npz in the folder that POISE_DATA names, or in the cache; else None."""
    for folder in (own_files(), cache()):
        if folder is not None and (folder / f"{name}.npz").is_file():
            return read(folder / f"{name}.npz")
    return None


def read(path: Path) -> Pair:
    """`X`, images flattened to rows, and `y` of an .npz file; half precision becomes single."""
    X, y = read_arrays(path, "X", "y")
    if X.ndim < 2 or y.shape != (len(X),):
        raise DataError(
            f"{path} holds X of shape {X.shape} and y of shape {y.shape}: expected one "
            "row of X per entry of y"
        )
    if X.dtype == np.float16:  # saves room in files; nothing computes in it
        X = X.astype(np.float32)
    return X.reshape(len(X), -1), np.asarray(y, dtype=np.int64)


def read_arrays(path: Path, *names: str) -> list[npt.NDArray[Any]]:
    """The named arrays of an .npz file; without names the one of an .npy file, mapped read-only.

    What is mapped is read where it is used, and the system may drop it from memory again. Arrays
    of an .npz file are unpacked, so those that memory has no room for are refused before that.
    """
    try:
        if not names:
            return [np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))]
        with path.open("rb") as handle:
            with ZipFile(handle) as archive:
                _check_room(path, sum(_unpacked(archive, name) for name in names))
            handle.seek(0)
            loaded = np.load(handle, allow_pickle=False)
            with loaded:
                return [loaded[name] for name in names]
    except Exception as error:  # whatever numpy makes of a damaged header, the remedy is the same
        if isinstance(error, DataError):
            raise
        wanted = f"arrays {' and '.join(names)}" if names else "an array of numbers"
        raise DataError(
            f"{path} cannot be read ({type(error).__name__}): it should hold {wanted}; "
            "delete it, or replace it"
        ) from None


def _unpacked(archive: ZipFile, name: str) -> int:
    """Bytes of an array of an .npz file, by its header; it must not promise more than it holds."""
    member = archive.getinfo(f"{name}.npy")
    with archive.open(member) as file:
        read = {(1, 0): read_array_header_1_0, (2, 0): read_array_header_2_0}[read_magic(file)]
        shape, _, dtype = read(file)
    size = math.prod(shape) * dtype.itemsize
    if size > member.file_size:
        raise ValueError("the header promises more than there is")
    return size


def _check_room(path: Path, size: int) -> None:
    free = available_memory()
    if free is not None and size > SHARE_OF_MEMORY * free:
        raise DataError(
            f"{path} unpacks to {size / 1e9:,.1f} GB, and {free / 1e9:,.1f} GB of memory are free: "
            "save the array as .npy, which is not read into memory"
        )
