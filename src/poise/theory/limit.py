"""From graphs to the continuum: solutions on random geometric graphs and of the equation.

Points are drawn from a density on the unit square and connected within a distance epsilon. As their
number n grows,

    sum_j w_ij gamma_i gamma_j (u_i - u_j) ~ -n epsilon^4 sigma/2 rho^-1 div(gamma^2 rho^2 grad u)

with ``sigma = int eta(|z|) z_1^2 dz`` of the kernel eta; the continuum's gamma is the *square* of
the graph's. So ``tau n epsilon^4 sigma/2`` is the graph's tau for the continuum's tau. Without
gamma the solution degenerates: a label is one node of n, too weakly connected to sustain a
solution, and its influence vanishes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import RegularGridInterpolator

from poise import epsilon_graph
from poise.arrays import Floats
from poise.models.harmonic import spread
from poise.theory.plane import Plane, PlaneDensity, solve_plane

#: eta(t) = exp(-4 t^2) for t <= 1, and its second moment over the unit disc.
SIGMA = float(np.pi * (1 - 5 * np.exp(-4)) / 32)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Errors for graphs of increasing size: root mean square over the points.

    Attributes
    ----------
    sizes : (k,) numbers of points
    reweighted, plain : (k, trials) errors with the weight gamma, and without
    """

    sizes: tuple[int, ...]
    reweighted: Floats
    plain: Floats

    @property
    def slopes(self) -> tuple[float, float]:
        """Slopes of log error over log n, by least squares: with gamma, and without."""
        x = np.log(self.sizes)
        return tuple(  # type: ignore[return-value]
            float(np.polyfit(x, np.log(errors.mean(axis=1)), 1)[0])
            for errors in (self.reweighted, self.plain)
        )


def compare(
    density: PlaneDensity,
    labels: Sequence[tuple[float, float]],
    classes: Sequence[int],
    *,
    tau: float = 1.0,
    alpha: float = 1.0,
    sizes: Sequence[int] = (1_000, 2_000, 4_000, 8_000),
    trials: int = 3,
    cells: int = 240,
    seed: int = 0,
) -> Comparison:
    """Errors of the graphs' solutions for class 0, at their points, from the continuum's."""
    plane = solve_plane(labels, classes, density, tau, alpha, cells=cells)
    errors = np.empty((2, len(sizes), trials))
    for i, n in enumerate(sizes):
        for trial in range(trials):
            rng = np.random.default_rng([seed, n, trial])
            errors[:, i, trial] = _errors(plane, density, classes, tau, alpha, n, rng)
    return Comparison(tuple(sizes), *errors)


def sample(density: PlaneDensity, n: int, rng: np.random.Generator) -> Floats:
    """(n, 2) points of the unit square drawn from a density, by rejection."""
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 201)] * 2), axis=-1)
    top = 1.05 * float(density(grid).max())
    kept: list[Floats] = []
    while sum(map(len, kept)) < n:
        drawn = rng.random((2 * n, 2))
        kept.append(drawn[rng.random(2 * n) * top < density(drawn)])
    return np.concatenate(kept)[:n]


def _errors(
    plane: Plane,
    density: PlaneDensity,
    classes: Sequence[int],
    tau: float,
    alpha: float,
    n: int,
    rng: np.random.Generator,
) -> tuple[float, float]:
    m = len(plane.labels)
    X = np.concatenate([plane.labels, sample(density, n - m, rng)])
    # Barely large enough for a connected graph: the error is then about that of epsilon.
    epsilon = 1.5 * np.sqrt(np.log(n) / n)
    graph = epsilon_graph(X, epsilon)
    nearest = np.sqrt(((X[:, None] - plane.labels) ** 2).sum(axis=-1)).min(axis=1)
    # The weight is nearly infinite at a label, so that one node of n can sustain a solution.
    gamma = np.sqrt(1 + np.maximum(nearest, 1e-6) ** -alpha)
    mean = float(density(plane.points).mean())  # the points' density integrates to one
    graph_tau = tau * n * epsilon**4 * SIGMA / 2 / mean
    codes = np.asarray(classes)
    sources = [np.flatnonzero(codes == c) for c in range(codes.max() + 1)]
    axis = plane.points[:, 0, 0]
    exact = RegularGridInterpolator((axis, axis), plane.u[0])(np.clip(X, 0, 1))
    solutions = [
        spread(graph, weight[:, None], [graph_tau], [sources])[0][:, 0]
        for weight in (gamma, np.ones(n))
    ]
    with_gamma, without = (float(np.sqrt(np.mean((u - exact) ** 2))) for u in solutions)
    return with_gamma, without
