"""All neighbours within a radius."""

from typing import Any

import numpy as np

from poise.graph.features import Features, is_sparse
from poise.graph.metrics import FloatArray, IntArray, pair_distances, scikit_learn_form
from poise.graph.search import KD_TREE_MAX_DIMENSIONS

DENSITY_SAMPLE_POINTS = 200
"""Number of points whose distances to all others show whether a radius is sensible."""

BLOCK_POINTS = 1_024
"""Number of points whose neighbours are looked up at a time."""


def neighbours_within(
    points: Features, radius: float, metric: str, queries: Features | None = None
) -> tuple[IntArray, IntArray, FloatArray]:
    """Neighbours of each point (or query) within the radius, as the three arrays of a CSR matrix.

    Returns
    -------
    indptr : ndarray, shape (m + 1,)
    indices : ndarray, shape (total,)
        Ascending in each row; without the point itself if `queries` is None.
    distances : ndarray of float64, shape (total,)
    """
    from sklearn.neighbors import NearestNeighbors

    few = points.shape[1] <= KD_TREE_MAX_DIMENSIONS and not is_sparse(points)
    tree = few and metric in ("euclidean", "manhattan")
    form = scikit_learn_form(points, metric)
    model = NearestNeighbors(metric=metric, algorithm="kd_tree" if tree else "brute")
    model.fit(form(points))
    asked = points if queries is None else queries
    counts, indices, distances = [np.zeros(1, np.int64)], [], []
    for start in range(0, asked.shape[0], BLOCK_POINTS):
        block = asked[start : start + BLOCK_POINTS]
        # a little more, then cut by exact distances: the search itself may round
        far, near = model.radius_neighbors(form(block), radius=radius * (1 + 1e-6))
        rows = np.repeat(np.arange(block.shape[0]), [len(row) for row in near])
        columns = np.concatenate(near).astype(np.int64)
        exact = _exact(block, rows, points, columns, metric, np.concatenate(far))
        kept = exact <= radius
        if queries is None:
            kept &= columns != rows + start
        order = np.lexsort((columns[kept], rows[kept]))
        counts.append(np.bincount(rows[kept], minlength=block.shape[0]))
        indices.append(columns[kept][order])
        distances.append(exact[kept][order])
    return np.cumsum(np.concatenate(counts)), np.concatenate(indices), np.concatenate(distances)


def _exact(
    queries: Features,
    rows: IntArray,
    points: Features,
    columns: IntArray,
    metric: str,
    approximate: Any,
) -> FloatArray:
    """Distance of each pair (row, column), in chunks: a block may hold millions of pairs."""
    exact = np.array(approximate, dtype=np.float64)
    if metric in ("euclidean", "manhattan"):
        for start in range(0, rows.size, BLOCK_POINTS):
            pairs = slice(start, start + BLOCK_POINTS)
            corrected = pair_distances(queries[rows[pairs]], points, columns[pairs, None], metric)
            exact[pairs] = corrected[:, 0]
    return exact


def sampled_density(points: Features, radius: float, metric: str) -> tuple[float, str]:
    """Mean number of neighbours per point, estimated before memory is used, and a radius to try."""
    from sklearn.metrics import pairwise_distances

    n = points.shape[0]
    chosen = np.random.default_rng(0).permutation(n)[:DENSITY_SAMPLE_POINTS]
    wanted = min(20, n - 1)
    form = scikit_learn_form(points, metric)
    others = form(points)
    counts, usual = [], []
    step = max(1, 2**22 // n)
    for start in range(0, chosen.size, step):
        rows = form(points[chosen[start : start + step]])
        distances = pairwise_distances(rows, others, metric=metric)
        counts.append((distances <= radius).sum(axis=1) - 1)
        usual.append(np.partition(distances, wanted, axis=1)[:, wanted])
    suggested = float(np.median(np.concatenate(usual)))
    advice = f"try radius={suggested:.3g} (about {wanted} neighbours per point), or knn_graph"
    return float(np.concatenate(counts).mean()), advice
