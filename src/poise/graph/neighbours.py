"""Lists of nearest neighbours."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.neighbors import NearestNeighbors

from poise.graph.features import Features


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The k nearest neighbours of each point, nearest first, the point itself left out.

    Parameters
    ----------
    indices : ndarray of int, shape (n, k)
    distances : ndarray of float64, shape (n, k)
    """

    indices: npt.NDArray[np.integer[Any]]
    distances: npt.NDArray[np.float64]

    def __post_init__(self) -> None:
        self.indices.flags.writeable = False
        self.distances.flags.writeable = False


def search(X: Features, k: int, metric: str) -> Neighbours:
    found = NearestNeighbors(n_neighbors=k, metric=metric, algorithm="brute").fit(X)
    distances, indices = found.kneighbors()
    return Neighbours(indices.astype(np.int32), distances.astype(np.float64))
