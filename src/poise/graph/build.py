"""From features to a graph."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from scipy import sparse

from poise.errors import FeatureError, InputError
from poise.graph.construction import Construction
from poise.graph.features import check_features
from poise.graph.graph import Graph
from poise.graph.kernels import Kernel, Symmetrise, as_kernel, label
from poise.graph.neighbours import Neighbours, search
from poise.graph.weights import symmetrised


def knn_graph(
    X: Any,
    k: int = 20,
    *,
    metric: str = "euclidean",
    kernel: str | Kernel | Callable[[Any], Any] = "gaussian",
    symmetrise: Literal["auto", "mean", "max", "min"] = "auto",
    backend: str = "auto",
    keep_features: bool = True,
    keep_neighbours: bool = False,
    seed: int = 0,
) -> Graph:
    """Join every point to its `k` nearest neighbours."""
    features = check_features(X)
    n = features.shape[0]
    if isinstance(k, bool) or not isinstance(k, int | np.integer):
        raise InputError(f"k is {k!r}: expected a whole number of neighbours, e.g. k=20")
    if k < 1:
        raise InputError(f"k is {k}: expected at least 1 neighbour, e.g. k=20")
    if k >= n:
        raise FeatureError(f"k is {k} and there are {n} points: the largest k allowed is {n - 1}")
    function = as_kernel(kernel)
    how: Symmetrise = function.symmetrise if symmetrise == "auto" else symmetrise
    neighbours = search(features, int(k), metric)
    weights = symmetrised(knn_weights(neighbours, function), how)
    return Graph(
        weights,
        features if keep_features else None,
        neighbours if keep_neighbours else None,
        Construction(metric, label(function), how, "exact", k=int(k), function=function),
    )


def knn_weights(neighbours: Neighbours, kernel: Kernel) -> sparse.csr_array:
    """The directed weights: row i holds the weights of the neighbours that i lists."""
    n, k = neighbours.indices.shape
    scale = neighbours.distances[:, -1]
    weights = kernel(neighbours.distances, scale[:, None], scale[neighbours.indices])
    indptr = np.arange(0, n * k + 1, k)
    return sparse.csr_array((weights.ravel(), neighbours.indices.ravel(), indptr), shape=(n, n))
