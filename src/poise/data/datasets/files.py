"""Points and clusters from .npz files, in the user's own folder or in the cache."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from poise.data.array_files import read_arrays
from poise.data.folders import cache, own_files
from poise.errors import DataError

#: Points, a row each, and their clusters.
Pair = tuple[npt.NDArray[Any], npt.NDArray[np.int64]]


def stored(name: str) -> Pair | None:
    """`X` and `y` of NAME.npz in the folder named by POISE_DATA, or in the cache; else None."""
    for folder in (own_files(), cache()):
        if folder is not None and (folder / f"{name}.npz").is_file():
            return read(folder / f"{name}.npz")
    return None


def read(path: Path) -> Pair:
    """`X`, images flattened to rows, and `y` of an .npz file; half precision becomes single."""
    X, y = read_images(path)
    return X.reshape(len(X), -1), y


def read_images(path: Path) -> Pair:
    """The same as `read`, with `X` in its own shape."""
    X, y = read_arrays(path, "X", "y")
    if X.ndim < 2 or y.shape != (len(X),):
        raise DataError(
            f"{path} holds X of shape {X.shape} and y of shape {y.shape}: expected one "
            "row of X per entry of y"
        )
    if X.dtype == np.float16:  # saves room in files, but nothing computes in it
        X = X.astype(np.float32)
    return X, _numbered(y, path)


def _numbered(y: npt.NDArray[Any], path: Path) -> npt.NDArray[np.int64]:
    """Classes as whole numbers; texts are numbered in alphabetical order."""
    if y.dtype.kind == "U":
        return np.unique(y, return_inverse=True)[1].astype(np.int64)
    whole = y.dtype.kind == "f" and np.isfinite(y).all() and (y == np.round(y)).all()
    if whole or y.dtype.kind in "iub":
        return y.astype(np.int64)
    raise DataError(
        f"y in {path} is an array of {y.dtype}: expected a class for every row of X, as whole "
        "numbers or texts"
    )
