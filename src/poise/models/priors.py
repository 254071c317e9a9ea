"""Class priors: predictions whose shares are those that the user knows to be true.

The prediction becomes ``argmax_c w_c p_c(x)`` with one weight per class, chosen so that the share
of class c among the predictions is its prior. This is the "volume label projection" of
GraphLearning, with another algorithm; it corrects above all what a model without priors gets wrong
at low label rates, where one class takes too much.
"""

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.arrays import Bools, Floats, Ints
from poise.errors import InputError, LabelError
from poise.models.result import ScoreResult

#: Shares this close to the priors are good enough (or closer than one point, if that is coarser).
TOLERANCE = 1e-4
#: Priors must sum to one up to this, so that shares rounded to two decimals are accepted.
SUM_TOLERANCE = 0.02
#: Differences that a user should hear of.
WARN_FROM = 0.01
#: Newton steps in all. Twenty or thirty are typical; only priors out of reach use them up.
MAX_STEPS = 100
#: Newton steps at one temperature.
STEPS_PER_TEMPERATURE = 20
#: Below this temperature the smoothed shares are the shares themselves.
COLDEST = 1e-6


@dataclass(frozen=True, eq=False)
class PriorMatch:
    """Predictions under priors, and how well those could be met.

    Attributes
    ----------
    codes : (n,) column of the predicted class
    log_weights : (C,) logarithms of the weights `w`, the largest of them 0
    shares : (C,) shares of the classes among the predictions of `known` rows
    error : largest difference between a share and its prior
    """

    codes: Ints
    log_weights: Floats
    shares: Floats
    error: float


def predict_with_priors(result: ScoreResult, priors: Any) -> PriorMatch:
    """Predictions of a model whose shares match `priors` as closely as its scores allow.

    Parameters
    ----------
    result : ScoreResult
        Of any model. Scores with signs (Poisson learning) enter by their probabilities.
    priors : mapping of every class to its share, or shares in the order of ``result.classes``

    Returns
    -------
    PriorMatch
        Nodes that are not reached take no part in the matching and get the class with the largest
        prior.
    """
    known = result.reached & result.scores.any(axis=1)
    return match_priors(result.probabilities, check_priors(priors, result.classes), known=known)


def match_priors(scores: Any, priors: Any, known: Any = None) -> PriorMatch:
    """Weights w of the classes for which ``argmax_c w_c scores_ic`` has the shares `priors`.

    With ``b = log w`` and ``a = log scores`` the wanted b minimises the convex, piecewise linear
    function ``mean_i max_c (a_ic + b_c) - sum_c priors_c b_c``: its gradient is shares minus
    priors. (It is the dual of the assignment of points to classes of given sizes with the largest
    sum of a.) The maximum is replaced by ``e log sum_c exp((a_ic + b_c)/e)``, which is smooth; for
    each temperature e = 1, 1/4, 1/16, ... Newton's method with step halving finds the minimum, from
    the one before, until the shares themselves are within `TOLERANCE`, or one point, of the
    priors. The best b met on the way is returned. No randomness; O(n C^2) a step.

    Parameters
    ----------
    scores : (n, C), non-negative and finite
        A zero rules the class out for that row, whatever the weights: labelled nodes, whose other
        scores are zero, keep their label. Rows may be scaled at will.
    priors : (C,), positive, with sum 1
    known : (n,) bool, optional
        Rows that count; the others get the class with the largest prior. Rows of zeros never count.

    Returns
    -------
    PriorMatch
    """
    S = np.asarray(scores, dtype=np.float64)
    if S.ndim != 2 or not np.all(np.isfinite(S)) or S.min(initial=0.0) < 0:
        raise InputError(
            "scores for class priors must be a matrix of finite numbers >= 0: "
            "pass probabilities instead"
        )
    p = check_priors(priors, range(S.shape[1]))
    counts = S.max(axis=1, initial=0.0) > 0
    if known is not None:
        counts &= np.asarray(known, dtype=bool)
    if not counts.any():
        raise InputError("no row of scores is known: there is nothing to match the priors with")
    A = np.full(S.shape, -np.inf)
    np.log(S, out=A, where=S > 0)
    b = _log_weights(A[counts], p)
    codes = np.where(counts, np.argmax(A + b, axis=1), int(np.argmax(p)))
    shares = np.bincount(codes[counts], minlength=len(p)) / counts.sum()
    return PriorMatch(codes, b, shares, float(np.abs(shares - p).max()))


def check_priors(priors: Any, classes: Iterable[Any]) -> Floats:
    """`priors` as (C,) shares in the order of `classes`: positive, with sum exactly 1."""
    names = list(classes)
    if isinstance(priors, Mapping):
        missing = [name for name in names if name not in priors]
        foreign = [name for name in priors if name not in names]
        if missing:
            raise LabelError(f"class_priors name no share for {missing!r}: name every class")
        if foreign:
            raise LabelError(
                f"class_priors name {foreign!r}, which no label has: the classes are {names!r}"
            )
        priors = [priors[name] for name in names]
    try:
        shares = np.asarray(priors, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"class_priors are {priors!r}: expected a share for each of {names!r}"
        ) from None
    if shares.shape != (len(names),):
        raise InputError(
            f"class_priors have shape {shares.shape}: expected one share for each of the "
            f"{len(names)} classes {names!r}, in this order"
        )
    if not (np.all(np.isfinite(shares)) and np.all(shares > 0)):
        raise InputError(f"class_priors are {shares.tolist()}: every share must be positive")
    if abs(shares.sum() - 1) > SUM_TOLERANCE:
        raise InputError(
            f"class_priors sum to {shares.sum():.4g}: shares must sum to 1, divide by their sum"
        )
    return np.asarray(shares / shares.sum())


def weighted(probabilities: Floats, log_weights: Floats, known: Bools) -> Floats:
    """Rows ``w_c p_c / sum``; rows not `known` as they are."""
    if not log_weights.any():
        return probabilities
    A = np.full(probabilities.shape, -np.inf)
    np.log(probabilities, out=A, where=probabilities > 0)
    A += log_weights
    rows = np.exp(A - A.max(axis=1, keepdims=True))
    rows /= rows.sum(axis=1, keepdims=True)
    return np.where(known[:, None], rows, probabilities)


def warn_if_missed(match: PriorMatch, priors: Floats, classes: Iterable[Any]) -> None:
    """Say so when the shares of the predictions are more than a point in a hundred off."""
    if match.error > WARN_FROM:
        got = ", ".join(
            f"{name!r} {share:.3f} instead of {prior:.3f}"
            for name, share, prior in zip(classes, match.shares, priors, strict=True)
            if abs(share - prior) > WARN_FROM
        )
        warnings.warn(
            f"the scores do not allow the class priors, predicted is {got}: label more points, "
            "or correct class_priors",
            stacklevel=3,
        )


def _log_weights(A: Floats, p: Floats) -> Floats:
    n, n_classes = A.shape
    b: Floats = np.zeros(n_classes)
    best, least = b, np.inf
    temperature, steps = 1.0, 0
    while True:
        error = np.abs(np.bincount(np.argmax(A + b, axis=1), minlength=n_classes) / n - p).max()
        if error < least:
            best, least = b, error
        # Less than a point away: no closer share exists.
        if least <= TOLERANCE or least * n < 1 - 1e-9:
            return best
        if temperature < COLDEST or steps >= MAX_STEPS:
            return best
        b, used = _smoothed_minimum(A, p, b, temperature)
        steps += used
        temperature /= 4


def _smoothed_minimum(A: Floats, p: Floats, b: Floats, temperature: float) -> tuple[Floats, int]:
    """Newton's method at one temperature, from `b`; the minimum and the steps it took."""
    value, soft = _smoothed(A, p, b, temperature)
    for step in range(STEPS_PER_TEMPERATURE):
        shares = soft.mean(axis=0)
        gradient = shares - p
        size = float(np.abs(gradient).max())
        if size <= TOLERANCE / 2:
            return b, step
        # The Hessian knows nothing of constants (added by 1/C) and little of directions in which
        # nearly no point is undecided (added by the identity, less of it as the end is near).
        hessian = (np.diag(shares) - soft.T @ soft / len(A) + 0.1 * size * np.eye(len(b))) / (
            temperature
        )
        direction = -np.linalg.solve(hessian + 1 / len(b), gradient)
        length, slope = 1.0, float(gradient @ direction)
        while length > 1e-6:
            next_value, next_soft = _smoothed(A, p, b + length * direction, temperature)
            if next_value <= value + 1e-4 * length * slope:
                break
            length /= 2
        else:
            return b, step + 1
        b = b + length * direction
        b = b - b.max()
        value, soft = next_value, next_soft
    return b, STEPS_PER_TEMPERATURE


def _smoothed(A: Floats, p: Floats, b: Floats, temperature: float) -> tuple[float, Floats]:
    """The smoothed function at `b`, and the (n, C) softmax whose column means are the shares."""
    scaled = (A + b) / temperature
    top = scaled.max(axis=1, keepdims=True)
    soft = np.exp(scaled - top)
    total = soft.sum(axis=1, keepdims=True)
    value = temperature * float(np.mean(top + np.log(total))) - float(p @ b)
    soft /= total
    return value, soft
