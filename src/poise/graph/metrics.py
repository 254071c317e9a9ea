"""Distances: the known metrics, and exact distances of given pairs."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from poise.errors import UnknownNameError
from poise.graph.features import Features, is_sparse

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]

BLOCK_NUMBERS = 2**17
"""Numbers held at a time while distances are computed: small enough for the processor cache."""

BLOCK_ROWS = 4096
"""Rows converted at a time."""

NOT_A_METRIC = {"precomputed", "haversine", "mahalanobis", "seuclidean", "nan_euclidean"}
"""scikit-learn's metrics that need more than X, or that are for missing values."""


def check_metric(metric: str, sparse_features: bool) -> str:
    """`metric` under its usual name, if neighbours can be searched with it.

    "cosine" (also called "angular") is the distance ``|x/|x| - y/|y||`` between directions, which
    is ``sqrt(2 - 2 cos)``; a row of zeros is left as it is. Every other name has the meaning that
    it has for scikit-learn's `NearestNeighbors`.
    """
    from sklearn.neighbors import VALID_METRICS, VALID_METRICS_SPARSE

    table = VALID_METRICS_SPARSE if sparse_features else VALID_METRICS
    known = ({m for m in table["brute"] if isinstance(m, str)} | {"angular"}) - NOT_A_METRIC
    if metric not in known:
        kind = "metric for sparse features" if sparse_features else "metric"
        raise UnknownNameError(
            f"no {kind} is called {metric!r}: there are {', '.join(sorted(known))}"
        )
    return {
        "angular": "cosine",
        "l2": "euclidean",
        "l1": "manhattan",
        "cityblock": "manhattan",
    }.get(metric, metric)


def search_space(X: Features, metric: str) -> tuple[Features, str]:
    """Points and the metric to search them with: directions become points on the unit sphere."""
    if metric != "cosine":
        return X, metric
    if isinstance(X, sparse.csr_array):
        squares = X.astype(np.float64).power(2)
        lengths = np.sqrt(np.asarray(squares.sum(axis=1))).ravel()
        rows = np.repeat(np.where(lengths > 0, lengths, 1.0), np.diff(X.indptr))
        unit = (X.data / rows).astype(X.dtype)
        return sparse.csr_array((unit, X.indices, X.indptr), shape=X.shape), "euclidean"
    unit = np.empty(X.shape, dtype=X.dtype)
    for start in range(0, X.shape[0], BLOCK_ROWS):  # float64 only in blocks
        block = X[start : start + BLOCK_ROWS]
        lengths = np.sqrt(np.einsum("nd,nd->n", block, block, dtype=np.float64))[:, None]
        unit[start : start + BLOCK_ROWS] = block / np.where(lengths > 0, lengths, 1.0)
    return unit, "euclidean"


def scikit_learn_form(points: Features, metric: str) -> Callable[[Any], Any]:
    """The conversion of rows before scikit-learn compares them with `points`."""
    from sklearn.metrics.pairwise import PAIRWISE_BOOLEAN_FUNCTIONS

    if metric in PAIRWISE_BOOLEAN_FUNCTIONS:
        return lambda rows: rows != 0
    if metric == "euclidean" and not is_sparse(points):
        # scikit-learn expands |x - y|^2, which is only as exact as |x| is small
        centre = np.asarray(points).mean(axis=0, dtype=np.float64)
        return lambda rows: rows - centre
    return lambda rows: rows


def pair_distances(
    queries: Features, points: Features, indices: IntArray, metric: str
) -> FloatArray:
    """Distance from query i to point ``indices[i, j]``, by differences in float64.

    A product of matrices is faster but loses close pairs to cancellation; these distances are
    exact to rounding, zero for equal rows and only for them, and the same in both directions.

    Parameters
    ----------
    queries : shape (m, d)
    points : shape (n, d)
    indices : ndarray of int, shape (m, c)
        -1 stands for no point, at infinite distance.
    metric : {"euclidean", "manhattan"}

    Returns
    -------
    ndarray of float64, shape (m, c)
    """
    m, c = indices.shape
    result = np.empty((m, c))
    entries = points.size / points.shape[0]  # of a sparse matrix: those stored
    step = max(1, int(BLOCK_NUMBERS / max(1.0, c * entries)))
    one_block = _sparse_block if is_sparse(points) else _dense_block
    for start in range(0, m, step):
        rows = slice(start, min(start + step, m))
        result[rows] = one_block(queries[rows], points, indices[rows], metric)
    result[indices < 0] = np.inf
    return result


def _dense_block(queries: Any, points: Any, indices: IntArray, metric: str) -> FloatArray:
    difference = np.subtract(points[indices], queries[:, None], dtype=np.float64)
    if metric == "manhattan":
        return np.asarray(np.abs(difference, out=difference).sum(axis=2))
    return np.asarray(np.sqrt(np.einsum("mcd,mcd->mc", difference, difference)))


def _sparse_block(queries: Any, points: Any, indices: IntArray, metric: str) -> FloatArray:
    repeated = np.repeat(np.arange(indices.shape[0]), indices.shape[1])
    difference = (points[indices.ravel()] - queries[repeated]).astype(np.float64)
    if metric == "manhattan":
        values = np.asarray(abs(difference).sum(axis=1))
    else:
        values = np.sqrt(np.asarray(difference.multiply(difference).sum(axis=1)))
    return values.reshape(indices.shape)
