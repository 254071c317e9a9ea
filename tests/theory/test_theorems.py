"""The theorems on many radial problems inside their hypotheses; the paper's slip by an example."""

import math

import numpy as np
import pytest
from scipy.special import iv

from poise.errors import HypothesisError
from poise.theory import (
    explore_labels,
    explore_new_cluster,
    explored_before,
    packing_number_bound,
    solve_radial,
)

DRAWS = 1_000


@pytest.mark.parametrize("d", [1, 2, 3])
def test_radial_solutions_of_a_constant_density(d):
    a = math.sqrt(3.0)
    exact = {
        1: lambda x: np.cosh(a * x) / math.cosh(2 * a),
        2: lambda x: iv(0, a * x) / iv(0, 2 * a),
        3: lambda x: 2 * a * np.sinc(1j * a * x / np.pi).real / math.sinh(2 * a),
    }[d]
    errors = []
    for cells in (200, 400, 800):
        x, u = solve_radial(d, 2.0, np.ones_like, 3.0, cells=cells)
        errors.append(np.abs(u - exact(x)).max())
    assert errors[-1] < 2e-6
    assert (np.log2(np.array(errors[:-1]) / errors[1:]) > 1.6).all()


def test_radial_solution_with_a_label():
    """``(x + 1) u' = const`` for d = 2, alpha = 1 and tau = 0."""
    x, u = solve_radial(2, 2.0, np.ones_like, 0.0, alpha=1.0, outer=0.0, cells=100)
    np.testing.assert_allclose(u, 1 - np.log1p(x) / math.log(3), atol=1e-10)


def smooth_density(rng, radius, level, steepest):
    """A density of at most `level` on a ball, with ``|(log rho)'| <= steepest``."""
    slope, frequency = rng.uniform(-1, 1, 2) * steepest * [0.5, 1.0]
    amplitude = 0.5 * steepest / max(abs(frequency), 1e-9) if frequency else 0.0
    amplitude = min(amplitude, 2.0)

    def log_density(x):
        return slope * x + amplitude * np.sin(frequency * x)

    top = log_density(np.linspace(0, radius, 2_001)).max()
    return lambda x: level * np.exp(log_density(x) - top - 1e-3)


def test_the_upper_bound_on_radial_problems():
    """The lemma behind it: in a ball of low density, with values 1 all around, u is small."""
    rng = np.random.default_rng(0)
    for _ in range(DRAWS):
        d = int(rng.integers(1, 4))
        alpha = float(max(d - 2, 0) + rng.uniform(0.1, 3))
        s, R, delta = (float(value) for value in np.exp(rng.uniform(-1.5, 1.5, 3)))
        roughness = float(rng.uniform(0, 2) / s)
        needed = explore_new_cluster(
            tau=1.0, delta=delta, s=s, R=R, alpha=alpha, d=d, roughness=roughness
        ).right
        tau = delta * (needed * float(rng.uniform(1.0, 2.0))) ** 2
        found = explore_new_cluster(
            tau=tau, delta=delta, s=s, R=R, alpha=alpha, d=d, roughness=roughness
        )
        assert found.holds
        density = smooth_density(rng, s, delta, roughness)
        # Labels at distance R from the ball: gamma is largest at its boundary.
        x, u = solve_radial(
            d, s, density, tau, gamma=lambda x, R=R, s=s, a=alpha: 1 + (R + s - x) ** -a, cells=600
        )
        assert np.interp(s / 2, x, u) <= found.bound * (1 + 1e-6)


def test_the_papers_upper_bound_fails():
    """d = 1, s = 1, gamma = 16, sqrt(tau/delta) = 48: the solution is e^-6, the bound e^-12."""
    Gamma, a = 16.0, 48.0
    assert a >= 3 * (1 / 1.0) * Gamma, "the paper's condition holds"
    x, u = solve_radial(
        1, 1.0, np.ones_like, a**2, gamma=lambda x: np.full_like(x, Gamma), cells=4_000
    )
    left = float(np.interp(0.5, x, u))
    assert left == pytest.approx(math.cosh(6) / math.cosh(12), rel=1e-3)
    assert left > 100 * math.exp(-a / 4), "the paper's bound"
    assert left <= math.exp(-a / (4 * math.sqrt(Gamma))), "the corrected one"


def test_the_lower_bound_on_radial_problems():
    """The lemma behind it: around one label, with 0 at distance 2r, u is large within r."""
    rng = np.random.default_rng(1)
    for _ in range(DRAWS):
        d = int(rng.integers(1, 4))
        alpha = float(max(d - 2, 0) + rng.uniform(0.2, 3))
        density = float(np.exp(rng.uniform(-2, 2)))
        roughness = float(rng.uniform(0, 2))
        r = 1.0
        while True:  # small enough for the condition without tau
            conditions = explore_labels(
                tau=0.0, r=r, density=density, alpha=alpha, d=d, roughness=roughness
            )
            if all(condition.holds for condition in conditions):
                break
            r *= 0.7
        most = (alpha + 2 - d) ** 2 * density / (9 * 2**d) / r**d
        tau = float(rng.uniform(0.1, 1.0)) * most
        conditions = explore_labels(
            tau=tau, r=r, density=density, alpha=alpha, d=d, roughness=roughness
        )
        assert all(condition.holds for condition in conditions)
        shape = smooth_density(rng, 2 * r, 1.0, roughness)
        least = shape(np.linspace(0, 2 * r, 500)).min()
        x, u = solve_radial(
            d,
            2 * r,
            lambda x, shape=shape, least=least, rho=density: rho * shape(x) / least * 1.0001,
            tau,
            alpha=alpha,
            outer=0.0,
            cells=400,
        )
        assert np.interp(r, x, u) >= conditions[0].bound - 1e-6


def test_outside_the_lower_bounds_hypotheses_it_fails():
    """With a much too large tau the solution vanishes within r."""
    conditions = explore_labels(tau=1e4, r=0.05, density=1.0, alpha=1.0, d=2)
    assert not all(condition.holds for condition in conditions)
    x, u = solve_radial(2, 0.1, np.ones_like, 1e6, alpha=1.0, outer=0.0)
    assert np.interp(0.05, x, u) < conditions[0].bound


def test_both_together():
    near = explored_before(tau=1.0, delta=0.01, s=0.1, R=1.0, alpha=2.0, d=2, classes=2)
    assert not near.holds
    far = explored_before(tau=100.0, delta=0.01, s=0.5, R=1.0, alpha=2.0, d=2, classes=2)
    assert far.holds


def test_packing():
    assert packing_number_bound(0.0, 1.0, 2) == 1
    assert packing_number_bound(1.0, 1.0, 1) == 3
    rng = np.random.default_rng(0)
    kept: list[np.ndarray] = []
    for point in rng.uniform(0, 1, (2_000, 2)):
        if all(np.linalg.norm(point - other) >= 0.2 for other in kept):
            kept.append(point)
    assert len(kept) <= packing_number_bound(math.sqrt(2), 0.2, 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha": 0.5, "d": 3}, "alpha > d - 2"),
        ({"s": 0.0}, "s > 0"),
        ({"R": -1.0}, "R > 0"),
        ({"tau": -1.0}, "tau >= 0"),
        ({"delta": math.nan}, "delta > 0"),
        ({"roughness": -1.0}, r"\|grad log rho\| >= 0"),
    ],
)
def test_outside_the_hypotheses(change, message):
    given = {"tau": 1.0, "delta": 1.0, "s": 1.0, "R": 1.0, "alpha": 1.0, "d": 2}
    with pytest.raises(HypothesisError, match=message):
        explore_new_cluster(**given | change)
