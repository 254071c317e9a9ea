"""PWLL as a function of labelled nodes, for measurements that fit it many times."""

import numpy as np

from poise.active.accuracy import Fit
from poise.arrays import Floats, Ints
from poise.graph import Graph
from poise.models.harmonic import Problem, solve_problems

#: Relative residual of the fits; loose, because only predictions are compared.
RTOL = 1e-5


def pwll_fit(graph: Graph, n_classes: int) -> Fit:
    """``fit(nodes, codes) -> (n, n_classes)`` scores, 0 for a class without a label."""

    def fit(nodes: Ints, codes: Ints) -> Floats:
        present = np.unique(codes)
        sources = tuple(tuple(nodes[codes == c].tolist()) for c in present)
        (columns,) = solve_problems(graph, [Problem(sources)], rtol=RTOL)
        scores = np.zeros((graph.n_nodes, n_classes))
        scores[:, present] = columns.values
        return scores

    return fit
