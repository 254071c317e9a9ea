"""Items similar to a given one: all of them by distance, and its near-duplicates."""

import numpy as np

from poise import Graph
from poise.arrays import Floats, Ints
from poise.studio.asking.question import Features

#: Two items are near-duplicates up to this share of the median distance to the nearest neighbour,
#: see docs/decisions/near-duplicates.md.
NEAR_SHARE = 0.3
#: With fewer features than this, points come that near by chance (of two features, one point in
#: sixteen): then only equal items are near-duplicates.
MIN_FEATURES = 8
#: Nodes from whose nearest neighbours the median distance is estimated.
SAMPLE_NODES = 2_000
#: Numbers that are compared at once: as many as the processor's cache holds.
CHUNK_NUMBERS = 1 << 18


def by_distance(graph: Graph, features: Features, node: int) -> Ints:
    """All nodes, the nearest to this one first; it comes first itself."""
    away = squared_distances(features, features[node], _by_angle(graph))
    away[node] = -1.0
    return np.argsort(away, kind="stable")


def squared_distances(features: Features, point: Features, by_angle: bool) -> Floats:
    """(n,) squared distances to a point; by angle, those of vectors scaled to length 1.

    Computed from differences, so that equal vectors have distance zero, which products of the
    vectors would miss.
    """
    point = _unit(np.asarray(point, dtype=np.float32)[None], by_angle)
    away = np.empty(len(features), dtype=np.float32)
    rows = max(1, CHUNK_NUMBERS // max(1, features.shape[1]))
    for start in range(0, len(features), rows):
        some = np.asarray(features[start : start + rows], dtype=np.float32)
        difference = _unit(some, by_angle) - point
        away[start : start + rows] = np.einsum("ij,ij->i", difference, difference)
    return away.astype(np.float64)


def near_threshold(graph: Graph, features: Features) -> float:
    """Squared distance up to which two nodes are near-duplicates."""
    n = graph.n_nodes
    if features.shape[1] < MIN_FEATURES:
        return 0.0
    nodes = np.random.default_rng(0).permutation(n)[:SAMPLE_NODES]
    distances = (_neighbours(graph, features, int(node))[1] for node in nodes)
    nearest = [away.min() for away in distances if away.size]
    return NEAR_SHARE**2 * float(np.median(nearest)) if nearest else 0.0


def near_duplicates(graph: Graph, features: Features, node: int, threshold: float) -> list[int]:
    """Neighbours of a node within a squared distance of it, the nearest first.

    Only those that are near to this node itself: their own near-duplicates do not count.
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
