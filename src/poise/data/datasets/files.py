"""Points and clusters from .npz files: a folder of one's own first, then the cache."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from poise.data.folders import cache, own_files
from poise.errors import DataError

#: Points, a row each, and their clusters.
Pair = tuple[npt.NDArray[Any], npt.NDArray[np.int64]]


def stored(name: str) -> Pair | None:
    """`X` and `y` of NAME.npz in the folder that POISE_DATA names, or in the cache; else None."""
    for folder in (own_files(), cache()):
        if folder is not None and (folder / f"{name}.npz").is_file():
            return read(folder / f"{name}.npz")
    return None


def steps(report: Callable[[int, int], None] | None) -> Callable[[int, int, str], None] | None:
    """What an embedding calls with (done, total, note), from what wants (done, total)."""
    return None if report is None else lambda done, total, note: report(done, total)


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

    What is mapped is read where it is used, and the system may drop it from memory again.
    """
    try:
        if not names:
            return [np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))]
        with path.open("rb") as handle:
            loaded = np.load(handle, allow_pickle=False)
            with loaded:
                return [loaded[name] for name in names]
    except (OSError, ValueError, KeyError, EOFError, AttributeError, BadZipFile) as error:
        wanted = f"arrays {' and '.join(names)}" if names else "an array of numbers"
        raise DataError(
            f"{path} cannot be read ({type(error).__name__}): it should hold {wanted}; "
            "delete it, or replace it"
        ) from None
