"""Where new points lie in a graph: which nodes each is like, and whether it is like any."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from poise.graph.metrics import FloatArray, IntArray

#: Closeness below which a point is called far: 1.4 times the scale of every node near it.
NEAR = 0.5


@dataclass(frozen=True, eq=False)
class Placement:
    """How m new points are tied to the n nodes.

    Attributes
    ----------
    weights : (m, n) csr array, rows sum to 1
    closeness : (m,) from 1, no farther from some node than that node's own neighbours, to 0, far
        from every node; see `closeness_to`
    """

    weights: sparse.csr_array
    closeness: FloatArray

    @property
    def near(self) -> npt.NDArray[np.bool_]:
        """(m,) mask of the points that are not far from every node."""
        return np.asarray(self.closeness > NEAR)

    def faded(self, values: FloatArray, far: FloatArray) -> FloatArray:
        """(m, C) `values` of the points, which give way to the (C,) `far` with distance."""
        share = self.closeness[:, None]
        return np.asarray(np.where(share == 1, values, share * values + (1 - share) * far))


def closeness_to(indptr: IntArray, distances: FloatArray, scales: FloatArray) -> FloatArray:
    """How much a new point belongs to the nodes that it is nearest to.

    A node i with scale s_i, its distance to its own k-th neighbour (or the radius), reaches
    undiminished up to s_i, and beyond as the Gaussian kernel falls:

        max_i exp(-4 (max(d_i - s_i, 0) / s_i)^2)

    It is 0.37 at 1.5 s_i, 0.02 at 2 s_i.

    Parameters
    ----------
    indptr : (m + 1,) where the nodes of each point begin; every point has one
    distances, scales : (z,) distances d of the nodes to their point, and scales s of the nodes
    """
    beyond = np.maximum(distances - scales, 0.0)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        excess = np.where(beyond > 0, beyond / scales, 0.0)
        return np.asarray(np.exp(-4.0 * np.minimum.reduceat(excess, indptr[:-1]) ** 2))
