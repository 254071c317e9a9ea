"""Add points to a graph: their lists of neighbours, and the lists that they enter."""

from typing import Any

import numpy as np
from scipy import sparse

from poise.errors import GraphError
from poise.graph.backend import Backend
from poise.graph.construction import Construction
from poise.graph.features import Features, check_features, is_sparse
from poise.graph.metrics import search_space
from poise.graph.neighbours import Neighbours
from poise.graph.new_points import check_new
from poise.graph.search import resolve_backend, search_points


def extended(
    features: Features | None,
    neighbours: Neighbours | None,
    construction: Construction | None,
    X_new: Any,
    *,
    backend: str | Backend = "auto",
    seed: int = 0,
) -> tuple[Features, Neighbours]:
    """Features and neighbour lists of a graph with new points added after the old ones.

    New points are searched for among all points. An old point is compared with the new points
    only: its list changes if one of them is closer than its k-th neighbour. With exact searches the
    lists are those of a graph built at once.

    Parameters
    ----------
    features, neighbours, construction
        Of the graph; see `Graph`.
    X_new : array-like or sparse, shape (m, d)
        Converted to the type of `features`.
    backend, seed
        As in `knn_graph`.
    """
    features, neighbours, construction, k = listed(features, neighbours, construction)
    added = check_new(X_new, features, minimum=0)
    if added.shape[0] == 0:
        return features, neighbours
    with np.errstate(over="ignore"):  # overflow gives infinity, which is refused
        added = check_features(added.astype(features.dtype, copy=False), minimum=1, name="X_new")
    parts: Any = [features, added]  # both dense or both sparse
    features_now = sparse.vstack(parts, "csr") if is_sparse(features) else np.concatenate(parts)
    points, metric = search_space(features_now, construction.metric)
    old, n = features.shape[0], points.shape[0]
    width = min(k, n - 1)  # with k points or fewer, each lists all others
    newcomers = np.arange(old, n)
    engine, _ = resolve_backend(backend, points, metric, newcomers.size)
    theirs = search_points(points, points[old:], width, metric, engine, seed, own=newcomers)
    ours = _joined_by(neighbours, points[:old], points[old:], width, metric, backend, seed)
    return features_now, Neighbours(
        np.concatenate([ours.indices, theirs.indices]),
        np.concatenate([ours.distances, theirs.distances]),
    )


def listed(
    features: Features | None, neighbours: Neighbours | None, construction: Construction | None
) -> tuple[Features, Neighbours, Construction, int]:
    """What updates of the lists need, and k; or an error that says what the graph lacks."""
    if construction is None or construction.k is None:
        made = "from weights" if construction is None else "with a radius"
        raise GraphError(
            f"this graph was made {made}, so points cannot join or leave it: build it again, or "
            "with knn_graph(X, keep_neighbours=True)"
        )
    if features is None or neighbours is None:
        lacking = "features" if features is None else "lists of neighbours"
        raise GraphError(
            f"this graph holds no {lacking}, so points cannot join or leave it: build it with "
            "knn_graph(X, keep_features=True, keep_neighbours=True)"
        )
    construction.kernel_function()
    n, width = neighbours.indices.shape
    if width != min(construction.k, n - 1):
        raise GraphError(
            f"the graph's lists hold {width} neighbours and it was made with k={construction.k}: "
            "they do not belong together, build it again"
        )
    return features, neighbours, construction, construction.k


def _joined_by(
    neighbours: Neighbours,
    old: Features,
    new: Features,
    width: int,
    metric: str,
    backend: str | Backend,
    seed: int,
) -> Neighbours:
    """The lists of the old points, with the new points that belong in them."""
    n, had = neighbours.indices.shape
    if had < width:  # lists that hold every other point grow
        gaining = np.arange(n)
    else:
        # The nearest new point alone decides whether a list changes, with far fewer candidates.
        engine, _ = resolve_backend(backend, new, metric, n)
        nearest = search_points(new, old, 1, metric, engine, seed)
        # Of equally distant points the first is listed, and new points come last.
        gaining = np.flatnonzero(nearest.distances[:, 0] < neighbours.distances[:, -1])
    indices = np.empty((n, width), dtype=np.int32)
    distances = np.empty((n, width))
    indices[:, :had], distances[:, :had] = neighbours.indices, neighbours.distances
    if gaining.size == 0:
        return Neighbours(indices, distances)
    count = min(width, new.shape[0])
    engine, _ = resolve_backend(backend, new, metric, gaining.size)
    arrivals = search_points(new, old[gaining], count, metric, engine, seed)
    both = np.concatenate([neighbours.distances[gaining], arrivals.distances], axis=1)
    names = np.concatenate([neighbours.indices[gaining], arrivals.indices + n], axis=1)
    order = np.lexsort((names, both), axis=1)[:, :width]
    indices[gaining] = np.take_along_axis(names, order, axis=1)
    distances[gaining] = np.take_along_axis(both, order, axis=1)
    return Neighbours(indices, distances)
