"""The propositions for a constant density in one dimension (supplement, "Warmup").

Two intervals: one of length R_s between points of one class, one of length ``R_o = beta R_s``
between points of different classes. A question explores, that is, falls into the first interval, if
``min A_s < min A_o``:

    min A_s = 1 / cosh(t),    min A_o = 1 / (sqrt(2) cosh(beta t)),    t = sqrt(tau / rho) R_s / 2
"""

import math

import numpy as np
from scipy.optimize import brentq

from poise.theory.statement import Statement, finite, require


def exploration_root(beta: float) -> float:
    """The root t* > 0 of ``cosh t = sqrt(2) cosh(beta t)``, for beta from 0 to ``1/sqrt(2)``.

    It is unique: the difference of both sides starts at ``1 - sqrt(2) < 0`` and increases, because
    ``sinh t > sqrt(2) beta sinh(beta t)``.
    """
    require(finite(beta) and 0 <= beta <= 1 / math.sqrt(2), "0 <= beta <= 1/sqrt(2)", "beta", beta)
    # log cosh does not overflow; at t = 4 the difference is positive for every beta allowed.
    return float(
        brentq(lambda t: log_cosh(t) - math.log(2) / 2 - log_cosh(beta * t), 0.0, 4.0, xtol=1e-15)
    )


def exploration_requirement(length: float, beta: float, rho: float, tau: float) -> Statement:
    """The question falls between points of one class if ``sqrt(tau) R_s > 2 sqrt(rho) t*``."""
    _check(length, rho, tau)
    root = exploration_root(beta)
    similar, opposite = _minima(length, beta, rho, tau)
    return Statement(
        "exploration requirement",
        "sqrt(tau) R_s > 2 sqrt(rho) t*",
        math.sqrt(tau) * length,
        2 * math.sqrt(rho) * root,
        "min A_s < min A_o",
        similar,
        opposite,
    )


def exploitation_default(length: float, beta: float, rho: float, tau: float) -> Statement:
    """The question falls between points of different classes if ``tau <= 2 rho / R_s^2``."""
    _check(length, rho, tau)
    require(finite(beta) and beta > 0, "beta > 0", "beta", beta)
    similar, opposite = _minima(length, beta, rho, tau)
    return Statement(
        "exploitation default",
        "2 rho / R_s^2 >= tau",
        2 * rho / length**2,
        tau,
        "min A_o < min A_s",
        opposite,
        similar,
        strict=False,
    )


def _minima(length: float, beta: float, rho: float, tau: float) -> tuple[float, float]:
    """``min A_s`` and ``min A_o``."""
    t = math.sqrt(tau / rho) * length / 2
    return math.exp(-log_cosh(t)), math.exp(-log_cosh(beta * t)) / math.sqrt(2)


def log_cosh(t: float) -> float:
    """``log(cosh t)``, for large t too."""
    return float(np.logaddexp(t, -t) - math.log(2))


def _check(length: float, rho: float, tau: float) -> None:
    require(finite(length) and length > 0, "R_s > 0", "R_s", length)
    require(finite(rho) and rho > 0, "the density is positive and finite", "rho", rho)
    require(finite(tau) and tau >= 0, "tau >= 0", "tau", tau)
