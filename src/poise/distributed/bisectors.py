"""Which cells must be searched for the neighbours of a point, besides its own.

Every point of the cell of centre ``c`` is nearer to ``c`` than to ``h``, the centre of the cell of
``x``: it lies beyond the plane midway between the two. The distance of ``x`` to that plane,

    b = (|x - c|^2 - |x - h|^2) / (2 |c - h|),

is a lower bound of its distance to the whole cell, in every metric that is at least the Euclidean
one. If ``b`` is not below the distance of the current k-th neighbour, no neighbour lies there.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from poise.distributed.centres import blocks_of, squared_distances
from poise.graph.metrics import FloatArray, IntArray

ROUNDING_SHARE = 1e-9
"""The bounds are lowered by this share of the size of the data, for rounding in float64."""


def bounds_to_cells(points: Any, home: int, centres: FloatArray) -> FloatArray:
    """Lower bounds of the distance from points of the cell `home` to all cells, shape (m, cells).

    The bound to their own cell is infinite, since it was searched already.
    """
    squares = squared_distances(points, centres)
    apart = np.sqrt(np.square(centres - centres[home]).sum(axis=1))
    apart[home] = 1.0
    middle = centres.mean(axis=0)
    largest = np.sqrt(np.square(centres - middle).sum(axis=1).max())
    lengths = np.sqrt(np.square(points - middle).sum(axis=1))
    slack = ROUNDING_SHARE * (lengths + largest) ** 2
    bounds = (squares - squares[:, [home]] - slack[:, None]) / (2.0 * apart)
    bounds[:, home] = np.inf
    return np.asarray(bounds)


def cells_to_visit(
    points: Any, home: int, centres: FloatArray, kth: FloatArray, most: int
) -> tuple[IntArray, IntArray, npt.NDArray[np.bool_]]:
    """The cells that may hold neighbours of points of the cell `home`.

    Parameters
    ----------
    points : ndarray, shape (m, d)
    home : int
    centres : ndarray, shape (cells, d)
    kth : ndarray, shape (m,)
        Distance of the k-th neighbour in their own cell, infinite where there are fewer.
    most : int
        Maximum number of cells per point: those with the smallest bounds.

    Returns
    -------
    rows, cells : ndarray of int64
        The visits, by cell and then by row.
    covered : ndarray of bool, shape (m,)
        Whether all cells that may hold a neighbour are among them.
    """
    rows, cells, covered = [], [], np.zeros(points.shape[0], dtype=bool)
    most = min(most, centres.shape[0] - 1)
    for block in blocks_of(points.shape[0], centres.shape[0]):
        bounds = bounds_to_cells(points[block], home, centres)
        possible = bounds < kth[block, None]
        covered[block] = possible.sum(axis=1) <= most
        if most == 0:
            continue
        nearest = np.argpartition(bounds, most - 1, axis=1)[:, :most]
        row, column = np.nonzero(np.take_along_axis(possible, nearest, axis=1))
        rows.append(row + block.start)
        cells.append(nearest[row, column])
    empty = np.empty(0, dtype=np.int64)
    visitor, visited = np.concatenate([empty, *rows]), np.concatenate([empty, *cells])
    order = np.lexsort((visitor, visited))
    return visitor[order], visited[order], covered
