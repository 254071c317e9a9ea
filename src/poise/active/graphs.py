"""Checks of the graphs that a session begins or continues with."""

from typing import Any

from poise.errors import GraphError, WrongGraphError
from poise.graph import Graph


def check_graph(graph: Any) -> None:
    """Refuse anything but a Graph."""
    if not isinstance(graph, Graph):
        raise GraphError(
            f"graph is a {type(graph).__name__}: make a Graph with poise.knn_graph(X, k=20) "
            "or poise.Graph.from_weights(W)"
        )


def check_grown(old: Graph, new: Graph) -> None:
    """Refuse a graph whose first nodes are not those of `old`, as far as that can be seen."""
    if not isinstance(new, Graph):
        raise GraphError(
            f"graph is a {type(new).__name__}: give a Graph, e.g. learner.graph.extend(X_new)"
        )
    if new.n_nodes < old.n_nodes:
        raise WrongGraphError(
            f"the graph has {new.n_nodes} nodes and the one so far {old.n_nodes}: nodes are added, "
            "never removed; to remove nodes, make a new Learner with the labels"
        )
    if old.features is None or new.features is None or old.features is new.features:
        return
    first: Any = new.features[: old.n_nodes]
    if first.shape != old.features.shape or (first != old.features).sum():
        raise WrongGraphError(
            f"the graph's first {old.n_nodes} nodes have other features than those so far: new "
            "nodes come after the old ones, as in learner.graph.extend(X_new)"
        )
