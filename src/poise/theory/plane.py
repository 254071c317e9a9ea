"""The continuum equation on the unit square, with labelled points and the singular weight.

    tau u_i - rho^-1 div(gamma rho^2 grad u_i) = 0,   gamma = 1 + dist(x, labels)^-alpha,

no flux through the boundary, u_i = 1 at the labels of class i and 0 at the others. Finite volumes
on a uniform grid with the labels at nodes: conductances ``gamma rho^2`` at the middles of the
edges, reactions ``tau rho h^2``. The grid is a graph and the equation a grounded Laplacian plus a
diagonal, so poise's own solver applies.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from poise import Graph
from poise.arrays import Floats
from poise.linalg import solve
from poise.models.components import laplacian
from poise.theory.interval import checked_density
from poise.theory.statement import finite, require

#: (..., 2) positions -> (...) density.
PlaneDensity = Callable[[Floats], Floats]


@dataclass(frozen=True, eq=False)
class Plane:
    """Solutions on the unit square.

    Attributes
    ----------
    points : (m, m, 2) positions of the nodes
    density : (m, m)
    gamma : (m, m) the weight, infinite at the labels
    u : (C, m, m) a solution per class
    labels : (k, 2) positions of the labelled nodes
    """

    points: Floats
    density: Floats
    gamma: Floats
    u: Floats
    labels: Floats

    @property
    def acquisition(self) -> Floats:
        """(m, m) the norm of the solutions."""
        return np.asarray(np.sqrt((self.u**2).sum(axis=0)))

    @property
    def distance(self) -> Floats:
        """(m, m) distance to the nearest label."""
        return _distance(self.points, self.labels)

    @property
    def roughness(self) -> Floats:
        """(m, m) norm of the gradient of log rho, by differences."""
        h = 1.0 / (len(self.points) - 1)
        return np.asarray(np.hypot(*np.gradient(np.log(self.density), h)))


def solve_plane(
    labels: Sequence[tuple[float, float]],
    classes: Sequence[int],
    density: PlaneDensity,
    tau: float,
    alpha: float,
    *,
    cells: int = 120,
) -> Plane:
    """Solve on the unit square; labels move to the nearest nodes of the grid.

    Parameters
    ----------
    labels : positions in the square
    classes : 0, 1, ... for each label
    alpha : float > 0, which is d - 2
    cells : per side
    """
    require(finite(tau) and tau >= 0, "tau >= 0", "tau", tau)
    require(finite(alpha) and alpha > 0, "alpha > d - 2 = 0", "alpha", alpha)
    positions = np.asarray(labels, dtype=np.float64).reshape(-1, 2)
    require(
        len(positions) == len(classes) >= 1, "every label has a class", "labels", len(positions)
    )
    inside = bool(((positions >= 0) & (positions <= 1)).all())
    require(inside, "labels lie in the domain, the unit square", "labels", positions.tolist())
    m, h = cells + 1, 1.0 / cells
    axis = np.linspace(0.0, 1.0, m)
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1)
    nearest = np.rint(positions * cells).astype(np.int64)
    nodes = nearest[:, 0] * m + nearest[:, 1]
    require(
        len(set(nodes.tolist())) == len(nodes), "labels are apart", "labels", positions.tolist()
    )
    positions = nearest.astype(np.float64) * h
    rho = checked_density(density, points, points.shape[:-1])

    def conductance(middles: Floats) -> Floats:
        weight = 1.0 + _distance(middles, positions) ** -alpha
        return np.asarray(weight * checked_density(density, middles, middles.shape[:-1]) ** 2)

    # A face at the edge of the square is half as wide.
    width = np.ones(m)
    width[[0, -1]] = 0.5
    across = conductance((points[1:] + points[:-1]) / 2) * width
    along = conductance((points[:, 1:] + points[:, :-1]) / 2) * width[:, None]
    node = np.arange(m * m).reshape(m, m)
    row = np.concatenate([node[:-1].ravel(), node[:, :-1].ravel()])
    column = np.concatenate([node[1:].ravel(), node[:, 1:].ravel()])
    values = np.concatenate([across.ravel(), along.ravel()])
    W = sparse.coo_array((values, (row, column)), shape=(m * m, m * m))
    graph = Graph.from_weights(sparse.csr_array(W + W.T))
    reaction = (tau * rho * h**2 * width * width[:, None]).ravel()
    free = np.ones(m * m, dtype=bool)
    free[nodes] = False
    reaction[nodes] = 0.0
    codes = np.asarray(classes)
    fixed = np.zeros((m * m, codes.max() + 1))
    fixed[nodes, codes] = 1.0
    rhs = np.asfortranarray(graph.weights @ fixed)
    rhs[nodes] = 0.0
    # The tolerance is tight because the theorems are about the tiny values far from the labels.
    solution = (
        solve(laplacian(graph), rhs, diagonals=reaction, free=free, rtol=1e-12).require().value
    )
    u = np.clip(solution, 0.0, 1.0) + fixed
    with np.errstate(divide="ignore"):
        gamma = 1.0 + _distance(points, positions) ** -alpha
    return Plane(points, rho, gamma, u.T.reshape(-1, m, m), positions)


def _distance(points: Floats, labels: Floats) -> Floats:
    gaps = points[..., None, :] - labels
    return np.asarray(np.sqrt((gaps**2).sum(axis=-1)).min(axis=-1))
