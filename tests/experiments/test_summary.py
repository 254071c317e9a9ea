import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from poise.errors import InputError
from poise.experiments.summary import estimate, mean_band, paired, steps_to_reach

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


def test_an_estimate_is_students_interval() -> None:
    found = estimate([1.0, 2.0, 3.0])
    assert found.mean == 2
    assert found.margin == pytest.approx(4.302653 / np.sqrt(3), rel=1e-6)  # t with 2 degrees
    assert found.trials == 3
    assert estimate([5.0]).margin == 0


def test_pairs_are_the_common_trials() -> None:
    found = paired({1: 0.5, 2: 0.7, 3: 0.9}, {2: 0.6, 3: 0.6, 4: 0.0})
    assert found.mean == pytest.approx(0.2)
    assert found.trials == 2


def test_common_variation_between_trials_does_not_widen_a_difference() -> None:
    spread = {seed: 0.1 * seed for seed in range(5)}
    found = paired({seed: value + 0.01 for seed, value in spread.items()}, spread)
    assert found.low > 0.009


def test_steps_to_reach() -> None:
    values = [[0.1, 0.9, 0.5, 0.9], [0.1, 0.2, 0.3, 0.4], [0.9, 0.0, 0.0, 0.0]]
    assert steps_to_reach(values, 0.9).tolist() == [1, np.inf, 0]
