"""Similarity graphs: neighbour search, kernels, components, Laplacians, diagnostics."""

from poise.graph.backend import Backend, backends
from poise.graph.construction import Construction
from poise.graph.epsilon import epsilon_graph
from poise.graph.graph import Graph
from poise.graph.kernel import Kernel, kernels
from poise.graph.knn import knn_graph
from poise.graph.neighbours import Neighbours, Spacing
from poise.graph.report import GraphReport

__all__ = [
    "Backend",
    "Construction",
    "Graph",
    "GraphReport",
    "Kernel",
    "Neighbours",
    "Spacing",
    "backends",
    "epsilon_graph",
    "kernels",
    "knn_graph",
]
