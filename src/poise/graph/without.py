"""Remove points from a graph, and search again for the lists that named them."""

from typing import Any

import numpy as np

from poise.errors import GraphError, NodeIndexError
from poise.graph.backend import Backend
from poise.graph.construction import Construction
from poise.graph.extend import listed
from poise.graph.features import Features
from poise.graph.metrics import IntArray, search_space
from poise.graph.neighbours import Neighbours
from poise.graph.search import resolve_backend, search_points


def reduced(
    features: Features | None,
    neighbours: Neighbours | None,
    construction: Construction | None,
    nodes: Any,
    *,
    backend: str | Backend = "auto",
    seed: int = 0,
) -> tuple[Features, Neighbours]:
    """Features and neighbour lists of a graph without `nodes`.

    The others keep their order. Only points that listed a removed node are searched again, among
    all that stay; with exact searches the lists are those of a graph built at once.

    Parameters
    ----------
    features, neighbours, construction
        Of the graph; see `Graph`.
    nodes : whole numbers
    backend, seed
        As in `knn_graph`.
    """
    features, neighbours, construction, k = listed(features, neighbours, construction)
    n = features.shape[0]
    stays = np.ones(n, dtype=bool)
    stays[_check_nodes(nodes, n)] = False
    left = int(np.count_nonzero(stays))
    if left == n:
        return features, neighbours
    if left < 2:
        raise GraphError(f"of {n} nodes {left} would stay: a graph of neighbours needs two")
    # -1 for those that leave
    number = np.where(stays, np.cumsum(stays) - 1, -1).astype(np.int32)
    features = features[stays]
    width = min(k, left - 1)
    before = number[neighbours.indices[stays]]
    indices = before[:, :width].copy()
    distances = neighbours.distances[stays][:, :width].copy()
    lost = np.flatnonzero((before < 0).any(axis=1))
    if lost.size:
        points, metric = search_space(features, construction.metric)
        engine, _ = resolve_backend(backend, points, metric, lost.size)
        lists = search_points(points, points[lost], width, metric, engine, seed, own=lost)
        indices[lost], distances[lost] = lists.indices, lists.distances
    return features, Neighbours(indices, distances)


def _check_nodes(nodes: Any, n: int) -> IntArray:
    named = np.atleast_1d(np.asarray(nodes))
    if named.size == 0:
        return np.empty(0, dtype=np.int64)
    if named.ndim != 1 or named.dtype.kind not in "iu":
        raise NodeIndexError(
            f"nodes are of type {named.dtype} and shape {named.shape}: give the numbers of the "
            "nodes that leave, a list of whole numbers"
        )
    wrong = named[(named < 0) | (named >= n)]
    if wrong.size:
        raise NodeIndexError(f"there is no node {wrong[0]}: the graph has nodes 0 to {n - 1}")
    return named.astype(np.int64)
