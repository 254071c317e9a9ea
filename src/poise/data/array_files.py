"""Arrays in .npy and .npz files."""

import math
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import numpy.typing as npt
from numpy.lib.format import read_array_header_1_0, read_array_header_2_0, read_magic

from poise.errors import DataError
from poise.machine import available_memory

#: Largest share of the free memory that an unpacked file may take: work on it needs as much again.
MEMORY_SHARE = 0.5


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
    if free is not None and size > MEMORY_SHARE * free:
        raise DataError(
            f"{path} unpacks to {size / 1e9:,.1f} GB, and {free / 1e9:,.1f} GB of memory are free: "
            "save the array as .npy, which is not read into memory"
        )
