"""Laplace learning: the harmonic extension of the labels."""

import numpy as np

from poise.checks import decay
from poise.graph import Graph
from poise.models.components import reached
from poise.models.harmonic import spread
from poise.models.labels import Labels
from poise.models.registry import check_labels, models
from poise.models.result import ScoreResult


@models.register("laplace")
def laplace(
    graph: Graph, labels: Labels, *, tau: float = 0.0, rtol: float | None = None
) -> ScoreResult:
    """Laplace learning: labels extended harmonically, degenerate at low label rates.

    Minimises ``sum_ij w_ij |u_i - u_j|^2`` with u = e_y on the labels (paper, eq. lap-learning),
    so ``(L + tau I)_UU u_U = W_US Y``. `rtol` is the relative residual of the solve, that of
    `poise.linalg.solve` by default.

    References
    ----------
    X. Zhu, Z. Ghahramani, J. Lafferty, Semi-supervised learning using Gaussian fields and
    harmonic functions, ICML 2003.
    """
    check_labels(labels)
    decay(tau)
    groups = labels.by_class
    (scores,) = spread(graph, np.ones((graph.n_nodes, 1)), [tau], [groups], rtol=rtol)
    return ScoreResult(
        scores, labels.classes, reached(graph, labels.nodes), labels.counts / len(labels)
    )
