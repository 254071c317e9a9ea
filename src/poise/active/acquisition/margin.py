"""Smallest margin."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from poise.active.acquisition.registry import acquisitions
from poise.active.snapshot import Snapshot
from poise.arrays import Floats
from poise.models.rows import first_minus_second


@acquisitions.register("margin")
@dataclass(frozen=True)
class Margin:
    """Smallest difference of the two largest scores first: refines, does not explore.

    ``-(u_(1)(x) - u_(2)(x))``; a class not seen yet counts as score 0. The paper's "SM" is this
    with ``tau=0``. Costs the same solves as `norm`.
    """

    needs: ClassVar[str] = "scores of two classes"
    cost: ClassVar[str] = "one Poisson solve, one column per class"
    use: ClassVar[str] = "to sharpen boundaries once every cluster is known"

    def __call__(self, snapshot: Snapshot) -> Floats:
        return -margins(snapshot.scores)


def margins(scores: Floats) -> Floats:
    """(n,) first minus second score; a class that has no label counts as score 0."""
    if scores.shape[1] < 2:
        return np.asarray(scores.sum(axis=1))
    return first_minus_second(scores)
