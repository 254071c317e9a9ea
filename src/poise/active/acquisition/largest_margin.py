"""Largest margin."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from poise.active.acquisition.registry import acquisitions
from poise.active.snapshot import Snapshot
from poise.arrays import Floats


@acquisitions.register("largest-margin")
@dataclass(frozen=True)
class LargestMargin:
    """Smallest difference of the largest and the smallest score first.

    ``-(max_c u_c(x) - min_c u_c(x))``, the order of GraphLearning's "largest_margin" (B. Settles,
    Active Learning, 2012, section 2.3, has only the margin of the two best). With two classes it
    is `margin`; with many some score is nearly 0, and it is the size of the largest one, which at
    ``tau > 0`` explores as `norm` does.

    With fewer than two classes the smallest score goes first, as for `margin`. Costs the same
    solves as `norm`.
    """

    needs: ClassVar[str] = "scores of two classes"
    cost: ClassVar[str] = "one Poisson solve, one column per class"
    use: ClassVar[str] = "to compare with GraphLearning"

    def __call__(self, snapshot: Snapshot) -> Floats:
        scores = snapshot.scores
        if scores.shape[1] < 2:
            return np.asarray(-scores.sum(axis=1))
        return np.asarray(scores.min(axis=1) - scores.max(axis=1))
