"""Properly weighted graph Laplacian."""

from functools import partial
from operator import lt

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from poise.checks import decay, real_number
from poise.errors import GraphError
from poise.graph import Graph
from poise.models.components import reached
from poise.models.harmonic import spread
from poise.models.labels import Labels
from poise.models.registry import check_labels, models
from poise.models.result import ScoreResult


@models.register("properly-weighted")
def properly_weighted(
    graph: Graph,
    labels: Labels,
    *,
    alpha: float = 2.0,
    zeta: float = 1e7,
    radius: float = 0.1,
    tau: float = 0.0,
    rtol: float | None = None,
) -> ScoreResult:
    """Properly weighted Laplacian: edges weighted by a power of the distance to the labels.

    Weights ``(gamma_i + gamma_j) w_ij`` with ``gamma = 1 + (radius / max(dist, r_zeta))^alpha``,
    ``r_zeta = radius / (zeta - 1)^(1/alpha)`` and dist the Euclidean distance of the features to
    the nearest label. These weights are not a product, so the Laplacian is prepared anew for every
    set of labels. `rtol` is the relative residual of the solve, that of `poise.linalg.solve` by
    default.

    References
    ----------
    J. Calder, D. Slepcev, Properly-weighted graph Laplacian for semi-supervised learning,
    Appl. Math. Optim. 2019.
    """
    check_labels(labels)
    decay(tau)
    for name, value, least in (("alpha", alpha, 0.0), ("zeta", zeta, 1.0), ("radius", radius, 0.0)):
        greater = partial(lt, least)
        real_number(value, name, greater, f"it must be a number greater than {least:g}")
    if graph.features is None:
        raise GraphError(
            "the properly weighted Laplacian needs the features: build the graph with "
            "knn_graph(X, ...) or Graph.from_weights(W, features=X)"
        )
    X = graph.features
    search = NearestNeighbors(n_neighbors=1).fit(X[labels.nodes])
    nearest = labels.nodes[search.kneighbors(X, return_distance=False)[:, 0]]
    # The search's own distances suffer from cancellation, and gamma is steepest where they are 0.
    difference = (X - X[nearest]).astype(np.float64)
    distance = np.sqrt(np.asarray((difference * difference).sum(axis=1))).ravel()
    closest = radius / (zeta - 1) ** (1 / alpha)
    gamma = 1 + (radius / np.maximum(distance, closest)) ** alpha
    W = graph.weights.tocoo()
    data = W.data * (gamma[W.row] + gamma[W.col])
    reweighted = Graph.from_weights(sparse.csr_array((data, (W.row, W.col)), shape=W.shape))
    groups = labels.by_class
    (scores,) = spread(reweighted, np.ones((graph.n_nodes, 1)), [tau], [groups], rtol=rtol)
    return ScoreResult(
        scores, labels.classes, reached(graph, labels.nodes), labels.counts / len(labels), gamma
    )
