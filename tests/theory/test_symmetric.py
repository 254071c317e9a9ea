"""Varying densities in one dimension: the corrected bounds on many draws, the paper's slips."""

import math

import numpy as np
import pytest

from poise.errors import HypothesisError
from poise.theory import (
    LowDensity,
    low_density,
    opposite_lower_bound,
    paper_condition,
    similar_upper_bound,
    solve_interval,
    symmetric_density,
)

DRAWS = 1_000


def waves(rng, length, symmetric, level):
    """A smooth density on (0, length), exp(level) times a random sum of cosines in the exponent."""
    k = np.arange(1, 5)
    amplitudes = 0.5 * rng.normal(size=4) / k
    shifts = np.zeros(4) if symmetric else rng.uniform(0, 2 * np.pi, 4)
    turns = 2 * np.pi if symmetric else np.pi

    def density(x):
        x = np.asarray(x)
        phase = turns * k * x[..., None] / length + shifts
        return np.exp(level + (amplitudes * np.cos(phase)).sum(axis=-1))

    return density


def test_the_bounds_hold_on_many_draws():
    """Both bounds always, and the conclusion on a thousand draws on which the condition holds."""
    rng = np.random.default_rng(0)
    drawn = held = concluded = 0
    while held < DRAWS:
        R_s, tau = (float(value) for value in np.exp(rng.uniform(0, 3, 2)))
        R_o = float(rng.uniform(0.01, 0.2)) * R_s
        similar = waves(rng, R_s, True, rng.uniform(-6, 0))
        opposite = waves(rng, R_o, False, rng.uniform(-1, 2))
        delta = float(np.quantile(similar(np.linspace(0, R_s, 101)), rng.uniform(0.3, 1.0)))
        found = symmetric_density((R_s, similar), (R_o, opposite), tau, delta, cells=400)
        low = low_density(R_s, similar, delta)
        assert found.smaller <= similar_upper_bound(low, tau) * (1 + 1e-3)
        assert found.larger >= opposite_lower_bound(R_o, opposite, tau) * (1 - 1e-3)
        if found.holds:
            assert found.concluded
            held += 1
        concluded += found.concluded
        drawn += 1
    assert concluded > held, "sufficient, not necessary"
    assert drawn > concluded, "and neither always true"


def test_the_papers_supersolution_fails():
    """Constant density, a = 4, r = 2: less is claimed than is left."""
    tau, delta, r = 16.0, 1.0, 2.0
    left = solve_interval(2 * r, np.ones_like, tau, (0, 0)).minimum[1]
    assert left == pytest.approx(1 / math.cosh(8), rel=1e-6)
    claimed = math.exp(-math.sqrt(tau / delta) * r**2)
    assert claimed == pytest.approx(1.1e-7, rel=0.05)
    assert claimed < left / 1_000
    # The corrected decay is a bound, on the half interval (0, r) as the proof uses it.
    low = LowDensity(delta, (r,), 1.0, 0.0)
    assert similar_upper_bound(low, tau) >= left


def test_the_papers_subsolution_fails():
    """``sinh(theta (R - x))/sinh(theta R)`` exceeds u_0 where the density ascends to the end."""
    R, tau = 1.0, 1.0
    density = lambda x: np.where(x < 0.9, 1.0, np.exp(30 * (x - 0.9)))  # noqa: E731
    found = solve_interval(R, density, tau, (0, 1), cells=8_000)
    theta = math.sqrt(tau / 0.5)  # lambda = 1/2
    phi = np.sinh(theta * (R - found.x)) / math.sinh(theta * R)
    assert (phi > found.u[0] * 1.5).any()


def test_low_intervals():
    found = low_density(8.0, lambda x: 1.5 + np.cos(np.pi * x), 1.5)
    assert found.lengths == pytest.approx((1.0, 1.0), abs=0.01)
    assert found.alpha == pytest.approx(0.5, abs=0.01)
    left, right = paper_condition(8.0, 0.25, found, 1.0, 1.0)
    assert right == 8 * math.log(2)
    assert left == pytest.approx(
        64 * (found.alpha**2 / 2 * math.sqrt(1 / 1.5) - 4 * 0.25**2), rel=1e-12
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: low_density(1.0, lambda x: 1 + x, 1.0), "symmetric about the middle"),
        (lambda: low_density(-1.0, np.ones_like, 1.0), "R_s > 0"),
        (lambda: low_density(1.0, np.ones_like, 0.0), "delta > 0"),
        (lambda: opposite_lower_bound(1.0, lambda x: -np.ones_like(x), 1.0), "positive and finite"),
        (lambda: opposite_lower_bound(1.0, np.ones_like, -1.0), "tau >= 0"),
        (lambda: paper_condition(1.0, 0.5, LowDensity(1.0, (1.0,), 1.0, 0.0), 1.0, 1.0), "1/4"),
    ],
)
def test_outside_the_hypotheses(call, message):
    with pytest.raises(HypothesisError, match=message):
        call()
