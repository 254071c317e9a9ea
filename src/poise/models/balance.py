"""Balancing classes: no label takes most of the pool because of its position.

With few labels, which class gets most of the nodes depends on where its labels happen to lie: one
label at a hub outweighs five at the edge. Dividing each class's scores by the root of their mean
takes half of that difference away, and no class prior has to be known. On the tuning sets it is
never behind plain PWLL (docs/decisions/predictor.md).
"""

from dataclasses import replace

import numpy as np

from poise.arrays import Floats
from poise.models.result import ScoreResult

#: Share of the difference between the classes' masses that is removed: 0 none, 1 all.
POWER = 0.5


def balance_factors(scores: Floats) -> Floats:
    """(C,) factors of the classes' scores: ``mean(u_c)^-POWER``, scaled so that the smallest is 1.

    Scores are non-negative; a class that has none keeps none.

    References
    ----------
    X. Zhu, Z. Ghahramani and J. Lafferty, "Semi-supervised learning using Gaussian fields and
    harmonic functions", 2003: class mass normalisation, which takes all of the difference away.
    """
    return factors_of_mass(scores.mean(axis=0) if len(scores) else np.zeros(scores.shape[1]))


def factors_of_mass(mass: Floats) -> Floats:
    """(C,) the factors of classes whose scores have these means."""
    largest = mass.max(initial=0.0)
    seen = mass > 0
    return np.where(seen, (np.where(seen, mass, 1.0) / (largest or 1.0)) ** -POWER, 0.0)


def balanced(result: ScoreResult) -> ScoreResult:
    """The result with balanced scores; labelled nodes keep their classes."""
    return replace(result, scores=result.scores * balance_factors(result.scores))
