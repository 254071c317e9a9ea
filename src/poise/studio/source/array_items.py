"""Items from the rows of an array: numbers, or images."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from poise.data.embeddings.items import are_images
from poise.data.ids import distinct_ids, row_ids
from poise.data.text import clean
from poise.errors import DataError, InputError
from poise.progress import Progress
from poise.studio.source.catalogue import Catalogue
from poise.studio.source.names import none_usable

#: Shortest side of an image that a row of numbers may be.
LEAST_IMAGE_SIDE = 8
#: Rows that tell whether all of them are images.
CHECKED_ROWS = 200
#: Rows that are checked at a time: a mask of everything would be large.
BATCH_ROWS = 65_536


def array_catalogue(name: str, source: str, X: npt.NDArray[Any], progress: Progress) -> Catalogue:
    """The rows of an array; those that are not finite are left out."""
    if X.dtype.kind not in "buif":
        raise InputError(f"{source} holds {X.dtype}: expected numbers, a row per item")
    if not X.size:
        raise DataError(f"{source} has shape {X.shape}: expected a row of numbers per item")
    X = np.ascontiguousarray(X)
    sources: tuple[str, ...] = ()
    rows, total = tuple(range(len(X))), len(X)
    refused: list[tuple[str, str]] = []
    bad = _not_finite(X)
    if bad.size:
        refused = [(f"row {row + 1}", "it holds NaN or an infinite number") for row in bad.tolist()]
        good = np.delete(np.arange(len(X)), bad)
        if not good.size:
            raise none_usable(f"the rows of {source}", refused)
        X = X[good]
        rows = tuple(good.tolist())
        sources = tuple(f"row {row + 1}" for row in rows)
    return Catalogue(
        name,
        "image" if _are_images(X) else "vector",
        distinct_ids(row_ids(X, progress)),
        X,
        {},
        sources,
        tuple(refused),
        source=clean(source),
        rows=rows,
        total=total,
    )


def _are_images(X: npt.NDArray[Any]) -> bool:
    """Whether rows are images, or look like it: a square of numbers, none of them negative."""
    if are_images(X):
        return True
    side = math.isqrt(X.shape[1])
    is_square = X.ndim == 2 and side >= LEAST_IMAGE_SIDE and side * side == X.shape[1]
    return is_square and bool(X[:CHECKED_ROWS].min() >= 0)


def _not_finite(X: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Rows with NaN or infinity in them."""
    if X.dtype.kind != "f":
        return np.empty(0, dtype=np.int64)
    bad = []
    for start in range(0, len(X), BATCH_ROWS):
        part = X[start : start + BATCH_ROWS].reshape(min(BATCH_ROWS, len(X) - start), -1)
        bad.append(start + np.flatnonzero(~np.isfinite(part).all(axis=1)))
    return np.concatenate(bad).astype(np.int64)
