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
    paper_proposition,
    similar_upper_bound,
    simplified,
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
    """Both bounds hold always, the conclusion on a thousand draws that satisfy the condition."""
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


def test_the_simplified_condition_is_sufficient_on_many_draws():
    """A thousand draws on which it holds; it is stronger than the condition it follows from."""
    rng = np.random.default_rng(1)
    drawn = held = 0
    while held < DRAWS:
        R_s, tau = (float(value) for value in np.exp(rng.uniform(1, 5, 2)))
        R_o = float(rng.uniform(0.005, 0.05)) * R_s
        similar = waves(rng, R_s, True, rng.uniform(-6, -2))
        opposite = waves(rng, R_o, False, rng.uniform(-1, 2))
        delta = float(np.quantile(similar(np.linspace(0, R_s, 101)), rng.uniform(0.3, 1.0)))
        given = ((R_s, similar), (R_o, opposite), tau, delta)
        found = simplified(*given, cells=400)
        drawn += 1
        if found.holds:
            assert found.concluded
            assert symmetric_density(*given, cells=400).holds
            held += 1
    assert drawn > held


def test_the_papers_simplified_condition_fails():
    """Constant densities 1 and 0.05, R_s = 10, R_o = 2: it holds, and the opposite is true."""
    R_s, R_o, tau, rho_o = 10.0, 2.0, 0.01, 0.05
    similar, opposite = np.ones_like, lambda x: np.full_like(x, rho_o)
    left, right = paper_condition(R_s, R_o / R_s, low_density(R_s, similar, 1.0), rho_o, tau)
    found = simplified((R_s, similar), (R_o, opposite), tau, 1.0)
    assert left > right
    assert found.smaller == pytest.approx(0.887, abs=1e-3)
    assert found.larger == pytest.approx(0.642, abs=1e-3)
    assert not found.holds
    assert not found.concluded


def test_the_papers_full_proposition_is_not_violated():
    """Its proof is wrong; if all its hypotheses hold, its conclusion is true on every draw."""
    rng = np.random.default_rng(2)
    for _ in range(DRAWS):
        delta, stretch = (float(value) for value in np.exp(rng.uniform([-2, 0], [2, 1.5])))
        R_s = math.sqrt(4 * math.log(2)) * stretch
        R_o = float(rng.uniform(0.01, 1 / (2 * math.sqrt(2)))) * R_s
        rho_o = delta * float(rng.uniform(16, 32))
        tau = float(np.exp(rng.uniform(math.log(16 * delta), math.log(rho_o**2 / (16 * delta)))))
        first = float(rng.uniform(0, R_s / 8))
        low, high = delta * rng.uniform(0.2, 1), delta * float(np.exp(rng.uniform(0.5, 4)))
        rise = float(rng.uniform(0, 5))

        def similar(x, R=R_s, first=first, low=low, high=high):
            y = np.minimum(x, R - x)
            return np.where((y >= first) & (y <= first + 3 / 8 * R), low, high)

        def opposite(x, R=R_o, rho=rho_o, rise=rise):
            return rho * (1 + rise * np.maximum(np.abs(2 * x / R - 1) - 0.5, 0.0) ** 2)

        found = paper_proposition(
            (R_s, similar), (R_o, opposite), tau, delta, 0.26 * R_o, cells=600
        )
        assert all(one.holds for one in found), [one for one in found if not one.holds]
        assert found[0].concluded


def test_outside_the_papers_hypotheses_its_conclusion_fails():
    """A tau below the range of both: neither condition holds."""
    similar, opposite = np.ones_like, lambda x: np.full_like(x, 20.0)
    found = paper_proposition((2.0, similar), (0.5, opposite), 0.1, 1.0, 0.1)
    broken = {one.condition for one in found if not one.holds}
    assert broken == {"alpha(delta) = 3/4, to 1 per cent", "tau >= 16 delta"}
    assert not found[0].concluded


def test_the_papers_supersolution_fails():
    """Constant density, a = 4, r = 2: the claimed value is below the solution."""
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
        (
            lambda: paper_proposition((1.0, np.ones_like), (0.2, np.ones_like), 1.0, 1.0, 0.1),
            "epsilon",
        ),
        (lambda: paper_condition(1.0, 0.5, LowDensity(1.0, (1.0,), 1.0, 0.0), 1.0, 1.0), "1/4"),
    ],
)
def test_outside_the_hypotheses(call, message):
    with pytest.raises(HypothesisError, match=message):
        call()
