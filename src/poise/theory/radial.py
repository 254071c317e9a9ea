"""Radially symmetric solutions of the continuum equation in d dimensions.

    tau u - rho^-1 div(gamma rho^2 grad u) = 0   on a ball,

for rho and gamma that depend only on the distance x to the centre:
``(x^(d-1) gamma rho^2 u')' = tau rho x^(d-1) u``. The comparison lemmas behind the theorems are
local statements on balls. The radial solution with the extreme boundary values is the worst case,
and it can be computed quickly and precisely.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solveh_banded

from poise.arrays import Floats
from poise.theory.interval import Density, checked_density
from poise.theory.statement import finite, require

#: Nodes and weights of a quadrature that is exact for polynomials of degree 7, on (0, 1).
_nodes, _weights = np.polynomial.legendre.leggauss(4)
_nodes, _weights = (_nodes + 1) / 2, _weights / 2


@dataclass(frozen=True, eq=False)
class _Grid:
    """Nodes at the distances ``radius t^grading`` for parameters t from 0 to 1."""

    radius: float
    grading: float
    t: Floats

    def distances(self, t: Floats) -> Floats:
        return np.asarray(self.radius * t**self.grading)

    def integral(self, values: Callable[[Floats], Floats], left: Floats, right: Floats) -> Floats:
        """The integral of a function of the distance between the parameters `left` and `right`."""
        at = left[:, None] + (right - left)[:, None] * _nodes
        stretch = self.radius * self.grading * at ** (self.grading - 1)
        return np.asarray((values(self.distances(at)) * stretch) @ _weights * (right - left))


def solve_radial(
    d: int,
    radius: float,
    density: Density,
    tau: float,
    *,
    alpha: float | None = None,
    gamma: Callable[[Floats], Floats] | None = None,
    outer: float = 1.0,
    cells: int = 2_000,
) -> tuple[Floats, Floats]:
    """Distances and values on a ball, regular at the centre or with a label there.

    Parameters
    ----------
    d : int >= 1
    density : distances -> density
    alpha : float > d - 2, optional
        Puts a label of value 1 at the centre, with ``gamma = 1 + x^-alpha``. Without it the
        solution is regular there.
    gamma : distances -> weight, optional
        The weight if there is no label; 1 by default.
    outer : float
        The value at distance `radius`.

    Returns
    -------
    (cells + 1,) distances, and the solution there.

    Notes
    -----
    Finite volumes: between neighbouring nodes the flux is their difference over the resistance
    ``int dx / (x^(d-1) gamma rho^2)``. A quadrature computes that integral and
    ``int tau rho x^(d-1) dx`` over each cell, on a grid graded towards a label so that it resolves
    the resistance there, ``x^(alpha + 2 - d)``. Second order.
    """
    require(d >= 1, "d >= 1", "d", d)
    require(finite(radius) and radius > 0, "the radius is positive", "radius", radius)
    require(finite(tau) and tau >= 0, "tau >= 0", "tau", tau)
    grading = 1.0
    if alpha is not None:
        require(finite(alpha) and alpha > d - 2, "alpha > d - 2", "alpha", alpha)
        grading = max(1.0, 2.0 / (alpha + 2 - d))

    def weight(x: Floats) -> Floats:
        if alpha is not None:
            return np.asarray(1.0 + x**-alpha)
        return np.ones_like(x) if gamma is None else np.asarray(gamma(x))

    def flow(x: Floats, length: Floats | float = 1.0) -> Floats:
        """Conductance of a piece of that length at the distance `x`."""
        return np.asarray(x ** (d - 1) * weight(x) * (checked_density(density, x) ** 2 / length))

    def mass(x: Floats) -> Floats:
        return np.asarray(tau * checked_density(density, x) * x ** (d - 1))

    grid = _Grid(radius, grading, np.linspace(0.0, 1.0, cells + 1))
    x = grid.distances(grid.t)
    middles = (grid.t[1:] + grid.t[:-1]) / 2
    labelled = alpha is not None
    first = int(labelled)  # the first unknown node
    edges = np.concatenate([[0.0], middles])[first:]
    content = grid.integral(mass, edges[:-1], edges[1:])
    u = np.empty(cells + 1)
    u[-1] = outer
    if labelled:
        u[0] = 1.0
    u[first:-1] = _between(
        _conductance(grid, flow, labelled), content, 1.0 if labelled else None, outer
    )
    return x, u


def _conductance(grid: _Grid, flow: Callable[..., Floats], labelled: bool) -> Floats:
    """(cells,) conductances between neighbouring nodes."""

    def resistance(x: Floats) -> Floats:
        return np.asarray(1.0 / flow(x))

    t = grid.t
    if labelled:
        return 1.0 / grid.integral(resistance, t[:-1], t[1:])
    # No flux comes from the centre; its resistance may be infinite, and is not needed there.
    first = flow(grid.distances((t[1:2] + t[:1]) / 2), grid.distances(t[1:2]))
    return np.concatenate([first, 1.0 / grid.integral(resistance, t[1:-1], t[2:])])


def _between(conductance: Floats, content: Floats, inner: float | None, outer: float) -> Floats:
    """Solution at the unknown nodes, from the value `inner` at the centre or without a value."""
    n = len(content)
    before = np.concatenate([[0.0], conductance])[-n - 1 : -1]
    after = conductance[-n:]
    banded = np.zeros((2, n))
    banded[1] = before + after + content
    banded[0, 1:] = -after[:-1]
    rhs = np.zeros(n)
    rhs[-1] += after[-1] * outer
    if inner is not None:
        rhs[0] += before[0] * inner
    return np.asarray(solveh_banded(banded, rhs))
