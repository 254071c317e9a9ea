"""Where new points lie in a graph: which nodes they are close to, and whether to any."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from poise.arrays import Floats
from poise.graph.metrics import FloatArray, IntArray

#: Points with less closeness are called far: beyond 1.4 times the scale of every node near them.
MIN_NEAR_CLOSENESS = 0.5


@dataclass(frozen=True, eq=False)
class Placement:
    """Weights and closeness of m new points to the n nodes.

    Attributes
    ----------
    weights : (m, n) csr array, rows sum to 1
    closeness : (m,) between 1 (as close to some node as that node's own neighbours) and 0 (far from
        every node); see `closeness_to`
    """

    weights: sparse.csr_array
    closeness: FloatArray

    @property
    def near(self) -> npt.NDArray[np.bool_]:
        """(m,) mask of the points that are not far from every node."""
        return np.asarray(self.closeness > MIN_NEAR_CLOSENESS)

    def faded(self, values: Floats, far: Floats) -> Floats:
        """(m, C) `values` of the points, replaced by the (C,) `far` with growing distance."""
        share = self.closeness[:, None]
        return np.asarray(np.where(share == 1, values, share * values + (1 - share) * far))


def closeness_to(indptr: IntArray, distances: FloatArray, scales: FloatArray) -> FloatArray:
    """How close new points are to the nodes nearest to them.

    The scale s_i of a node i is its distance to its own k-th neighbour, or the radius. Closeness is
    1 up to s_i and falls like the Gaussian kernel beyond:

        max_i exp(-4 (max(d_i - s_i, 0) / s_i)^2)

    It is 0.37 at 1.5 s_i, 0.02 at 2 s_i.

    Parameters
    ----------
    indptr : (m + 1,) where the nodes of each point begin; every point has at least one
    distances, scales : (z,) distances d of the nodes to their point, and scales s of the nodes
    """
    beyond = np.maximum(distances - scales, 0.0)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        excess = np.where(beyond > 0, beyond / scales, 0.0)
        return np.asarray(np.exp(-4.0 * np.minimum.reduceat(excess, indptr[:-1]) ** 2))
