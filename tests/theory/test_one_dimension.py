"""The propositions on many draws inside their hypotheses, and counter-examples outside."""

import numpy as np
import pytest

from poise.errors import HypothesisError
from poise.theory import (
    constant_density,
    exploitation_default,
    exploration_requirement,
    exploration_root,
)

DRAWS = 5_000
#: Of which so many at least lie inside the hypotheses.
INSIDE = 1_000


def draws(largest_beta: float):
    rng = np.random.default_rng(0)
    for _ in range(DRAWS):
        length, rho, tau = np.exp(rng.uniform(-4, 4, 3))
        yield float(length), float(rng.uniform(0, largest_beta)), float(rho), float(tau)


def test_the_root():
    for beta in np.linspace(0, 1 / np.sqrt(2), 50):
        t = exploration_root(float(beta))
        assert np.cosh(t) == pytest.approx(np.sqrt(2) * np.cosh(beta * t), rel=1e-12)
    assert exploration_root(0.0) == pytest.approx(np.arccosh(np.sqrt(2)))


def test_exploration_is_decided_by_the_requirement():
    """It is an equivalence: the condition fails exactly where the conclusion does."""
    held = 0
    for length, beta, rho, tau in draws(1 / np.sqrt(2)):
        found = exploration_requirement(length, beta, rho, tau)
        assert found.holds == found.concluded
        assert (found.slack > 0) == found.concluded
        held += found.holds
    assert held >= INSIDE
    assert DRAWS - held >= INSIDE


def test_exploitation_follows_from_a_small_tau():
    held = 0
    for length, beta, rho, tau in draws(5.0):
        found = exploitation_default(length, beta or 1.0, rho, tau)
        if found.holds:
            assert found.concluded
            held += 1
    assert held >= INSIDE


def test_the_converse_of_the_default_fails():
    """A larger tau may still exploit: the bound is sufficient, not necessary."""
    found = exploitation_default(1.0, 0.5, 1.0, 2.5)
    assert not found.holds
    assert found.concluded


def test_minima_are_those_of_the_solutions():
    found = exploration_requirement(3.0, 0.4, 0.7, 2.0)
    similar = constant_density(3.0, 0.7, 2.0, (0, 0)).minimum[1]
    opposite = constant_density(1.2, 0.7, 2.0, (0, 1)).minimum[1]
    assert found.smaller == pytest.approx(similar, rel=1e-6)
    assert found.larger == pytest.approx(opposite, rel=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1.0, 0.8, 1.0, 1.0), "0 <= beta <= 1/sqrt"),
        ((-1.0, 0.5, 1.0, 1.0), "R_s > 0"),
        ((1.0, 0.5, 0.0, 1.0), "the density is positive"),
        ((1.0, 0.5, 1.0, -1.0), "tau >= 0"),
    ],
)
def test_outside_the_hypotheses(arguments, message):
    with pytest.raises(HypothesisError, match=message):
        exploration_requirement(*arguments)
