"""Poisson reweighted Laplace learning, with decay: the model of the paper."""

from poise.checks import decay
from poise.graph import Graph
from poise.models.components import reached
from poise.models.harmonic import Problem, solve_problems
from poise.models.labels import Labels
from poise.models.poisson_weights import SHIFT
from poise.models.registry import check_labels, models
from poise.models.result import ScoreResult


@models.register("pwll")
def pwll(
    graph: Graph,
    labels: Labels,
    *,
    tau: float = 0.0,
    shift: float = SHIFT,
    rtol: float | None = None,
) -> ScoreResult:
    """PWLL-tau: Laplace learning reweighted by a Poisson equation, decaying away from the labels.

    Minimises ``sum_ij gamma_i gamma_j w_ij |u_i - u_j|^2 + tau sum_U |u_i|^2`` with u = e_y on the
    labels (paper, eq. rw-lap-learning-tau; tau as in the authors' code). ``tau = 0`` is PWLL.

    Parameters
    ----------
    tau : float >= 0
        Decay: large values explore, 0 predicts best.
    shift : float > 0
        Smallest value of gamma, the authors' 1e-5 by default.
    rtol : float, optional
        Relative residual of the solves; that of `poise.linalg.solve` by default.

    References
    ----------
    K. Miller, J. Calder, Poisson reweighted Laplacian uncertainty sampling for graph-based active
    learning, SIAM J. Math. Data Sci. 2023.
    """
    check_labels(labels)
    decay(tau)
    groups = tuple(tuple(nodes.tolist()) for nodes in labels.by_class)
    (columns,) = solve_problems(graph, [Problem(groups, tau, shift, rtol=rtol)])
    return ScoreResult(
        columns.values,
        labels.classes,
        reached(graph, labels.nodes),
        labels.counts / len(labels),
        columns.weights,
    )
