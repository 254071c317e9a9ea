"""Lists of nearest neighbours, and the distances that a graph keeps of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The k nearest neighbours of each point, nearest first, without the point itself.

    Equal distances are ordered by node. Read-only.

    Parameters
    ----------
    indices : ndarray of int32 or int64, shape (n, k)
    distances : ndarray of float64, shape (n, k)
    """

    indices: npt.NDArray[np.integer[Any]]
    distances: npt.NDArray[np.float64]

    def __post_init__(self) -> None:
        self.indices.flags.writeable = False
        self.distances.flags.writeable = False

    def fit(self, n: int) -> bool:
        """Whether these can be the neighbours of n points."""
        shape = self.indices.shape
        if len(shape) != 2 or shape[0] != n or self.distances.shape != shape:
            return False
        return bool(((self.indices >= 0) & (self.indices < n)).all())

    def spacing(self) -> "Spacing":
        """Distance of each point to its nearest neighbour, and its scale."""
        return Spacing(self.distances[:, 0].copy(), self._scales())

    def _scales(self) -> npt.NDArray[np.float64]:
        """d_k of each point; where it is 0, the smallest positive distance known for the point.

        More than k coinciding points list only each other. Any other point that lists one of them
        knows a positive distance; without one the scale stays 0, and every weight is that of
        distance 0.
        """
        scales = self.distances[:, -1].copy()
        coinciding = scales == 0
        if coinciding.any():
            rows, columns = np.nonzero(coinciding[self.indices] & (self.distances > 0))
            nearest = np.full(scales.size, np.inf)
            np.minimum.at(nearest, self.indices[rows, columns], self.distances[rows, columns])
            repaired = coinciding & np.isfinite(nearest)
            scales[repaired] = nearest[repaired]
        return scales


@dataclass(frozen=True, eq=False)
class Spacing:
    """How far apart the points of a graph lie. Read-only.

    Parameters
    ----------
    nearest : ndarray of float64, shape (n,)
        Distance to the nearest neighbour; infinite where an epsilon graph found none.
    scale : ndarray of float64, shape (n,)
        What the kernel divides distances by: d_k, or the radius.
    """

    nearest: npt.NDArray[np.float64]
    scale: npt.NDArray[np.float64]

    def __post_init__(self) -> None:
        self.nearest.flags.writeable = False
        self.scale.flags.writeable = False
