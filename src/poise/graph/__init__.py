"""Similarity graphs: neighbour search, kernels, components, Laplacians, diagnostics."""

from poise.graph.build import knn_graph
from poise.graph.construction import Construction
from poise.graph.graph import Graph
from poise.graph.kernels import kernels
from poise.graph.neighbours import Neighbours

__all__ = ["Construction", "Graph", "Neighbours", "kernels", "knn_graph"]
