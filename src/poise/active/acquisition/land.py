"""LAND: modes of the density that are far apart in diffusion distance."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.spatial import KDTree

from poise.active.acquisition.eigenpairs import component_eigenpairs
from poise.active.acquisition.registry import acquisitions
from poise.active.snapshot import Snapshot
from poise.arrays import Floats, Ints
from poise.checks import decay, whole_number
from poise.errors import InputError
from poise.graph import Graph

#: Neighbours among which a denser point is looked for first; nine points in ten find one.
N_NEAREST = 9
#: Distances computed at once for the points that do not: 64 MB.
BLOCK_DISTANCES = 8_000_000


@acquisitions.register("land")
@dataclass(frozen=True)
class LAND:
    """Dense points far from any denser one first: cluster by cluster, whatever the labels.

    ``p(x) rho_t(x)``: `p` is the density, `rho_t` the diffusion distance to the nearest point of
    higher density (for the densest: to the farthest point). With the eigenpairs of the random walk
    ``P = D^-1 W``, ``P psi_l = lambda_l psi_l``,

        D_t(x, y)^2 = sum over l <= m of lambda_l^(2t) (psi_l(x) - psi_l(y))^2.

    The order does not depend on the labels, so the list of questions is known in advance.

    Parameters
    ----------
    m : int
        Eigenpairs, besides one for each further component (up to 100).
    t : float, optional
        Time of the diffusion. By default the one at which ``lambda_m^t = 1/1000``: coordinates
        left out would have counted less than a thousandth of the first.

    Notes
    -----
    The density is that of `density`. Costs the eigenpairs and a search once, nothing per query.

    References
    ----------
    J. M. Murphy and M. Maggioni, "Unsupervised clustering and active learning of hyperspectral
    images with nonlinear diffusion", IEEE Trans. Geosci. Remote Sens. 57, 2019. M. Maggioni and
    J. M. Murphy, "Learning by unsupervised nonlinear diffusion", JMLR 20, 2019.
    """

    uses_scores: ClassVar[bool] = False
    needs: ClassVar[str] = "the graph alone"
    cost: ClassVar[str] = "eigenpairs once, nothing per query"
    use: ClassVar[str] = "for a fixed list of points, one dense cluster after the other"

    m: int = 50
    t: float | None = None

    def __post_init__(self) -> None:
        whole_number(self.m, "m", 2)
        if self.t is not None and decay(self.t, "t") == 0:
            raise InputError("t is 0: give a positive time, or None for the default")

    def start(self, graph: Graph, labelled: Ints, seed: int) -> Floats:
        p = density(graph)
        values = p * distance_to_denser(self.coordinates(graph), p)
        values.flags.writeable = False  # handed out as it is, question after question
        return values

    def advance(self, memory: Floats, node: int) -> Floats:
        return memory

    def __call__(self, snapshot: Snapshot) -> Floats:
        values: Floats = snapshot.memory
        return values

    def coordinates(self, graph: Graph) -> Floats:
        """(n, m) diffusion map at time `t`: Euclidean distances there are diffusion distances."""
        values, vectors = component_eigenpairs(graph, self.m, "random-walk")
        # Of a complete graph's walk every eigenvalue but the first is negative, or zero.
        eigenvalues = np.abs(1.0 - values)
        t = self.t
        if t is None:
            t = np.log(1000.0) / -np.log(np.clip(eigenvalues[-1], 0.1, 1.0 - 1e-12))
        volume = graph.degrees.sum() or 1.0
        return np.asarray(np.sqrt(volume) * vectors * eigenvalues**t)


def density(graph: Graph) -> Floats:
    """(n,) estimate of the density at each node, between 0 and 1.

    ``mean over the listed neighbours of exp(-|x - y|^2 / sigma^2)``, `sigma` the median distance
    to the k-th, if the graph kept its lists (``keep_neighbours=True``); ``exp(-d_k^2 / sigma^2)``,
    the smallest term of that mean, if it knows only the distances to the k-th; the degree for
    epsilon graphs and weights made elsewhere, where it is the kernel's density estimate itself.
    """
    scale = None if graph.spacing is None else graph.spacing.scale
    sigma = 0.0 if scale is None or not scale.any() else float(np.median(scale[scale > 0]))
    by_radius = graph.construction is not None and graph.construction.k is None
    if sigma > 0 and graph.neighbours is not None:
        return np.asarray(np.exp(-((graph.neighbours.distances / sigma) ** 2)).mean(axis=1))
    if sigma > 0 and scale is not None and not by_radius:
        return np.asarray(np.exp(-((scale / sigma) ** 2)))
    return np.asarray(graph.degrees / (graph.degrees.max() or 1.0))


def distance_to_denser(points: Floats, p: Floats) -> Floats:
    """(n,) distance of each point to the nearest one of higher `p`; of the first, to the farthest.

    Points of equal density count in the order of their numbers. Exact: nearly every point has a
    denser one among its few nearest; the others are compared with all that are denser.
    """
    n = len(points)
    order = np.argsort(-p, kind="stable")
    points = points[order]  # from here on a smaller index is a higher density
    nearest = KDTree(points).query(points, k=min(N_NEAREST, n), workers=-1)
    distances, indices = (np.asarray(part).reshape(n, -1) for part in nearest)
    denser = indices < np.arange(n)[:, None]
    first = np.argmax(denser, axis=1)
    rho = distances[np.arange(n), first]
    squares = np.einsum("ij,ij->i", points, points)
    rest = np.flatnonzero(~denser.any(axis=1))[1:]  # the first has no denser one
    for rows in np.array_split(rest, len(rest) * n // BLOCK_DISTANCES + 1):
        if len(rows):
            last = rows[-1]
            block = squares[:last] - 2.0 * points[rows] @ points[:last].T
            block[np.arange(last) >= rows[:, None]] = np.inf
            nearest = np.argmin(block, axis=1)
            rho[rows] = np.linalg.norm(points[rows] - points[nearest], axis=1)
    rho[0] = np.linalg.norm(points - points[0], axis=1).max()
    result = np.empty(n)
    result[order] = rho
    return result
