"""Centres of the cells: k-means on a sample, sizes evened out, near cells numbered together.

A point belongs to the cell with the nearest centre, so cells are Voronoi cells: their geometry
shows which cells a search may skip (`poise.distributed.bisectors`).
"""

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from poise.graph.metrics import FloatArray, IntArray

SAMPLE_POINTS_PER_CELL = 256
"""Points in the sample per cell."""

SAMPLE_MAX_POINTS = 2**21
"""Maximum number of points in the sample."""

LARGE_CELL_RATIO = 1.5
"""A cell with more points than this multiple of the mean is split in two."""

SPLIT_RATIO = 2
"""A split cell must be so many times as large as the cell that is dissolved for it."""

MAX_ROUNDS = 12
"""Maximum number of rounds of splitting and dissolving cells."""

JOINED_CENTRES = 8
"""Each centre is joined to so many others for the numbering."""

BLOCK_NUMBERS = 2**22
"""Number of distances to centres that are held at a time."""


def cell_centres(sample: Any, cells: int, seed: int) -> FloatArray:
    """Centres of `cells` cells, or of fewer if the sample has fewer distinct points.

    Parameters
    ----------
    sample : ndarray, shape (m, d)
    cells : int
    seed : int

    Returns
    -------
    ndarray of float64, shape (cells, d)
    """
    points = np.asarray(sample, dtype=np.float64)
    centres = _k_means(points, min(cells, points.shape[0]), seed)
    for turn in range(MAX_ROUNDS):
        moved = _evened(points, centres, cells, seed + turn + 1)
        if moved is None:
            break
        centres = moved
    taken = np.unique(home_cells(points, centres))
    return in_order(centres[taken])


def home_cells(points: Any, centres: FloatArray) -> IntArray:
    """The nearest centre of each point, the first of equal ones."""
    home = np.empty(points.shape[0], dtype=np.int64)
    for rows in blocks_of(points.shape[0], centres.shape[0]):
        home[rows] = squared_distances(points[rows], centres).argmin(axis=1)
    return home


def squared_distances(points: Any, centres: FloatArray) -> FloatArray:
    """``|x - c|^2 - |x|^2`` in float64: what differs between the centres of a point."""
    middle = centres.mean(axis=0)
    moved = centres - middle
    rows = np.asarray(points, dtype=np.float64) - middle
    squares = np.einsum("cd,cd->c", moved, moved)
    return np.asarray(squares - 2.0 * (rows @ moved.T))


def blocks_of(n: int, columns: int) -> list[slice]:
    """Slices of n rows, such that a table with so many columns stays small."""
    step = max(1, BLOCK_NUMBERS // max(1, columns))
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


def in_order(centres: FloatArray) -> FloatArray:
    """The same centres, numbered so that neighbouring cells have close numbers.

    Each centre is joined to the nearest others. They are numbered in breadth-first order from a
    centre at the rim, component by component.
    """
    n = centres.shape[0]
    if n < 3:
        return centres
    near = min(JOINED_CENTRES, n - 1)
    squares = np.einsum("cd,cd->c", centres, centres)
    distances = squares[:, None] + squares - 2.0 * centres @ centres.T
    np.fill_diagonal(distances, np.inf)
    columns = np.argpartition(distances, near - 1, axis=1)[:, :near].ravel()
    rows = np.repeat(np.arange(n), near)
    joined = sparse.csr_array((np.ones(rows.size), (rows, columns)), shape=(n, n))
    joined = sparse.csr_array(joined + joined.T)
    _, component = csgraph.connected_components(joined, directed=False)
    order = []
    for number in range(component.max() + 1):
        any_one = int(np.flatnonzero(component == number)[0])
        order.append(_breadth_first(joined, _breadth_first(joined, any_one)[-1]))
    return np.ascontiguousarray(centres[np.concatenate(order)])


def _breadth_first(joined: sparse.csr_array, first: int) -> IntArray:
    order = csgraph.breadth_first_order(joined, first, directed=False, return_predecessors=False)
    return np.asarray(order, dtype=np.int64)


def _k_means(points: FloatArray, count: int, seed: int) -> FloatArray:
    """Centres by faiss; all points if there are no more points than centres."""
    import faiss

    if count >= points.shape[0]:
        return points.copy()
    middle = points.mean(axis=0)
    scale = float(np.abs(points - middle).max()) or 1.0  # float32 is most precise near 1
    means = faiss.Kmeans(
        points.shape[1], count, niter=12, seed=seed % 2**31, min_points_per_centroid=1,
        max_points_per_centroid=SAMPLE_POINTS_PER_CELL,
    )  # fmt: skip
    means.train(((points - middle) / scale).astype(np.float32))
    centres: FloatArray = np.asarray(means.centroids, dtype=np.float64) * scale + middle
    return centres


def _evened(points: FloatArray, centres: FloatArray, cells: int, seed: int) -> FloatArray | None:
    """Split large cells, and dissolve a small cell for each; None if there is nothing to do.

    While there are fewer cells than required, none is dissolved.
    """
    home = home_cells(points, centres)
    sizes = np.bincount(home, minlength=centres.shape[0])
    largest, smallest = np.argsort(-sizes, kind="stable"), np.argsort(sizes, kind="stable")
    spare = cells - centres.shape[0]
    halves: list[FloatArray] = []
    split: list[int] = []
    gone: list[int] = []
    for large in largest[sizes[largest] > LARGE_CELL_RATIO * points.shape[0] / cells]:
        inside = points[home == large]
        two = _k_means(inside, 2, seed)
        if np.unique(home_cells(inside, two)).size == 1:  # points that coincide stay together
            continue
        if len(split) >= spare:
            small = smallest[len(gone)]
            if sizes[small] * SPLIT_RATIO > sizes[large]:
                break
            gone.append(int(small))
        split.append(int(large))
        halves.append(two)
    if not split:
        return None
    kept = np.setdiff1d(np.arange(centres.shape[0]), split + gone)
    return np.concatenate([centres[kept], *halves])
