"""Weighted nonlocal Laplacian."""

import numpy as np

from poise.checks import decay
from poise.graph import Graph
from poise.linalg import solve
from poise.models.components import laplacian, reached
from poise.models.labels import Labels
from poise.models.registry import check_labels, models
from poise.models.result import ScoreResult


@models.register("wnll")
def wnll(
    graph: Graph, labels: Labels, *, tau: float = 0.0, rtol: float | None = None
) -> ScoreResult:
    """Weighted nonlocal Laplacian: edges at labelled nodes are strengthened by n/m.

    Weights ``(a_i + a_j) w_ij`` with ``a = n/m`` on the m labels and 1 elsewhere (the authors'
    form in GraphLearning). Halved, this is the graph's Laplacian plus a diagonal at the neighbours
    of labels: with ``mu = (1 + n/m)/2`` and ``t_i = sum over labels s of w_is``,

        (L + diag((mu - 1) t + tau/2))_UU u_U = mu W_US Y

    `rtol` is the relative residual of the solve, that of `poise.linalg.solve` by default.

    References
    ----------
    Z. Shi, S. Osher, W. Zhu, Weighted nonlocal Laplacian on interpolation from sparse data,
    J. Sci. Comput. 2017.
    """
    check_labels(labels)
    decay(tau)
    mu = (1 + graph.n_nodes / len(labels)) / 2
    indicator = np.zeros((graph.n_nodes, len(labels.classes)))
    indicator[labels.nodes] = labels.one_hot
    pull = graph.weights @ indicator
    q = (mu - 1) * pull.sum(axis=1) + tau / 2
    known = reached(graph, labels.nodes)
    free = known.copy()
    free[labels.nodes] = False
    q[~free] = 0.0
    scores = solve(laplacian(graph), mu * pull, diagonals=q, free=free, rtol=rtol).require().value
    scores = np.clip(scores, 0.0, 1.0) + indicator
    return ScoreResult(scores, labels.classes, known, labels.counts / len(labels))
