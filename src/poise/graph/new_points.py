"""Place new points in an existing graph: their weights to its nodes."""

from typing import Any

import numpy as np
from scipy import sparse

from poise.errors import FeatureError, GraphError
from poise.graph.construction import Construction
from poise.graph.features import Features, check_features, is_sparse
from poise.graph.metrics import FloatArray, IntArray, search_space
from poise.graph.neighbours import Spacing
from poise.graph.placement import Placement, closeness_to
from poise.graph.radius import neighbours_within
from poise.graph.search import nearest_nodes


def place_points(
    features: Features | None,
    construction: Construction | None,
    spacing: Spacing | None,
    X_new: Any,
) -> Placement:
    """Weights of the nodes near each new point, with rows that sum to 1, and how near they are.

    A new point x is joined to its k nearest nodes by the kernel of the graph, with its own d_k as
    the scale, or to the nodes within the radius of an epsilon graph (the nearest one if there are
    none). Rows whose weights are all 0 become plain averages. Under a kernel without bound, such as
    1 / d, a point equal to nodes takes the average of those nodes alone.

    Parameters
    ----------
    features, construction, spacing
        Of the graph; see `Graph`.
    X_new : array-like or sparse, shape (m, d)

    Without `spacing` it is unknown what is far, and every point counts as near.
    """
    if features is None:
        raise GraphError(
            "this graph holds no features, so new points cannot be placed in it: build it with "
            "knn_graph(X, keep_features=True)"
        )
    if construction is None:
        raise GraphError(
            "this graph was made from weights, so it does not know how to join new points: "
            "build it with knn_graph, or give Graph a construction"
        )
    kernel = construction.kernel_function()
    queries = check_new(X_new, features)
    if construction.radius is not None:
        parts = _within_radius(features, construction, queries)
    else:
        parts = _nearest(features, construction, queries)
    indptr, indices, distances, own = parts
    m, n = queries.shape[0], features.shape[0]
    rows = np.repeat(np.arange(m), np.diff(indptr))
    other = own[rows] if spacing is None else spacing.scale[indices]
    values = kernel(distances, own[rows], other)
    if kernel.interpolates:
        equal = distances == 0
        met = np.bincount(rows, weights=equal, minlength=m) > 0
        values = np.where(met[rows], equal, values)
    totals = np.bincount(rows, weights=values, minlength=m)
    values = np.where(totals[rows] > 0, values, 1.0)
    totals = np.bincount(rows, weights=values, minlength=m)
    result = sparse.csr_array((values / totals[rows], indices, indptr), shape=(m, n))
    result.eliminate_zeros()
    result.sort_indices()
    close = np.ones(m) if spacing is None else closeness_to(indptr, distances, other)
    return Placement(result, close)


def check_new(X_new: Any, features: Features, minimum: int = 1) -> Features:
    """`X_new` as features of the same kind as those of the graph."""
    queries = check_features(X_new, minimum=minimum)
    if queries.shape[1] != features.shape[1]:
        raise FeatureError(
            f"X has {queries.shape[1]} features, but the graph is expecting {features.shape[1]} "
            "features as input"
        )
    if is_sparse(queries) != is_sparse(features):
        kind = "sparse" if is_sparse(features) else "dense"
        raise FeatureError(
            f"the graph's features are {kind} and X is not: give both in the same form"
        )
    return queries


def _nearest(
    features: Features, construction: Construction, queries: Features
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """CSR arrays of the k nearest nodes, and the scale d_k of each new point."""
    k = min(construction.k or 1, features.shape[0])
    nearest = nearest_nodes(features, queries, k, metric=construction.metric)
    indptr = np.arange(0, nearest.indices.size + 1, k)
    indices = nearest.indices.ravel().astype(np.int64)
    return indptr, indices, nearest.distances.ravel(), nearest.distances[:, -1]


def _within_radius(
    features: Features, construction: Construction, queries: Features
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """CSR arrays of the nodes within the radius, or else the nearest one, and the radius."""
    radius = construction.radius or 0.0
    points, metric = search_space(features, construction.metric)
    others, _ = search_space(queries, construction.metric)
    indptr, indices, distances = neighbours_within(points, radius, metric, others)
    alone = np.flatnonzero(np.diff(indptr) == 0)
    if alone.size:
        nearest = nearest_nodes(features, queries[alone], 1, metric=construction.metric)
        indices = np.insert(indices, indptr[alone], nearest.indices[:, 0])
        distances = np.insert(distances, indptr[alone], nearest.distances[:, 0])
        counts = np.maximum(np.diff(indptr), 1)
        indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    return indptr, indices, distances, np.full(queries.shape[0], radius)
