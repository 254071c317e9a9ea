r"""Exploration in one dimension for a varying density (supplement, "Symmetric density").

Between points of one class, R_s apart, the density is symmetric about the middle; between points
of different classes, R_o apart, it is arbitrary. The paper bounds the two minima by exponentials,
with two mistakes, so this module differs from it:

* Its function :math:`e^{\sqrt{\tau/\delta}(x^2 - r^2)}` is a supersolution only for small r. For a
  constant density with :math:`a = \sqrt{\tau/\delta} = 4` and r = 2 it claims
  :math:`1.1 \cdot 10^{-7}` where the solution is :math:`6.7 \cdot 10^{-4}`.
* The derivative of its subsolution has the wrong sign, so that the assumption on the ends of the
  opposite interval points the wrong way. No assumption is needed: the sum :math:`w = u_0 + u_1`
  solves the problem with the value 1 at both ends, and :math:`A_o \ge w / \sqrt 2`.

With :math:`K` the largest :math:`|(\log\rho)'|` and :math:`a^2 = \tau/\delta`,
:math:`e^{b x^2}` is a supersolution where :math:`\rho \le \delta` if
:math:`4 b^2 r^2 + 2 b (1 + 2 r K) \le a^2`; the largest such b gives a decay over the inner half
of an interval of length 2r by :math:`e^{-D(r)}`,

.. math:: D(r) = \tfrac{1}{4}\left(\sqrt{(1 + 2rK)^2 + 4 a^2 r^2} - (1 + 2rK)\right).

And :math:`\cosh(\theta(R/2 - x)) / \cosh(\theta R/2)` is a subsolution of w if
:math:`\theta^2 - 2\theta K_+ \ge \tau/\rho_{min}`, where :math:`K_+` is how fast
:math:`\log\rho` ascends towards the middle at most.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from poise.arrays import Floats
from poise.theory.interval import Density, checked_density, solve_interval
from poise.theory.one_dimension import log_cosh
from poise.theory.statement import Statement, finite, require

#: Number of points at which a density is evaluated.
SAMPLES = 4_001

#: Length and density of an interval between two labelled points.
Piece = tuple[float, Density]


@dataclass(frozen=True)
class LowDensity:
    """The intervals of low density between points of one class, in the left half.

    Attributes
    ----------
    delta : density up to which it counts as low
    lengths : lengths of the maximal intervals on which the density is at most delta
    alpha : share of the whole interval that they and their mirror images cover
    steepest : largest ``|(log rho)'|`` on them
    """

    delta: float
    lengths: tuple[float, ...]
    alpha: float
    steepest: float


def low_density(length: float, density: Density, delta: float) -> LowDensity:
    """The intervals of ``(0, R_s/2)`` on which the density is at most delta."""
    require(finite(length) and length > 0, "R_s > 0", "R_s", length)
    require(finite(delta) and delta > 0, "delta > 0", "delta", delta)
    x = np.linspace(0.0, length, SAMPLES)
    rho = checked_density(density, x)
    require(
        bool(np.allclose(rho, rho[::-1], rtol=1e-6)),
        "the density is symmetric about the middle",
        "its largest difference from its mirror image",
        float(np.abs(rho - rho[::-1]).max()),
    )
    half = SAMPLES // 2 + 1
    low = rho[:half] <= delta
    edges = np.flatnonzero(np.diff(np.concatenate([[0], low.astype(int), [0]])))
    starts, ends = edges[::2], edges[1::2] - 1
    lengths = tuple(
        float(x[end] - x[start]) for start, end in zip(starts, ends, strict=True) if end > start
    )
    slope = _slope(x, rho)[:half]
    steepest = float(np.abs(slope[low]).max()) if low.any() else 0.0
    return LowDensity(delta, lengths, 2 * sum(lengths) / length, steepest)


def similar_upper_bound(low: LowDensity, tau: float) -> float:
    """Upper bound of ``min A_s``: the product of the decays over the low intervals."""
    return math.exp(_log_similar(low, tau))


def opposite_lower_bound(length: float, density: Density, tau: float) -> float:
    """Lower bound of ``min A_o``: ``1 / (sqrt(2) cosh(theta R_o/2))``."""
    return math.exp(_log_opposite(length, density, tau))


def symmetric_density(
    similar: Piece, opposite: Piece, tau: float, delta: float, *, cells: int = 2_000
) -> Statement:
    """The question falls between points of one class if the bounds are ordered so (corrected).

    Parameters
    ----------
    similar, opposite : length and density between points of one class, and of different classes
    delta : density up to which it counts as low between points of one class

    Returns
    -------
    Statement
        Its condition compares the logarithms of the bounds, its conclusion the computed minima.
    """
    return _conclude(
        "symmetric density",
        "log of the lower bound of A_o > log of the upper bound of A_s",
        _log_opposite(*opposite, tau),
        _log_similar(low_density(*similar, delta), tau),
        *(similar, opposite, tau, cells),
    )


def simplified(
    similar: Piece, opposite: Piece, tau: float, delta: float, *, cells: int = 2_000
) -> Statement:
    r"""The same with constants of the densities alone (the simplified proposition, corrected).

    .. math:: R_s\left((C_0 - \beta C_1)\sqrt\tau - C_2\right) > C_3,

    with :math:`\beta = R_o/R_s`, :math:`C_0 = \alpha/(8\sqrt\delta)`,
    :math:`C_1 = 1/(2\sqrt{\rho_{min}})`, :math:`C_2 = \alpha K/8 + \beta K_+` and
    :math:`C_3 = \tfrac{1}{2}\ln 2 + n_l/4`, where :math:`n_l` intervals of low density make up the
    share :math:`\alpha`. It follows from `symmetric_density` by
    :math:`4D(r) \ge 2ar - 1 - 2rK`, :math:`\cosh t \le e^t` and
    :math:`\theta \le 2K_+ + \sqrt{\tau/\rho_{min}}`. The paper has
    :math:`R_s^2(C_0\sqrt\tau - C_1\beta^2\tau) \ge 8\ln 2`, which its supersolution does not
    imply: both exponents are linear in :math:`\sqrt\tau`, so that a larger tau helps or does not,
    whatever its size.
    """
    require(finite(tau) and tau >= 0, "tau >= 0", "tau", tau)
    low = low_density(*similar, delta)
    ascent, smallest = _towards_the_middle(*opposite)
    gain = low.alpha / 8 * (math.sqrt(tau / delta) - low.steepest)
    loss = opposite[0] / similar[0] * (math.sqrt(tau / smallest) / 2 + ascent)
    return _conclude(
        "simplified",
        "R_s ((C_0 - beta C_1) sqrt(tau) - C_2) > C_3",
        similar[0] * (gain - loss),
        math.log(2) / 2 + len(low.lengths) / 4,
        *(similar, opposite, tau, cells),
    )


def _conclude(
    name: str,
    condition: str,
    left: float,
    right: float,
    similar: Piece,
    opposite: Piece,
    tau: float,
    cells: int,
) -> Statement:
    """The statement with both computed minima."""
    return Statement(
        name,
        condition,
        left,
        right,
        "min A_s < min A_o",
        solve_interval(*similar, tau, (0, 0), cells=cells).minimum[1],
        solve_interval(*opposite, tau, (0, 1), cells=cells).minimum[1],
    )


def paper_condition(
    length: float, beta: float, low: LowDensity, smallest: float, tau: float, lam: float = 0.5
) -> tuple[float, float]:
    """Both sides of the paper's own condition, its eq. tau-condition-messy, for comparison.

    ``R_s^2 (alpha^2/n_l sqrt(tau/delta) - 2 beta^2/(1 - lambda) tau/rho_min) >= 8 ln 2``; with
    alpha and n_l of `low`, and `smallest` the smallest density between points of different classes.
    """
    require(finite(beta) and 0 < beta <= 0.25, "0 < beta <= 1/4", "beta", beta)
    require(finite(lam) and 0 < lam < 1, "0 < lambda < 1", "lambda", lam)
    require(len(low.lengths) > 0, "the density is at most delta somewhere", "alpha", low.alpha)
    gain = low.alpha**2 / len(low.lengths) * math.sqrt(tau / low.delta)
    return length**2 * (gain - 2 * beta**2 / (1 - lam) * tau / smallest), 8 * math.log(2)


def paper_proposition(
    similar: Piece,
    opposite: Piece,
    tau: float,
    delta: float,
    epsilon: float,
    *,
    cells: int = 2_000,
) -> list[Statement]:
    """The supplement's own proposition: a statement per hypothesis, all with its conclusion.

    Its proof uses two wrong bounds, so it proves nothing. On random draws that satisfy its
    hypotheses the conclusion was true.

    Parameters
    ----------
    epsilon : float
        Length of the ends of the opposite interval, where the density decreases away from the
        labels; between them ``tanh(epsilon) >= 4 max |(log rho)'|``.
    """
    R_s, R_o = similar[0], opposite[0]
    require(finite(epsilon) and 0 < epsilon < R_o / 2, "0 < epsilon < R_o / 2", "epsilon", epsilon)
    low = low_density(*similar, delta)
    smallest = _towards_the_middle(*opposite)[1]
    x = np.linspace(0.0, R_o, SAMPLES)
    slope = _slope(x, checked_density(opposite[1], x))
    ends = np.concatenate([-slope[x < epsilon], slope[x > R_o - epsilon]])
    steepest = float(np.abs(slope[(x >= epsilon) & (x <= R_o - epsilon)]).max())
    sides = (
        ("no ascent away from the labels, to 1e-6", 1e-6, -float(ends.min())),
        ("tanh(epsilon) >= 4 max |(log rho)'|", math.tanh(epsilon), 4 * steepest),
        ("alpha(delta) = 3/4, to 1 per cent", 0.01, abs(low.alpha - 0.75)),
        ("n_l = 1", 1.0, float(len(low.lengths))),
        ("rho_min >= 16 delta", smallest, 16 * delta),
        ("32 delta >= rho_min", 32 * delta, smallest),
        ("1/(2 sqrt 2) >= beta", 1 / (2 * math.sqrt(2)), R_o / R_s),
        ("R_s^2 >= 4 ln 2", R_s**2, 4 * math.log(2)),
        ("tau >= 16 delta", tau, 16 * delta),
        ("rho_min^2/(16 delta) >= tau", smallest**2 / (16 * delta), tau),
    )
    first = _conclude("paper's proposition", *sides[0], similar, opposite, tau, cells)
    return [
        replace(first, condition=condition, left=left, right=right, strict=False)
        for condition, left, right in sides
    ]


def _log_similar(low: LowDensity, tau: float) -> float:
    """Logarithm of the upper bound of ``min A_s``; the bound itself may underflow."""
    require(finite(tau) and tau >= 0, "tau >= 0", "tau", tau)
    return -sum(_decay(part / 2, low, tau) for part in low.lengths)


def _log_opposite(length: float, density: Density, tau: float) -> float:
    """Logarithm of the lower bound of ``min A_o``."""
    require(finite(tau) and tau >= 0, "tau >= 0", "tau", tau)
    K, smallest = _towards_the_middle(length, density)
    theta = K + math.sqrt(K**2 + tau / smallest)
    return -log_cosh(theta * length / 2) - math.log(2) / 2


def _decay(r: float, low: LowDensity, tau: float) -> float:
    """``D(r)``, from the end to the middle of an interval of length 2r."""
    rough = 1 + 2 * r * low.steepest
    return (math.sqrt(rough**2 + 4 * r**2 * tau / low.delta) - rough) / 4


def _towards_the_middle(length: float, density: Density) -> tuple[float, float]:
    """Largest ascent of log rho towards the middle, K_+, and the smallest density."""
    require(finite(length) and length > 0, "R_o > 0", "R_o", length)
    x = np.linspace(0.0, length, SAMPLES)
    rho = checked_density(density, x)
    ascent = _slope(x, rho) * np.sign(length / 2 - x)
    return max(0.0, float(ascent.max())), float(rho.min())


def _slope(x: Floats, rho: Floats) -> Floats:
    return np.asarray(np.gradient(np.log(rho), x))
