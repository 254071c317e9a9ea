"""The four criteria, from the statistics of covariance columns."""

import numpy as np

from poise.active.acquisition.variance.covariance import Statistics
from poise.arrays import Floats


def variance_reduction(statistics: Statistics) -> Floats:
    """``|C e_k|^2 / (s2 + C_kk)``: by how much asking k lowers the trace of C (V-Opt)."""
    return _over(statistics.squares, statistics)


def sum_reduction(statistics: Statistics) -> Floats:
    """``(1^T C e_k)^2 / (s2 + C_kk)``: by how much it lowers the sum of C (Sigma-Opt)."""
    return _over(statistics.sums**2, statistics)


def model_change(statistics: Statistics) -> Floats:
    """``|C e_k| / (s2 + C_kk)``: how far the scores move per unit of surprise at k."""
    return _over(np.sqrt(statistics.squares), statistics)


def _over(numerator: Floats, statistics: Statistics) -> Floats:
    """`numerator` over the variance of an answer; 0 where the covariance has no row."""
    variance = statistics.s2 + statistics.variances
    shares = np.divide(numerator, variance, out=np.zeros(len(variance)), where=variance > 0)
    return np.asarray(shares)
