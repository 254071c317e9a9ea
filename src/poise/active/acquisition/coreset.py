"""k-centre greedy, and the distances that the geometric acquisitions share."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from poise.active.acquisition.registry import acquisitions
from poise.active.snapshot import Snapshot
from poise.graph import Graph
from poise.graph.features import Features
from poise.graph.metrics import pair_distances, scikit_learn_form, search_space
from poise.linalg.status import Floats, Ints

SHORTEST = 1e-150
"""Least length of an edge: SciPy takes a length of 0 for no edge, and 1 / length stays finite."""

NUMBERS = 2**21
"""Features gathered at a time while edges are measured."""


@dataclass(frozen=True, eq=False)
class Nearest:
    """How far each node is from the nearest of some nodes.

    Attributes
    ----------
    measure : node -> (n,) distances from it
    distances : (n,), infinite where no such node can be reached
    """

    measure: Callable[[int], Floats]
    distances: Floats

    @classmethod
    def to(cls, graph: Graph, nodes: Ints) -> "Nearest":
        nearest = cls(distance_measure(graph), np.full(graph.n_nodes, np.inf))
        for node in nodes:
            nearest = nearest.and_to(int(node))
        return nearest

    def and_to(self, node: int) -> "Nearest":
        return replace(self, distances=np.minimum(self.distances, self.measure(node)))


@acquisitions.register("coreset")
@dataclass(frozen=True)
class CoreSet:
    """Farthest from everything asked so far first: covers the data evenly, outliers included.

    k-centre greedy: ``min_{z constrained} d(x, z)``, with `d` the metric that the graph was built
    with on its features (Euclidean if that is not known). The largest distance left is at most
    twice the least that as many nodes, those given at the start among them, could leave. With
    nothing constrained, the node nearest to the mean of the features (of their directions, for
    "cosine") comes first.

    Without features, `d` is the length of the shortest path along the edges, whose lengths are the
    recorded distances or else ``1 / weight``. A component with nothing constrained counts as
    farther than everything else, the largest component first.

    scikit-activeml's `CoreSet` asks the same nodes, but for the first one, which it draws, and
    compares all points with all labelled ones at every call. Costs one distance per node and
    query, or one Dijkstra without features, and keeps n numbers.

    References
    ----------
    T. Gonzalez, "Clustering to minimize the maximum intercluster distance", 1985; O. Sener and
    S. Savarese, "Active learning for convolutional neural networks: a core-set approach", 2018.
    """

    uses_scores: ClassVar[bool] = False
    needs: ClassVar[str] = "features, or paths along the edges"
    cost: ClassVar[str] = "one distance per node"
    use: ClassVar[str] = "to cover clean data evenly"

    def start(self, graph: Graph, given: Ints, seed: int) -> Nearest:
        return Nearest.to(graph, given)

    def advance(self, memory: Nearest, node: int) -> Nearest:
        return memory.and_to(node)

    def __call__(self, snapshot: Snapshot) -> Floats:
        graph = snapshot.graph
        if snapshot.constrained.size == 0 and graph.features is not None:
            return -distances_to_mean(graph)
        return unreached_first(snapshot.memory.distances, graph)


def unreached_first(distances: Floats, graph: Graph) -> Floats:
    """`distances`, infinite ones replaced by finite ones beyond the rest, by component size."""
    finite = np.isfinite(distances)
    if finite.all():
        return distances
    farthest = max(float(distances.max(initial=0.0, where=finite)), SHORTEST)
    share = graph.component_sizes[graph.components] / graph.n_nodes
    return np.where(finite, distances, 2 * farthest * (1 + share))


def feature_space(graph: Graph) -> tuple[Features, str]:
    """The nodes as points, and the metric in which the graph compares them."""
    assert graph.features is not None
    metric = "euclidean" if graph.construction is None else graph.construction.metric
    return search_space(graph.features, metric)


def distance_measure(graph: Graph) -> Callable[[int], Floats]:
    """What gives the (n,) distances from a node: in the features, or along the edges."""
    if graph.features is None:
        lengths = edge_lengths(graph)
        return lambda node: path_lengths(lengths, node)
    points, metric = feature_space(graph)
    if metric in ("euclidean", "manhattan"):
        only = np.zeros((graph.n_nodes, 1), dtype=np.int64)
        return lambda node: pair_distances(points, points[[node]], only, metric)[:, 0]
    form: Any = scikit_learn_form(points, metric)(points)

    def measure(node: int) -> Floats:
        from sklearn.metrics import pairwise_distances

        found = pairwise_distances(form, form[[node]], metric=metric)[:, 0]
        return np.asarray(found, dtype=np.float64)

    return measure


def distances_to_mean(graph: Graph) -> Floats:
    """(n,) Euclidean distances to the mean of the points."""
    points, _ = feature_space(graph)
    if isinstance(points, sparse.csr_array):
        mean = np.asarray(points.mean(axis=0), dtype=np.float64).ravel()
        lengths = np.asarray(points.multiply(points).sum(axis=1), dtype=np.float64).ravel()
        squares = lengths - 2 * (points @ mean) + mean @ mean
        return np.asarray(np.sqrt(np.maximum(squares, 0.0)))
    middle = points.mean(axis=0, keepdims=True, dtype=np.float64)
    only = np.zeros((graph.n_nodes, 1), dtype=np.int64)
    return pair_distances(points, middle, only, "euclidean")[:, 0]


def path_lengths(lengths: sparse.csr_array, node: int) -> Floats:
    """(n,) lengths of the shortest paths from a node, infinite where there is none."""
    return np.asarray(dijkstra(lengths, indices=[node])[0])


def edge_lengths(graph: Graph) -> sparse.csr_array:
    """The edges with their distances, or with ``1 / weight`` where distances are not known."""
    known = edge_distances(graph)
    if known is not None:
        return known
    weights = graph.weights
    lengths = 1 / np.clip(weights.data, SHORTEST, 1 / SHORTEST)
    return sparse.csr_array((lengths, weights.indices, weights.indptr), shape=weights.shape)


def edge_distances(graph: Graph) -> sparse.csr_array | None:
    """The edges with the distances between their ends; None if nothing tells them.

    From the recorded neighbours, or measured again in the features, Euclidean, Manhattan or
    between directions.
    """
    weights = graph.weights
    lists = graph.neighbours
    if lists is not None:
        n, k = lists.indices.shape
        lengths = np.maximum(lists.distances, SHORTEST).ravel()
        directed = sparse.csr_array(
            (lengths, lists.indices.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n)
        )
        edges = sparse.csr_array(directed.maximum(directed.T).multiply(weights.sign()))
        if edges.nnz == weights.nnz:  # every edge came from a list
            return edges
    if graph.features is None:
        return None
    points, metric = feature_space(graph)
    if metric not in ("euclidean", "manhattan"):
        return None
    rows = np.repeat(np.arange(graph.n_nodes), np.diff(weights.indptr))
    lengths = np.empty(weights.nnz)
    entries = points.size / graph.n_nodes  # of a sparse matrix: those stored
    step = max(1, int(NUMBERS / max(entries, 1.0)))
    for start in range(0, weights.nnz, step):
        some = slice(start, start + step)
        ends = weights.indices[some, None].astype(np.int64)
        lengths[some] = pair_distances(points[rows[some]], points, ends, metric)[:, 0]
    lengths = np.maximum(lengths, SHORTEST)
    return sparse.csr_array((lengths, weights.indices, weights.indptr), shape=weights.shape)
