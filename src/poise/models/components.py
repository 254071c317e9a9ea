"""Which components of a graph hold labels, and the prepared Laplacian of a graph."""

from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from poise.arrays import Bools
from poise.graph import Graph
from poise.linalg import PreparedLaplacian, prepare

_prepared: "WeakKeyDictionary[Graph, PreparedLaplacian]" = WeakKeyDictionary()


def laplacian(graph: Graph) -> PreparedLaplacian:
    """The prepared Laplacian of `graph`, made at the first call and kept as long as the graph."""
    if graph not in _prepared:
        _prepared[graph] = prepare(graph.weights, graph.components)
    return _prepared[graph]


def reached(graph: Graph, nodes: npt.NDArray[np.int64]) -> Bools:
    """(n,) mask of the nodes whose component holds one of `nodes`."""
    holds = np.zeros(graph.n_components, dtype=bool)
    holds[graph.components[nodes]] = True
    return holds[graph.components]
