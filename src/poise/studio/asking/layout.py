"""Places of all items in the plane, for the map."""

import numpy as np
import numpy.typing as npt

from poise import Graph
from poise.arrays import Floats
from poise.linalg.spectrum import smallest_eigenpairs
from poise.models.components import laplacian

#: Eigenvectors that the plane of neighbourhoods is taken from.
EIGENVECTORS = 8
#: Share of the items at each end that may lie outside the scale, and how much room is left for
#: them; the farthest are moved to the edge: they must not make all the others a dot.
FAR = 0.002
ROOM = 1.25

Plane = npt.NDArray[np.float32]


def principal_plane(features: npt.NDArray[np.floating]) -> Plane:
    """(n, 2) the two directions in which features vary most, from -1 to 1."""
    X = np.asarray(features, dtype=np.float64)
    centred = X - X.mean(axis=0)
    _, directions = np.linalg.eigh(centred.T @ centred)
    plane = np.zeros((len(X), 2))
    found = centred @ directions[:, ::-1][:, :2]
    plane[:, : found.shape[1]] = found
    return _fitted(plane)


def eigenmaps(graph: Graph, features: npt.NDArray[np.floating]) -> Plane:
    """(n, 2) the plane of Laplacian eigenmaps: who shares neighbours lies together.

    The first eigenvectors over the roots of their eigenvalues, whose distances are those of
    commute times; each item's row at length 1, for otherwise the outermost crowd makes dots of all
    others; seen from where the rows differ most. (Of an item's ten nearest in the plane 94% are of
    its class on digits, 90% without the lengths, 57% by principal components.) Eigenvectors know
    nothing of how components lie to each other: each component is put where its features are.
    """
    m = min(graph.n_components + EIGENVECTORS, graph.n_nodes - 1)
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
    """One scale for both directions, so that distances are kept."""
    low, high = np.quantile(plane, [FAR, 1 - FAR], axis=0)
    half = ROOM * max(float((high - low).max()) / 2, 1e-12)
    return np.asarray(np.clip((plane - (low + high) / 2) / half, -1, 1), dtype=np.float32)
