"""Least confidence."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from poise.active.acquisition.probabilities import OfProbabilities
from poise.active.acquisition.registry import acquisitions
from poise.arrays import Floats


@acquisitions.register("least-confidence")
@dataclass(frozen=True)
class LeastConfidence(OfProbabilities):
    """Least probable best class first: refines, does not explore.

    ``1 - max_c p_c(x)`` with ``p = u / sum_c u_c``, see `class_probabilities` (B. Settles, Active
    Learning, 2012, section 2.3). GraphLearning's "least_confidence" is ``1 - max_c u_c(x)``: the
    same at ``tau=0``, where scores sum to one; at ``tau > 0`` far nodes have small scores and it
    explores as `norm` does, while this one sees only their proportions.

    With fewer than two classes seen the smallest score goes first, as for `margin`. Costs the
    same solves as `norm`.
    """

    #: Values are numbers of order 1: tighter solves choose the same questions.
    rtol: ClassVar[float] = 1e-5
    use: ClassVar[str] = "to sharpen predictions once every cluster is known"

    def uncertainty(self, probabilities: Floats) -> Floats:
        return np.asarray(1.0 - probabilities.max(axis=1))
