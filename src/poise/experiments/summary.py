"""Means over trials with confidence intervals, paired differences, and when a mark was reached."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from poise.errors import InputError


@dataclass(frozen=True, eq=False)
class Band:
    """A mean curve and the interval that should hold the true mean, each of shape ``(steps,)``."""

    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def mean_band(values: ArrayLike, confidence: float = 0.95) -> Band:
    """Mean over trials with Student's confidence interval, ``mean ± t s / sqrt(trials)``.

    Parameters
    ----------
    values : (trials, steps)
    confidence : probability that the interval holds the true mean of one step

    Notes
    -----
    One trial gives no spread: the interval is then the mean itself.
    """
    trials = np.asarray(values, dtype=np.float64)
    if trials.ndim != 2 or len(trials) == 0:
        raise InputError(f"expected values of shape (trials, steps), got {trials.shape}")
    mean = trials.mean(axis=0)
    if len(trials) == 1:
        return Band(mean, mean, mean)
    spread = trials.std(axis=0, ddof=1) / np.sqrt(len(trials))
    margin = spread * float(stats.t.ppf((1 + confidence) / 2, len(trials) - 1))
    return Band(mean, mean - margin, mean + margin)


@dataclass(frozen=True)
class Estimate:
    """A mean over trials and its 95% confidence interval."""

    mean: float
    low: float
    high: float
    trials: int

    @property
    def margin(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2


def estimate(values: ArrayLike) -> Estimate:
    """The mean of (trials,) values with Student's interval; one trial has none."""
    column = np.asarray(values, dtype=np.float64)[:, None]
    band = mean_band(column)
    return Estimate(float(band.mean[0]), float(band.low[0]), float(band.high[0]), len(column))


def paired(first: Mapping[int, float], second: Mapping[int, float]) -> Estimate:
    """The mean of `first` minus `second` over the seeds that both have.

    Trials with the same seed start from the same labels, so their difference varies less than
    either value.
    """
    return estimate([first[seed] - second[seed] for seed in first if seed in second])


def steps_to_reach(values: ArrayLike, mark: float) -> NDArray[np.float64]:
    """First step at which each trial reached `mark`, ``inf`` if it never did.

    Parameters
    ----------
    values : (trials, steps)

    Returns
    -------
    (trials,)
    """
    reached = np.asarray(values) >= mark
    return np.where(reached.any(axis=1), reached.argmax(axis=1), np.inf)
