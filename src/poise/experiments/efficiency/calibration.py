"""Calibration of the probabilities of a trial."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from poise.arrays import Bools, Floats, Ints

#: Number of bins of equal mass.
BINS = 15
#: Confidence from which a prediction counts as sure.
SURE = 0.9


@dataclass(frozen=True)
class CalibrationRow:
    """Measures on the unlabelled points of one trial.

    Attributes
    ----------
    error : expected calibration error
    accuracy, confidence : share of right predictions, and mean largest probability
    sure, sure_and_right : number of predictions at `SURE` or more, and of right ones among them
    """

    error: float
    accuracy: float
    confidence: float
    sure: int
    sure_and_right: int


def expected_calibration_error(
    confidence: npt.ArrayLike, right: npt.ArrayLike, bins: int = BINS
) -> float:
    """Mean difference of confidence and accuracy over bins of equal mass.

    ``sum_b |B_b|/n |mean confidence in B_b - share right in B_b|``, the points sorted by their
    confidence and cut into `bins` parts of equal size, up to one.

    Parameters
    ----------
    confidence, right : (n,) largest probability of each point; whether the prediction is right

    References
    ----------
    M. P. Naeini, G. F. Cooper, M. Hauskrecht, Obtaining well calibrated probabilities using
    Bayesian binning, AAAI 2015; with bins of equal mass, K. Nguyen, B. O'Connor, EMNLP 2015.
    """
    c = np.asarray(confidence, dtype=np.float64)
    difference = c - np.asarray(right, dtype=np.float64)
    if len(c) == 0:
        return float("nan")
    order = np.argsort(c, kind="stable")
    return float(sum(abs(difference[b].sum()) for b in np.array_split(order, bins)) / len(c))


def measure(probabilities: Floats, truth: Ints, labelled: Bools) -> CalibrationRow:
    """Compare (n, C) probabilities with the (n,) true classes on the unlabelled points."""
    rest = ~np.asarray(labelled, dtype=bool)
    rows = np.asarray(probabilities)[rest]
    confidence = rows.max(axis=1)
    right = np.argmax(rows, axis=1) == np.asarray(truth)[rest]
    sure = confidence >= SURE
    return CalibrationRow(
        expected_calibration_error(confidence, right),
        float(right.mean()),
        float(confidence.mean()),
        int(sure.sum()),
        int((sure & right).sum()),
    )
