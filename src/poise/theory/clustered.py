"""Both theorems on random clustered densities in the plane: bounds and true values.

There are three round clusters, two of them labelled at their centres. The bounds are evaluated
where they are tightest: for the cluster without a label, tau is the smallest that the first theorem
allows; around the labels, r and tau are the largest that the second allows.
"""

import math
from dataclasses import dataclass

import numpy as np

from poise.arrays import Floats
from poise.theory.plane import PlaneDensity, solve_plane
from poise.theory.statement import Bound
from poise.theory.theorems import explore_labels, explore_new_cluster

CENTRES = np.array([[0.2, 0.2], [0.8, 0.2], [0.5, 0.8]])
CLASSES = (0, 1)
#: Radius of the cluster without a label, and half the thickness of its surroundings.
RADIUS, SHELL = 0.08, 0.08
#: The solution in the plane does not distinguish smaller values from 0.
RESOLVED = 1e-11
#: Distance from the labels within which the density is evaluated, and the classes' separation.
NEAR, SEPARATION = 0.2, 0.5


@dataclass(frozen=True)
class Clustered:
    """The bounds of both theorems for one density, and the true values.

    Attributes
    ----------
    cluster, largest : the first theorem, and the largest A on the cluster without a label
    labels, smallest : the second theorem, and the smallest A within r of the labels
    """

    cluster: Bound
    largest: float
    labels: Bound
    smallest: float

    @property
    def exponents(self) -> float:
        """Lower bound of the true exponent over the bound's: A decays so many times faster."""
        return math.log(max(self.largest, RESOLVED)) / math.log(self.cluster.bound)


def clustered(rng: np.random.Generator, *, cells: int = 160) -> Clustered:
    """Draw a density, and check both theorems on it by two solutions in the plane."""
    centres = CENTRES + rng.uniform(-0.03, 0.03, CENTRES.shape)
    width, background = float(rng.uniform(0.05, 0.07)), float(rng.uniform(0.02, 0.1))
    density = clouds(centres, width, background)
    alpha = float(rng.uniform(0.5, 2.0))
    labelled = [(float(x), float(y)) for x, y in centres[:2]]
    flat = solve_plane(labelled, CLASSES, density, 0.0, alpha, cells=cells // 2)

    away = np.linalg.norm(flat.points - centres[2], axis=-1)
    shell = (away >= RADIUS) & (away <= RADIUS + 2 * SHELL)
    R = float(np.linalg.norm(flat.labels - centres[2], axis=-1).min()) - RADIUS - 2 * SHELL

    def cluster(tau: float) -> Bound:
        return explore_new_cluster(
            tau=tau,
            delta=float(flat.density[shell].max()),
            s=SHELL,
            R=R,
            alpha=alpha,
            d=2,
            roughness=float(flat.roughness[shell].max()),
            classes=2,
        )

    tau = 1.01 * float(flat.density[shell].max()) * cluster(1.0).right ** 2
    plane = solve_plane(labelled, CLASSES, density, tau, alpha, cells=cells)
    away = np.linalg.norm(plane.points - centres[2], axis=-1)
    first, largest = cluster(tau), float(plane.acquisition[away <= RADIUS].max())

    near = flat.distance <= NEAR

    def around(tau: float, r: float) -> list[Bound]:
        return explore_labels(
            tau=tau,
            r=r,
            density=float(flat.density[near].min()),
            alpha=alpha,
            d=2,
            roughness=float(flat.roughness[near].max()),
            separation=SEPARATION,
        )

    r = 0.09
    while not all(condition.holds for condition in around(0.0, r)):
        r *= 0.9
    tau = 0.99 * alpha**2 * float(flat.density[near].min()) / 36 / r**2
    plane = solve_plane(labelled, CLASSES, density, tau, alpha, cells=cells)
    conditions = around(tau, r)
    worst = min(conditions, key=lambda condition: condition.left - condition.right)
    return Clustered(first, largest, worst, float(plane.acquisition[plane.distance <= r].min()))


def clouds(centres: Floats, width: float, background: float) -> PlaneDensity:
    """Gaussian clouds of one width on a flat background."""

    def density(x: Floats) -> Floats:
        gaps = ((x[..., None, :] - centres) ** 2).sum(axis=-1)
        return np.asarray(background + np.exp(-gaps / (2 * width**2)).sum(axis=-1))

    return density
