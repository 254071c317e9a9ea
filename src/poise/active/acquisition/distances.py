"""Distances between nodes, in the features or along the edges."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from poise.arrays import Floats, Ints
from poise.graph import Graph
from poise.graph.features import Features
from poise.graph.metrics import pair_distances, scikit_learn_form, search_space

#: Least length of an edge: SciPy takes a length of 0 for no edge, and 1 / length stays finite.
MIN_EDGE_LENGTH = 1e-150
#: Features gathered at a time while edges are measured.
BLOCK_ENTRIES = 2**21


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


class RemembersNearest:
    """What acquisitions by the distance to the nearest constrained node share."""

    uses_scores: ClassVar[bool] = False
    needs: ClassVar[str] = "features, or paths along the edges"
    cost: ClassVar[str] = "one distance per node"

    def start(self, graph: Graph, labelled: Ints, seed: int) -> Nearest:
        return Nearest.to(graph, labelled)

    def advance(self, memory: Nearest, node: int) -> Nearest:
        return memory.and_to(node)


def unreached_first(distances: Floats, graph: Graph) -> Floats:
    """`distances`, infinite ones replaced by finite ones beyond the rest, by component size."""
    finite = np.isfinite(distances)
    if finite.all():
        return distances
    farthest = max(float(distances.max(initial=0.0, where=finite)), MIN_EDGE_LENGTH)
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

        distances = pairwise_distances(form, form[[node]], metric=metric)[:, 0]
        return np.asarray(distances, dtype=np.float64)

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
    lengths = 1 / np.clip(weights.data, MIN_EDGE_LENGTH, 1 / MIN_EDGE_LENGTH)
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
        lengths = np.maximum(lists.distances, MIN_EDGE_LENGTH).ravel()
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
    step = max(1, int(BLOCK_ENTRIES / max(entries, 1.0)))
    for start in range(0, weights.nnz, step):
        some = slice(start, start + step)
        ends = weights.indices[some, None].astype(np.int64)
        lengths[some] = pair_distances(points[rows[some]], points, ends, metric)[:, 0]
    lengths = np.maximum(lengths, MIN_EDGE_LENGTH)
    return sparse.csr_array((lengths, weights.indices, weights.indptr), shape=weights.shape)


def ball_radius(distances: Floats, share: float) -> float:
    """Distance within which a share of all nodes lies, the centre counted; may be infinite."""
    size = max(1, round(share * distances.size))
    return float(np.partition(distances, size - 1)[size - 1])
