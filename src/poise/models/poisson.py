"""Poisson learning: labels as sources and sinks."""

import numpy as np

from poise.graph import Graph
from poise.linalg import solve
from poise.models.components import laplacian, reached
from poise.models.labels import Labels
from poise.models.registry import check_labels, models
from poise.models.result import ScoreResult


@models.register("poisson")
def poisson(graph: Graph, labels: Labels, *, rtol: float | None = None) -> ScoreResult:
    """Poisson learning: labels as sources and sinks of a Poisson equation; scores have signs.

    ``L u = sum_j (y_j - ybar) delta_j`` with ``sum_i d_i u_i = 0``. On a graph of several
    components the mean is taken over each component's own labels; where those are all of one class
    the equation is void and the scores are that class's indicator.

    `rtol` is the relative residual of the solve, that of `poise.linalg.solve` by default.

    References
    ----------
    J. Calder, B. Cook, M. Thorpe, D. Slepcev, Poisson learning, ICML 2020.
    """
    check_labels(labels)
    n, n_classes = graph.n_nodes, len(labels.classes)
    component = graph.components[labels.nodes]
    counts = np.bincount(component, minlength=graph.n_components)
    means = np.zeros((graph.n_components, n_classes))
    np.add.at(means, component, labels.one_hot)
    means /= np.maximum(counts, 1)[:, None]
    rhs = np.zeros((n, n_classes))
    rhs[labels.nodes] = labels.one_hot - means[component]
    scores = solve(laplacian(graph), rhs, singular=True, rtol=rtol).require().value
    # The constants of the nullspace are fixed by the degree-weighted mean, per component.
    volume = np.bincount(graph.components, weights=graph.degrees)
    for c in range(n_classes):
        weighted = np.bincount(graph.components, weights=graph.degrees * scores[:, c])
        scores[:, c] -= (weighted / np.where(volume > 0, volume, 1.0))[graph.components]
    of_one_class = means.max(axis=1, initial=0.0) == 1.0
    scores[of_one_class[graph.components]] = means[graph.components][of_one_class[graph.components]]
    return ScoreResult(
        scores, labels.classes, reached(graph, labels.nodes), labels.counts / len(labels)
    )
