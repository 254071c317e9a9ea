"""One dimension: closed form against the scheme, and the scheme against itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.errors import HypothesisError
from poise.theory import constant_density, solve_interval, solve_line

LABELS = [(0, 1), (1, 0), (0, 0), (1, 1)]


def wavy(x):
    return 1 + 0.6 * np.sin(5 * x) + 0.2 * x


@given(
    length=st.floats(0.01, 50),
    rho=st.floats(0.01, 100),
    tau=st.floats(0, 100),
    labels=st.sampled_from(LABELS),
)
def test_closed_form_and_scheme_agree(length, rho, tau, labels):
    exact = constant_density(length, rho, tau, labels, cells=400)
    found = solve_interval(length, lambda x: np.full_like(x, rho), tau, labels, cells=400)
    np.testing.assert_allclose(found.u, exact.u, atol=1e-8)
    np.testing.assert_allclose(found.minimum[1], exact.minimum[1], atol=1e-8)


@pytest.mark.parametrize("labels", [(0, 1), (0, 0)])
def test_second_order_for_a_varying_density(labels):
    fine = solve_interval(2.0, wavy, 7.0, labels, cells=25_600)
    errors = []
    for cells in (100, 200, 400, 800):
        coarse = solve_interval(2.0, wavy, 7.0, labels, cells=cells)
        errors.append(np.abs(coarse.u - fine.u[:, :: 25_600 // cells]).max())
    rates = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (np.abs(rates - 2) < 0.1).all()


def test_satisfies_the_equation():
    """``tau rho u = (rho^2 u')'`` by other differences than those of the scheme."""
    found = solve_interval(2.0, wavy, 7.0, cells=8_000)
    x, u = found.x, found.u[0]
    flux = wavy(x) ** 2 * np.gradient(u, x, edge_order=2)
    residual = np.gradient(flux, x) - 7.0 * wavy(x) * u
    assert np.abs(residual[5:-5]).max() < 1e-3 * np.abs(7.0 * wavy(x) * u).max()


def test_minima_of_a_constant_density():
    t = np.sqrt(3 / 0.5) * 4 / 2
    similar = constant_density(4.0, 0.5, 3.0, (1, 1)).minimum
    opposite = constant_density(4.0, 0.5, 3.0, (0, 1)).minimum
    assert similar == pytest.approx((2.0, 1 / np.cosh(t)))
    assert opposite == pytest.approx((2.0, 1 / (np.sqrt(2) * np.cosh(t))))


def test_a_symmetric_density_has_its_minimum_in_the_middle():
    found = solve_interval(3.0, lambda x: 1 + (x - 1.5) ** 2, 2.0, (0, 0))
    assert found.minimum[0] == pytest.approx(1.5, abs=1e-9)


def test_a_line_is_solved_interval_by_interval():
    line = solve_line([0.0, 1.0, 3.0, 3.5], [0, 0, 1, 1], wavy, 5.0, cells=300)
    assert [part.labels for part in line] == [(0, 0), (0, 1), (1, 1)]
    alone = solve_interval(2.0, lambda x: wavy(x + 1.0), 5.0, (0, 1), cells=300)
    np.testing.assert_allclose(line[1].u, alone.u, rtol=1e-10)
    assert line[1].x[0] == 1.0
    assert line[-1].x[-1] == pytest.approx(3.5)


def test_without_decay_it_interpolates():
    found = solve_interval(1.0, np.ones_like, 0.0, (0, 1), cells=50)
    np.testing.assert_allclose(found.u[1], found.x, atol=1e-12)
    like = solve_interval(1.0, wavy, 0.0, (1, 1), cells=50)
    np.testing.assert_allclose(like.u[1], 1.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"length": 0.0}, "the hypothesis is length > 0"),
        ({"tau": -1.0}, "the hypothesis is tau >= 0"),
        ({"tau": float("nan")}, "tau >= 0"),
        ({"density": lambda x: x - 0.5}, "the density is positive and finite"),
        ({"density": lambda x: x / 0 * np.inf}, "the density is positive and finite"),
        ({"labels": (0, 2)}, "classes are 0 and 1"),
        ({"cells": 1}, "at least 2 cells"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_outside_the_hypotheses(change, message):
    with pytest.raises(HypothesisError, match=message):
        solve_interval(**{"length": 1.0, "density": np.ones_like, "tau": 1.0} | change)


def test_points_must_ascend():
    with pytest.raises(HypothesisError, match="labelled points ascend"):
        solve_line([0.0, 2.0, 1.0], [0, 1, 0], wavy, 1.0)
    with pytest.raises(HypothesisError, match="two labelled points"):
        solve_line([0.0], [0], wavy, 1.0)
