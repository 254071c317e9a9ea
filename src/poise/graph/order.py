"""Reorder the points of a graph."""

from typing import Any

import numpy as np

from poise.errors import NodeIndexError
from poise.graph.construction import Construction
from poise.graph.extend import listed
from poise.graph.features import Features
from poise.graph.neighbours import Neighbours


def reordered(
    features: Features | None,
    neighbours: Neighbours | None,
    construction: Construction | None,
    order: Any,
) -> tuple[Features, Neighbours]:
    """Features and neighbour lists in which the new node i is the old node ``order[i]``.

    Parameters
    ----------
    features, neighbours, construction
        Of the graph; see `Graph`.
    order : (n,) every node's number once
    """
    features, neighbours, _, _ = listed(features, neighbours, construction)
    n = features.shape[0]
    nodes = np.asarray(order, dtype=np.int64)
    if not np.array_equal(np.sort(nodes), np.arange(n)):
        raise NodeIndexError(
            f"an order names every node once: expected {n} numbers from 0 to {n - 1}"
        )
    positions = np.empty_like(nodes)
    positions[nodes] = np.arange(n)
    indices, distances = positions[neighbours.indices[nodes]], neighbours.distances[nodes]
    by_distance = np.lexsort((indices, distances), axis=1)
    lists = Neighbours(
        np.take_along_axis(indices, by_distance, axis=1).astype(neighbours.indices.dtype),
        np.take_along_axis(distances, by_distance, axis=1),
    )
    return features[nodes], lists
