"""The continuum equation in one dimension, between labelled points.

On an interval of length R between two labelled points, each class's solution satisfies

    tau u - rho^-1 (rho^2 u')' = 0        (paper, eq. rw_lap_continuum without gamma)

with the value 1 at end points of the class and 0 at others. The acquisition function of the
minimum norm is ``A = sqrt(u_0^2 + u_1^2)``: ``A_o`` between points of different classes, ``A_s``
between points of one. (The supplement writes ``(rho u')'`` in places; its solutions and the
continuum limit need rho squared.)
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solveh_banded

from poise.arrays import Floats
from poise.theory.statement import finite, require

#: Positions -> density, positive.
Density = Callable[[Floats], Floats]


@dataclass(frozen=True, eq=False)
class Interval:
    """Solutions between two labelled points.

    Attributes
    ----------
    x : (m,) positions, the end points first and last
    u : (2, m) solutions for the classes 0 and 1
    labels : classes of the end points
    """

    x: Floats
    u: Floats
    labels: tuple[int, int]

    @property
    def acquisition(self) -> Floats:
        """(m,) ``A(x) = sqrt(u_0^2 + u_1^2)``."""
        return np.asarray(np.hypot(*self.u))

    @property
    def minimum(self) -> tuple[float, float]:
        """Position and value of the minimum of A, by a parabola through the three lowest nodes."""
        A = self.acquisition
        i = int(np.argmin(A))
        if i in (0, len(A) - 1):
            return float(self.x[i]), float(A[i])
        h = self.x[i + 1] - self.x[i]
        slope, bend = (A[i + 1] - A[i - 1]) / 2, A[i + 1] - 2 * A[i] + A[i - 1]
        shift = -slope / bend if bend > 0 else 0.0
        return float(self.x[i] + shift * h), float(A[i] + shift * slope / 2)


def solve_interval(
    length: float,
    density: Density,
    tau: float,
    labels: tuple[int, int] = (0, 1),
    *,
    cells: int = 2_000,
    start: float = 0.0,
) -> Interval:
    """Solve between two labelled points, at `start` and ``start + length``.

    Finite volumes on a uniform grid: fluxes ``rho^2 u'`` between cells, with rho at the middle of
    each face, balance ``tau rho u`` in each cell. The reaction term is fitted,

        tau rho h  ->  tau rho h (sinh(z) / z)^2,    z = h/2 sqrt(tau / rho),

    which makes the scheme exact at the nodes for a constant density, and keeps second order for
    other densities.

    Parameters
    ----------
    density : positions -> density, positive and finite
    tau : float >= 0
    labels : classes, 0 or 1, of the left and the right end point
    """
    require(finite(length) and length > 0, "length > 0", "length", length)
    require(finite(tau) and tau >= 0, "tau >= 0", "tau", tau)
    require(cells >= 2, "at least 2 cells", "cells", cells)
    for label in labels:
        require(label in (0, 1), "classes are 0 and 1", "a label", label)
    x = start + np.linspace(0.0, length, cells + 1)
    h = length / cells
    faces = checked_density(density, (x[1:] + x[:-1]) / 2) ** 2
    inside = checked_density(density, x[1:-1])
    z = h / 2 * np.sqrt(tau / inside)
    reaction = tau * inside * h**2 * np.where(z > 1e-8, np.sinh(z) / np.maximum(z, 1e-8), 1.0) ** 2
    banded = np.zeros((2, cells - 1))
    banded[1] = faces[1:] + faces[:-1] + reaction
    banded[0, 1:] = -faces[1:-1]
    u = np.zeros((2, cells + 1))
    for c in (0, 1):
        u[c, 0], u[c, -1] = labels[0] == c, labels[1] == c
        rhs = np.zeros(cells - 1)
        rhs[0] += faces[0] * u[c, 0]
        rhs[-1] += faces[-1] * u[c, -1]
        if rhs.any():
            u[c, 1:-1] = solveh_banded(banded, rhs)
    return Interval(x, u, labels)


def solve_line(
    points: Sequence[float],
    labels: Sequence[int],
    density: Density,
    tau: float,
    *,
    cells: int = 2_000,
) -> list[Interval]:
    """Solve between each pair of neighbouring labelled points on a line."""
    require(len(points) == len(labels) >= 2, "two labelled points or more", "points", len(points))
    places = np.asarray(points, dtype=np.float64)
    require(bool(np.all(np.diff(places) > 0)), "labelled points ascend", "points", places.tolist())
    return [
        solve_interval(
            float(right - left), density, tau, (first, second), cells=cells, start=float(left)
        )
        for left, right, first, second in zip(
            places[:-1], places[1:], labels[:-1], labels[1:], strict=True
        )
    ]


def constant_density(
    length: float,
    rho: float,
    tau: float,
    labels: tuple[int, int] = (0, 1),
    *,
    cells: int = 2_000,
) -> Interval:
    """The solution for a constant density in closed form, ``a = sqrt(tau / rho)`` (supplement).

    Opposite labels: ``sinh(a (R - x)) / sinh(a R)`` and ``sinh(a x) / sinh(a R)``. Equal labels:
    ``cosh(a (R/2 - x)) / cosh(a R/2)`` and 0. Computed with decaying exponentials, so that no
    argument is too large.
    """
    require(finite(length) and length > 0, "length > 0", "length", length)
    require(finite(rho) and rho > 0, "the density is positive and finite", "rho", rho)
    require(finite(tau) and tau >= 0, "tau >= 0", "tau", tau)
    x = np.linspace(0.0, length, cells + 1)
    a = np.sqrt(tau / rho)
    u = np.zeros((2, cells + 1))
    u[labels[0]] += _one_sided(x, a, length)
    u[labels[1]] += _one_sided(length - x, a, length)
    return Interval(x, u, labels)


def _one_sided(x: Floats, a: float, length: float) -> Floats:
    """``sinh(a (R - x)) / sinh(a R)``, its limit ``1 - x/R`` for a = 0."""
    if a * length < 1e-8:
        return np.asarray(1.0 - x / length)
    return np.asarray(np.exp(-a * x) * np.expm1(-2 * a * (length - x)) / np.expm1(-2 * a * length))


def checked_density(density: Density, x: Floats, shape: tuple[int, ...] | None = None) -> Floats:
    """The density at `x`, checked to be positive and finite.

    Its shape is that of `x` by default; positions in the plane have one more axis.
    """
    values = np.asarray(density(x), dtype=np.float64)
    values = np.broadcast_to(values, x.shape if shape is None else shape)
    good = np.isfinite(values) & (values > 0)
    worst = 1.0 if good.all() else float(values[~good][0])
    require(bool(good.all()), "the density is positive and finite", "the density", worst)
    return values
