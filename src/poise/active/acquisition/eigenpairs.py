"""Eigenpairs that tell the components of a graph apart."""

from poise.arrays import Floats
from poise.graph import Graph
from poise.linalg.spectrum import SpectrumKind, smallest_eigenpairs
from poise.models.components import laplacian

#: Eigenpairs at most that are added for further components.
MAX_EXTRA_EIGENPAIRS = 100


def component_eigenpairs(graph: Graph, m: int, kind: SpectrumKind) -> tuple[Floats, Floats]:
    """The m smallest eigenpairs, and one more for each component after the first, up to a limit."""
    wanted = min(graph.n_nodes, m + min(graph.n_components - 1, MAX_EXTRA_EIGENPAIRS))
    return smallest_eigenpairs(laplacian(graph), wanted, kind)
