"""Short random walks on the graph: from a node to its neighbours, in proportion to the weights."""

import numpy as np

from poise.arrays import Floats
from poise.graph import Graph
from poise.models.components import laplacian
from poise.models.rows import COMPILED_MIN_ROWS


def walk_means(graph: Graph, values: Floats, steps: int) -> Floats:
    """(n,) means of `values` where walks of `steps` steps end: ``P^t values``, ``P = D^-1 W``.

    A node without neighbours stays where it is.
    """
    if graph.n_nodes >= COMPILED_MIN_ROWS:
        from poise.models.compiled_rows import means

        return means(laplacian(graph), values, steps)
    for _ in range(steps):
        ahead = graph.weights @ values
        values = np.divide(ahead, graph.degrees, out=values.copy(), where=graph.degrees > 0)
    return values


def walk_ends(graph: Graph, steps: int) -> Floats:
    """(n,) how many walks of `steps` steps end at a node, if one starts at each: ``(P^T)^t 1``."""
    ends = np.ones(graph.n_nodes)
    for _ in range(steps):
        leaving = np.divide(ends, graph.degrees, out=np.zeros_like(ends), where=graph.degrees > 0)
        ends = np.where(graph.degrees > 0, graph.weights @ leaving, ends)
    return ends
