"""Positions of all items in the plane, for the map."""

import numpy as np
import numpy.typing as npt

from poise import Graph
from poise.arrays import Floats
from poise.linalg.spectrum import smallest_eigenpairs
from poise.models.components import laplacian

#: Number of eigenvectors that the plane of neighbourhoods is made from.
N_EIGENVECTORS = 8
#: Share of the items at each end that do not set the scale, and the factor by which the scale
#: leaves room for them. Those beyond are moved to the edge; they must not shrink all others.
OUTLIER_SHARE = 0.002
ROOM_FACTOR = 1.25

Plane = npt.NDArray[np.float32]


def principal_plane(features: npt.NDArray[np.floating]) -> Plane:
    """(n, 2) the two principal components of the features, from -1 to 1."""
    X = np.asarray(features, dtype=np.float64)
    centred = X - X.mean(axis=0)
    _, directions = np.linalg.eigh(centred.T @ centred)
    plane = np.zeros((len(X), 2))
    first_two = centred @ directions[:, ::-1][:, :2]
    plane[:, : first_two.shape[1]] = first_two
    return _fitted(plane)


def eigenmaps(graph: Graph, features: npt.NDArray[np.floating]) -> Plane:
    """(n, 2) the plane of Laplacian eigenmaps: items that share neighbours lie together.

    The first eigenvectors divided by the roots of their eigenvalues, whose distances are those of
    commute times. Each item's row is scaled to length 1; otherwise the outermost cluster would
    shrink all others to a dot. The plane is that of the two principal components of the rows. (Of
    an item's ten nearest in the plane 94% are of its class on digits, 90% without the scaling, 57%
    by principal components of the features.) Eigenvectors say nothing about the distances between
    components: each component is placed where its features are.
    """
    m = min(graph.n_components + N_EIGENVECTORS, graph.n_nodes - 1)
    values, vectors = smallest_eigenpairs(laplacian(graph), m, "random-walk")
    shown = values > 1e-12
    if not shown.any():
        return principal_plane(features)
    rows = vectors[:, shown] / np.sqrt(values[shown])
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    plane = np.asarray(principal_plane(rows), dtype=float)
    if graph.n_components > 1:
        means = _means(graph, np.asarray(principal_plane(features), dtype=float))
        plane = means[graph.components] + (plane - _means(graph, plane)[graph.components]) / 2
    return _fitted(plane)


def _means(graph: Graph, plane: Floats) -> Floats:
    sums = [np.bincount(graph.components, weights=plane[:, j]) for j in range(2)]
    return np.asarray(np.stack(sums, axis=1) / graph.component_sizes[:, None])


def _fitted(plane: Floats) -> Plane:
    """Scale both directions by the same factor, which preserves shapes."""
    low, high = np.quantile(plane, [OUTLIER_SHARE, 1 - OUTLIER_SHARE], axis=0)
    half = ROOM_FACTOR * max(float((high - low).max()) / 2, 1e-12)
    return np.asarray(np.clip((plane - (low + high) / 2) / half, -1, 1), dtype=np.float32)
