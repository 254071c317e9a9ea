"""Points and clusters from .npz files: a folder of one's own first, then the cache."""

from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from poise.data.folders import cache, own_files
from poise.errors import DataError


def stored(name: str) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]] | None:
    """`X` and `y` of NAME.npz in the folder that POISE_DATA names, or in the cache; else None."""
    for folder in (own_files(), cache()):
        if folder is not None and (folder / f"{name}.npz").is_file():
            return read(folder / f"{name}.npz")
    return None


def read(path: Path) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """`X`, images flattened to rows, and `y` of an .npz file."""
    try:
        with path.open("rb") as handle, np.load(handle, allow_pickle=False) as file:
            X, y = file["X"], file["y"]
    except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
        raise DataError(
            f"{path} cannot be read ({type(error).__name__}): it should hold arrays X and y; "
            "delete it, or replace it"
        ) from None
    if X.ndim < 2 or y.shape != (len(X),):
        raise DataError(
            f"{path} holds X of shape {X.shape} and y of shape {y.shape}: expected one "
            "row of X per entry of y"
        )
    return X.reshape(len(X), -1), np.asarray(y, dtype=np.int64)


def keep(name: str, X: npt.NDArray[Any], y: npt.NDArray[np.int64]) -> None:
    """Write NAME.npz to the cache, whole or not at all."""
    folder = cache()
    part = folder / f"{name}.npz.part"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            np.savez_compressed(file, X=X, y=y)
        part.replace(folder / f"{name}.npz")
    except OSError as error:
        part.unlink(missing_ok=True)
        raise DataError(
            f"cannot write {folder} ({error.strerror}): make room, or set POISE_CACHE to another "
            "folder"
        ) from None
