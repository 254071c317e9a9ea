"""Entropy of the class probabilities."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import entr

from poise.active.acquisition.probabilities import OfProbabilities
from poise.active.acquisition.registry import acquisitions
from poise.arrays import Floats


@acquisitions.register("entropy")
@dataclass(frozen=True)
class Entropy(OfProbabilities):
    """Largest entropy of the class probabilities first: refines, does not explore.

    ``-sum_c p_c(x) ln p_c(x)`` with ``p = u / sum_c u_c``, see `class_probabilities` (B. Settles,
    Active Learning, 2012, section 2.3). GraphLearning's "entropy" is something else: it takes a
    softmax of scores in [0, 1], nearly flat, and adds the largest probability, which grows faster
    than the entropy falls; with two classes it asks for the surest nodes first.

    With fewer than two classes seen the smallest score goes first, as for `margin`. Costs the
    same solves as `norm`.
    """

    #: Values are sums of numbers of order 1: tighter solves choose the same questions.
    rtol: ClassVar[float] = 1e-5
    use: ClassVar[str] = "where several classes meet, once every cluster is known"

    def uncertainty(self, probabilities: Floats) -> Floats:
        return np.asarray(entr(probabilities).sum(axis=1))
