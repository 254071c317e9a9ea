"""Radially symmetric solutions of the continuum equation in d dimensions.

    tau u - rho^-1 div(gamma rho^2 grad u) = 0   on a ball,

for rho and gamma that depend on the distance x to the centre alone:
``(x^(d-1) gamma rho^2 u')' = tau rho x^(d-1) u``. The comparison lemmas behind the theorems are
local statements on balls, and the radial solution with the extreme boundary values is the worst
case that can be computed quickly and precisely.
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg import solveh_banded

from poise.arrays import Floats
from poise.theory.interval import Density, checked_density
from poise.theory.statement import finite, require

#: Nodes and weights of a quadrature that is exact for polynomials of degree 7, on (0, 1).
_nodes, _weights = np.polynomial.legendre.leggauss(4)
_nodes, _weights = (_nodes + 1) / 2, _weights / 2


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
        A label of value 1 at the centre, with ``gamma = 1 + x^-alpha``; without it the solution is
        regular there.
    gamma : distances -> weight, optional
        The weight where there is no label; 1 by default.
    outer : float
        The value at distance `radius`.

    Returns
    -------
    (cells + 1,) distances, and the solution there.

    Notes
    -----
    Finite volumes: between neighbouring nodes the flux is their difference over the resistance
    ``int dx / (x^(d-1) gamma rho^2)``, and both integrals, that one and ``int tau rho x^(d-1) dx``
    of each cell, are by quadrature, on a grid graded towards a label so that the resistance there,
    ``x^(alpha + 2 - d)``, is resolved. Second order.
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

    t = np.linspace(0.0, 1.0, cells + 1)
    x = radius * t**grading

    def integral(values: Callable[[Floats], Floats], left: Floats, right: Floats) -> Floats:
        """Of a function of the distance, between parameters `left` and `right` of the grid."""
        at = left[:, None] + (right - left)[:, None] * _nodes
        places = radius * at**grading
        stretch = radius * grading * at ** (grading - 1)
        return np.asarray((values(places) * stretch) @ _weights * (right - left))

    def resistance(places: Floats) -> Floats:
        rho = checked_density(density, places)
        return np.asarray(1.0 / (places ** (d - 1) * weight(places) * rho**2))

    def mass(places: Floats) -> Floats:
        return np.asarray(tau * checked_density(density, places) * places ** (d - 1))

    middles = (t[1:] + t[:-1]) / 2
    first = 1 if alpha is not None else 0  # the first unknown node
    if alpha is None:
        # No flux comes from the centre; its resistance may be infinite, and is not needed there.
        conductance = np.empty(cells)
        conductance[1:] = 1.0 / integral(resistance, t[1:-1], t[2:])
        half = np.array([radius * middles[0] ** grading])
        conductance[0] = half[0] ** (d - 1) * weight(half)[0]
        conductance[0] *= checked_density(density, half)[0] ** 2 / x[1]
    else:
        conductance = 1.0 / integral(resistance, t[:-1], t[1:])
    edges = np.concatenate([[0.0], middles])[first:]
    content = integral(mass, edges[:-1], edges[1:])
    u = np.empty(cells + 1)
    u[-1] = outer
    if alpha is not None:
        u[0] = 1.0
    unknown = slice(first, cells)
    n = cells - first
    before = np.concatenate([[0.0], conductance])[first : first + n]
    after = conductance[first : first + n]
    banded = np.zeros((2, n))
    banded[1] = before + after + content
    banded[0, 1:] = -after[:-1]
    rhs = np.zeros(n)
    rhs[-1] += after[-1] * outer
    if alpha is not None:
        rhs[0] += before[0]
    u[unknown] = solveh_banded(banded, rhs)
    return x, u
