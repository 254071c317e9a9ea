import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from poise.errors import InputError
from poise.experiments.summary import mean_band, steps_to_reach

shares = arrays(
    np.float64, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=st.floats(0, 1)
)


@given(shares)
def test_the_band_holds_the_mean(values: np.ndarray) -> None:
    band = mean_band(values)
    assert (band.low <= band.mean).all()
    assert (band.mean <= band.high).all()
    np.testing.assert_allclose(band.mean, values.mean(axis=0))


def test_the_band_is_students_interval() -> None:
    values = np.random.default_rng(0).normal(size=(8, 3))
    band = mean_band(values, confidence=0.9)
    low, high = stats.t.interval(0.9, 7, loc=values.mean(axis=0), scale=stats.sem(values, axis=0))
    np.testing.assert_allclose(band.low, low)
    np.testing.assert_allclose(band.high, high)


def test_the_band_covers_the_true_mean_as_often_as_it_says() -> None:
    values = np.random.default_rng(0).normal(size=(5, 4000))
    band = mean_band(values)
    covered = ((band.low <= 0) & (band.high >= 0)).mean()
    assert covered == pytest.approx(0.95, abs=0.015)


def test_one_trial_has_no_spread() -> None:
    band = mean_band([[0.2, 0.4]])
    assert band.low.tolist() == band.high.tolist() == [0.2, 0.4]


@pytest.mark.parametrize("values", [[], [0.1, 0.2], np.zeros((0, 3))])
def test_values_of_another_shape_are_refused(values: object) -> None:
    with pytest.raises(InputError, match=r"shape \(trials, steps\)"):
        mean_band(values)


def test_steps_to_reach() -> None:
    values = [[0.1, 0.9, 0.5, 0.9], [0.1, 0.2, 0.3, 0.4], [0.9, 0.0, 0.0, 0.0]]
    assert steps_to_reach(values, 0.9).tolist() == [1, np.inf, 0]
