"""The epsilon graph: every pair of points within a radius."""

from typing import Any

import numpy as np
from scipy import sparse

from poise.errors import GraphError, InputError
from poise.graph.construction import Construction
from poise.graph.features import check_features, is_sparse
from poise.graph.graph import Graph
from poise.graph.kernel import KernelLike, as_kernel, label
from poise.graph.metrics import check_metric, search_space
from poise.graph.neighbours import Spacing
from poise.graph.radius import neighbours_within, sampled_density
from poise.graph.weights import symmetrised

MAX_MEAN_NEIGHBOURS = 2_000
"""Mean number of neighbours per point above which the graph is refused: 24 kB per point."""


def epsilon_graph(
    X: Any,
    radius: float,
    *,
    metric: str = "euclidean",
    kernel: KernelLike = "gaussian",
    keep_features: bool = True,
) -> Graph:
    """Join every pair of points at distance at most `radius`.

    The weights are those of `knn_graph` with the radius in place of d_k, by default
    ``exp(-4 |x - y|^2 / radius^2)``. Meant for few dimensions: where distances concentrate, a
    radius gives either hardly any neighbours or nearly all.

    Parameters
    ----------
    X : array-like or sparse, shape (n, d)
        One row per point; finite. float32 stays float32.
    radius : float
        Positive, in the units of the metric.
    metric, kernel, keep_features
        As in `knn_graph`.

    Returns
    -------
    Graph
        Points with no other point within the radius are isolated nodes; `Graph.report` counts them.

    Raises
    ------
    GraphError
        If no pair lies within the radius, or more than `MAX_MEAN_NEIGHBOURS` neighbours per point
        do; the message suggests a radius.

    Examples
    --------
    >>> import poise
    >>> poise.epsilon_graph([[0.0], [1.0], [2.0], [9.0]], radius=1.5).weights.nnz
    4
    """
    features = check_features(X)
    metric = check_metric(metric, is_sparse(features))
    number = isinstance(radius, int | float | np.integer | np.floating)
    if not number or isinstance(radius, bool) or not 0 < radius < np.inf:
        raise InputError(f"radius is {radius!r}: expected a positive, finite number")
    radius = float(radius)
    function = as_kernel(kernel)
    points, space = search_space(features, metric)
    mean, advice = sampled_density(points, radius, space)
    if mean > MAX_MEAN_NEIGHBOURS:
        raise GraphError(
            f"radius {radius:g} gives about {mean:,.0f} neighbours per point, more than "
            f"{MAX_MEAN_NEIGHBOURS:,}: {advice}"
        )
    indptr, indices, distances = neighbours_within(points, radius, space)
    if indices.size == 0:
        raise GraphError(f"radius {radius:g} joins no two points, the graph is empty: {advice}")
    scale = np.array([radius])
    n = points.shape[0]
    weights = sparse.csr_array((function(distances, scale, scale), indices, indptr), shape=(n, n))
    nearest = np.full(n, np.inf)
    joined = np.diff(indptr) > 0
    nearest[joined] = np.minimum.reduceat(distances, indptr[:-1][joined])
    return Graph(
        symmetrised(weights, "max"),  # equal already, but for pairs at the radius itself
        features if keep_features else None,
        None,
        Construction(metric, label(function), "max", "radius", radius=radius, function=function),
        Spacing(nearest, np.full(n, radius)),
    )
