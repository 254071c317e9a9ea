"""Probabilities that mean what they say: of the guesses shown at 80%, about 80% are right.

The scores of graph models rank their guesses well, but their size follows the number of labels
and the graph rather than how often they are right. Held-out labels say how often, the labels being
harder than the other points as their own scores tell; then one power makes the mean confidence
that share. No prediction changes, and no guess becomes nearly certain where the average guess is
not.
"""

from dataclasses import dataclass

import numpy as np

from poise.errors import InputError
from poise.linalg.status import Bools, Floats, Ints
from poise.models.held_out import spread_evenly

#: How far guesses are right more often than scores say, in logits: mean and standard deviation
#: of what is expected before a label is held out.
MODESTY, SPREAD = 1.1, 0.5
#: Values of that difference that are tried.
SHIFTS = np.linspace(-4.0, 6.0, 101)
#: A confidence counts as at most this far from certainty.
CERTAIN = 0.005
#: Share of the mean doubt that even the surest guess keeps.
FLOOR = 0.3
#: Smallest and largest power, and steps of the bisection between them.
POWERS, STEPS = (0.1, 30.0), 30
#: Points that means are taken over: more do not change them.
SAMPLE = 2_000
#: Held-out labels below which there is no evidence and no number should be shown.
EVIDENCE = 10
#: Smallest probability: keeps logarithms finite where a score is zero.
TINY = 1e-12


@dataclass(frozen=True)
class Calibration:
    """A map from a model's probabilities p to calibrated ones.

    ``(1 - floor) p^power / Z + floor / C``, Z the sum of the powers over the C classes.

    Attributes
    ----------
    power : above 1 makes guesses more confident, below 1 less
    floor : share given to all classes alike, from 0 to below 1
    held_out : number of held-out labels that it was fitted to
    classes_seen : number of classes among them
    """

    power: float = 1.0
    floor: float = 0.0
    held_out: int = 0
    classes_seen: int = 0

    @property
    def has_evidence(self) -> bool:
        """Whether numbers may be shown: at least `EVIDENCE` held-out labels of two classes."""
        return self.held_out >= EVIDENCE and self.classes_seen >= 2

    @classmethod
    def fit(
        cls, probabilities: Floats, held_out: Floats, codes: Ints, *, linear_power: float = 0.0
    ) -> "Calibration":
        """Fit to what the model says about labels that it has not seen.

        The power makes the mean confidence on the points that are not labelled what
        `expected_accuracy` says of them, and the floor is `FLOOR` times the rest to 1. Labels whose
        class has no other label say nothing and are left out.

        Parameters
        ----------
        probabilities : (n, C) of the points that are not labelled; rows sum to one
        held_out : (m, C) scores or probabilities of the labels by models that did not see them
        codes : (m,) their classes
        linear_power : power of a linear model in these scores, if the same labels chose it

        References
        ----------
        C. Guo, G. Pleiss, Y. Sun, K. Q. Weinberger, On calibration of modern neural networks, ICML
        2017: the power is the inverse of their temperature.
        """
        pool = _checked(probabilities)
        scores = _checked(held_out)
        if scores.shape != (len(codes), pool.shape[1]):
            raise InputError(
                f"held-out scores have shape {scores.shape}, expected "
                f"{(len(codes), pool.shape[1])}: give a row per label and a column per class"
            )
        if pool.shape[1] < 2 or len(pool) == 0:
            return cls(1.0)
        pool = pool[spread_evenly(len(pool), SAMPLE)]
        answers = np.asarray(codes)
        counts = scores[np.arange(len(scores)), answers] > 0
        rows, answers = scores[counts], answers[counts]
        accuracy = expected_accuracy(
            pool.max(axis=1),
            rows.max(axis=1, initial=0.0) / rows.sum(axis=1),
            rows.argmax(axis=1) == answers,
            MODESTY - linear_power,
        )
        floor = FLOOR * (1.0 - accuracy)
        sharpened = (accuracy - floor / pool.shape[1]) / (1.0 - floor)
        return cls(_power_for(pool, sharpened), floor, len(rows), len(np.unique(answers)))

    def apply(self, probabilities: Floats, keep: Bools | None = None) -> Floats:
        """Calibrated probabilities; the largest entry of each row stays the largest.

        Parameters
        ----------
        probabilities : (n, C), rows sum to one
        keep : (n,) bool, optional
            Rows that are returned as they are: labels, which are known, and points that no label
            reaches, of which nothing is.
        """
        raw = _checked(probabilities)
        if raw.shape[1] < 2:
            return raw.copy()
        result = (1 - self.floor) * to_power(raw, self.power) + self.floor / raw.shape[1]
        rows = np.arange(len(raw))
        best = np.argmax(raw, axis=1)
        # Rounding may make two nearly equal entries equal, and the first of them the largest.
        tied = rows[np.argmax(result, axis=1) != best]
        result[tied, best[tied]] = np.nextafter(result[tied].max(axis=1), 2.0)
        return result if keep is None else np.where(np.asarray(keep)[:, None], raw, result)


def expected_accuracy(
    confidence: Floats, held_out: Floats, right: Bools, modesty: float = MODESTY
) -> float:
    """Share of guesses that are right, from held-out labels that may be harder than the rest.

    A guess of confidence c is taken to be right with probability ``sigmoid(logit(c) + d)``, for
    labels and other points alike: labels that were asked because they are contested have a lower c.
    The difference d is one number, with the prior ``Normal(modesty, SPREAD^2)``, and the share is
    its mean over the points and over the posterior of d given which held-out labels are right.

    Parameters
    ----------
    confidence : (n,) largest probability of each point
    held_out, right : (m,) the same of each held-out label, and whether the guess is right
    modesty : expected d
    """
    signs = np.where(right, 1.0, -1.0)
    said = signs[:, None] * (_logits(held_out)[:, None] + SHIFTS)
    logs = -np.logaddexp(0.0, -said).sum(axis=0) - 0.5 * ((SHIFTS - modesty) / SPREAD) ** 2
    posterior = np.exp(logs - logs.max())
    shares = 1.0 / (1.0 + np.exp(-(_logits(confidence)[:, None] + SHIFTS)))
    return float(shares.mean(axis=0) @ posterior / posterior.sum())


def _power_for(pool: Floats, confidence: float) -> float:
    """The power that makes the mean confidence `confidence`: it rises with the power, so bisect."""
    low, high = np.log(POWERS[0]), np.log(POWERS[1])
    for _ in range(STEPS):
        middle = (low + high) / 2
        if to_power(pool, np.exp(middle)).max(axis=1).mean() < confidence:
            low = middle
        else:
            high = middle
    return float(np.exp((low + high) / 2))


def _logits(confidence: Floats) -> Floats:
    inner = np.clip(confidence, CERTAIN, 1.0 - CERTAIN)
    return np.asarray(np.log(inner / (1.0 - inner)))


def to_power(probabilities: Floats, power: float) -> Floats:
    """Rows of ``p^power``, divided by their sums."""
    logs = power * np.log(np.maximum(probabilities, TINY))
    rows = np.exp(logs - logs.max(axis=1, keepdims=True, initial=-np.inf))
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def _checked(values: Floats) -> Floats:
    matrix = np.asarray(values, dtype=np.float64)
    if matrix.ndim != 2 or not np.all(np.isfinite(matrix)) or matrix.min(initial=0.0) < 0:
        raise InputError(
            "calibration needs a matrix of finite numbers >= 0, a row per point and a column per "
            "class: pass probabilities"
        )
    return matrix
