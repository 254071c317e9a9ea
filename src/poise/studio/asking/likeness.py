"""Which items are like a given one: all of them by distance, and those that are almost the same."""

import numpy as np

from poise import Graph
from poise.arrays import Floats, Ints
from poise.studio.asking.question import Features

#: Share of the median distance to the nearest neighbour up to which two items are near-duplicates,
#: see docs/decisions/near-duplicates.md.
NEAR = 0.3
#: Fewer numbers than this, and points come that near by chance (of two numbers, one point in
#: sixteen): then only what is equal is a near-duplicate.
FEW = 8
#: Nodes whose nearest neighbours say what is usual.
SAMPLE = 2_000
#: Numbers that are looked at together: as many as the processor's cache holds.
CHUNK = 1 << 18


def by_distance(graph: Graph, features: Features, node: int) -> Ints:
    """All nodes, the nearest to one of them first; this one itself leads."""
    away = squared_distances(features, features[node], _by_angle(graph))
    away[node] = -1.0
    return np.argsort(away, kind="stable")


def squared_distances(features: Features, point: Features, by_angle: bool) -> Floats:
    """(n,) squared distances to a point; by angle, those of vectors scaled to length 1.

    As differences: what is equal has distance zero, which a product of the vectors would miss.
    """
    point = _unit(np.asarray(point, dtype=np.float32)[None], by_angle)
    away = np.empty(len(features), dtype=np.float32)
    rows = max(1, CHUNK // max(1, features.shape[1]))
    for start in range(0, len(features), rows):
        some = np.asarray(features[start : start + rows], dtype=np.float32)
        difference = _unit(some, by_angle) - point
        away[start : start + rows] = np.einsum("ij,ij->i", difference, difference)
    return away.astype(np.float64)


def near_threshold(graph: Graph, features: Features) -> float:
    """Squared distance up to which two nodes are near-duplicates.

    Relative to the median distance of a node to its nearest neighbour, from a sample of them.
    """
    n = graph.n_nodes
    if features.shape[1] < FEW:
        return 0.0
    nodes = np.random.default_rng(0).permutation(n)[:SAMPLE]
    found = (_neighbours(graph, features, int(node))[1] for node in nodes)
    nearest = [away.min() for away in found if away.size]
    return NEAR**2 * float(np.median(nearest)) if nearest else 0.0


def near_duplicates(graph: Graph, features: Features, node: int, threshold: float) -> list[int]:
    """Neighbours of a node that lie within a squared distance of it, the nearest first.

    Only what is near to this very node: what is near to those is not followed further.
    """
    near, away = _neighbours(graph, features, node)
    order = np.argsort(away, kind="stable")
    return [int(near[i]) for i in order if away[i] <= threshold]


def _neighbours(graph: Graph, features: Features, node: int) -> tuple[Ints, Floats]:
    """The neighbours of a node in the graph, and their squared distances."""
    W = graph.weights
    near = W.indices[W.indptr[node] : W.indptr[node + 1]]
    near = near[near != node].astype(np.int64)
    return near, squared_distances(features[near], features[node], _by_angle(graph))


def _by_angle(graph: Graph) -> bool:
    return graph.construction is not None and graph.construction.metric == "cosine"


def _unit(vectors: Features, by_angle: bool) -> Features:
    if not by_angle:
        return vectors
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    return vectors / np.where(lengths > 0, lengths, 1.0).astype(vectors.dtype)
