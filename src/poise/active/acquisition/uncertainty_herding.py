"""Uncertainty herding: kernel coverage of what the model is unsure about."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from poise.active.acquisition.herd import Herd, Herding
from poise.active.acquisition.margin import margins
from poise.active.acquisition.probabilities import class_probabilities, classes_seen
from poise.active.acquisition.registry import acquisitions
from poise.active.snapshot import Snapshot
from poise.arrays import Floats


@acquisitions.register("uncertainty-herding")
@dataclass(frozen=True)
class UncertaintyHerding(Herding):
    """The point that adds most to the coverage of uncertain points first: `maxherding`, weighted.

    With U(x) one minus the margin between the two largest class probabilities at x, S the
    constrained nodes and ``k(x, z) = exp(-d(x, z)^2 / sigma^2)``, the value of z is

        sum over x of U(x) max(k(x, z) - max over s in S of k(x, s), 0) / sum over x of U(x).

    While the model is unsure of everything this is `maxherding`. The kernel narrows as labels come
    closer together, to the median distance from a constrained node to the nearest other: in the
    end a node covers only itself, and the value is its uncertainty.

    The paper narrows the kernel to the smallest of these distances, which two labels close to each
    other by chance make tiny. It also chooses a temperature for the probabilities by the
    calibration error on held-out labels; here they are used as they are, because every label is a
    constraint of the model and none is held out. With scores of fewer than two classes every U
    is 1. The sample, the metric and what is kept are those of `maxherding`.

    Parameters
    ----------
    sigma : float, optional
        Largest width of the kernel in the units of the metric; by default that of `maxherding`.
    sample : int
        Nodes looked at.

    References
    ----------
    W. Bae, G. L. Oliveira and D. J. Sutherland, "Uncertainty herding: one active learning method
    for all label budgets", 2025.
    """

    needs: ClassVar[str] = "scores, and features or eigenpairs"
    cost: ClassVar[str] = "one Poisson solve, one pass over the kernel of 4,000 nodes"
    use: ClassVar[str] = "to cover first and to refine later, without a schedule"

    def __call__(self, snapshot: Snapshot) -> Floats:
        herd: Herd = snapshot.memory
        uncertain: Floats = np.ones(len(herd.nodes))
        if classes_seen(snapshot.scores) >= 2:
            uncertain = 1.0 - margins(class_probabilities(snapshot.scores[herd.nodes]))
        return herd.narrowing_gains(uncertain, snapshot.candidates, snapshot.rng)
