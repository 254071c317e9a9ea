"""Calibrated probabilities: of the guesses shown at 80%, about 80% are right.

The scores of graph models rank their guesses well, but their size follows the number of labels
and the graph rather than how often they are right. A background that all points share is taken
away, then one power and one floor, fitted to held-out labels, put the size right. No prediction
changes.
"""

from dataclasses import dataclass

import numpy as np

from poise.arrays import Bools, Floats, Ints
from poise.errors import InputError
from poise.models.held_out import spread_evenly

#: Share of points whose smallest probability is below the background, and what is left at least of
#: a probability when the background is taken away.
BACKGROUND, LEFT = 0.1, 0.1
#: Power that is expected where no held-out label is predicted right, and how its logarithm rises
#: with the share of them that is: scores on a good graph are far too modest.
POWER, RIGHT = 0.5, 1.8
#: Standard deviation of the logarithm of the power around that expectation, and how much smaller
#: it is where held-out labels are unlike the other points and say less about them.
SPREAD, UNLIKE = 0.3, 5.0
#: How strongly the expected power rises where held-out labels look harder than the other points,
#: as labels chosen for being contested do; and the largest logarithm of that ratio that counts.
HARDER, HARDEST = 0.6, 0.7
#: Share of the mean doubt that even the surest guess keeps.
FLOOR = 0.4
#: Powers that are tried.
POWERS = np.exp(np.linspace(np.log(0.25), np.log(16.0), 41))
#: Number of points for the mean confidence: more do not change it.
SAMPLE_POINTS = 2_000
#: Held-out labels below which there is no evidence and no number should be shown.
MIN_LABELS = 10
#: Smallest probability: keeps logarithms finite where a score is zero.
MIN_PROBABILITY = 1e-12
#: Probability of an answer that the model excludes, so that one surprise cannot decide.
SURPRISE_PROBABILITY = 1e-4


@dataclass(frozen=True)
class Calibration:
    """A map from a model's probabilities p to calibrated ones.

    ``(1 - floor) s^power / Z + floor / C`` with ``s = max(p - background, LEFT p)``, Z the sum of
    the powers over the C classes.

    Attributes
    ----------
    power : above 1 makes guesses more confident, below 1 less
    floor : share given to all classes alike, from 0 to below 1
    background : what every class gets at nearly every point, whatever the labels nearby
    held_out : number of held-out labels that it was fitted to
    classes_seen : number of classes among them
    """

    power: float = 1.0
    floor: float = 0.0
    background: float = 0.0
    held_out: int = 0
    classes_seen: int = 0

    @property
    def has_evidence(self) -> bool:
        """Whether numbers may be shown: at least `MIN_LABELS` held-out labels of two classes."""
        return self.held_out >= MIN_LABELS and self.classes_seen >= 2

    @classmethod
    def fit(cls, probabilities: Floats, held_out: Floats, codes: Ints) -> "Calibration":
        """Fit to the scores of labels that the model has not seen.

        The background is the `BACKGROUND` quantile, over the points that are not labelled, of the
        smallest probability: near zero if there are many classes, large if a few classes have
        several clusters each. With q_b what is left to the power b, normalised, the floor is
        ``e_b = FLOOR (1 - mean_x max_c q_b(x))``, and b is the posterior mean, in the logarithm,
        under

            log b ~ Normal(log POWER + RIGHT a + HARDER r, (SPREAD / (1 + UNLIKE |r|))^2)
            y_i   ~ (1 - e_b) q_b(i) + e_b / C

        where a is the share of the m held-out labels that are predicted right, ``(right + 1) / (m +
        2)``, and r the logarithm of the mean confidence on these points, divided by that on the
        held-out labels. Labels whose class has no other label are left out: b cannot be seen there.

        Parameters
        ----------
        probabilities : (n, C) of the points that are not labelled; rows sum to one
        held_out : (m, C) scores or probabilities of the labels by models that did not see them
        codes : (m,) their classes

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
        n_classes = pool.shape[1]
        if n_classes < 2 or len(pool) == 0:
            return cls(1.0)
        pool = pool[spread_evenly(len(pool), SAMPLE_POINTS)]
        background = float(np.quantile(pool.min(axis=1), BACKGROUND))
        pool = without_background(pool, background)
        total = scores.sum(axis=1)
        known = total > 0
        rows = without_background(scores[known] / total[known, None], background)
        answers = np.asarray(codes)[known]
        harder = 0.0
        if len(rows):
            harder = float(np.log(pool.max(axis=1).mean() / rows.max(axis=1).mean()))
        counts = rows[np.arange(len(rows)), answers] > 0
        rows, answers = rows[counts], answers[counts]
        right = float((np.sum(rows.argmax(axis=1) == answers) + 1) / (len(rows) + 2))
        centre = np.log(POWER) + RIGHT * right + HARDER * np.clip(harder, -HARDEST, HARDEST)
        logs = np.log(POWERS)
        floors = np.array([FLOOR * (1 - to_power(pool, b).max(axis=1).mean()) for b in POWERS])
        spread = SPREAD / (1 + UNLIKE * abs(harder))
        posterior = -0.5 * ((logs - centre) / spread) ** 2
        for k, (power, floor) in enumerate(zip(POWERS, floors, strict=True)):
            share = to_power(rows, power)[np.arange(len(rows)), answers]
            posterior[k] += np.log(
                (1 - floor) * share + floor / n_classes + SURPRISE_PROBABILITY
            ).sum()
        weights = np.exp(posterior - posterior.max())
        log_power = float(weights @ logs / weights.sum())
        return cls(
            float(np.exp(log_power)),
            float(np.interp(log_power, logs, floors)),
            background,
            len(rows),
            len(np.unique(answers)),
        )

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
        sharpened = to_power(without_background(raw, self.background), self.power)
        result = (1 - self.floor) * sharpened + self.floor / raw.shape[1]
        rows = np.arange(len(raw))
        best = np.argmax(raw, axis=1)
        # Rounding may make two nearly equal entries equal, and the first of them the largest.
        tied = rows[np.argmax(result, axis=1) != best]
        result[tied, best[tied]] = np.nextafter(result[tied].max(axis=1), 2.0)
        return result if keep is None else np.where(np.asarray(keep)[:, None], raw, result)


def without_background(probabilities: Floats, background: float) -> Floats:
    """Rows of ``max(p - background, LEFT p)``, divided by their sums; their order stays."""
    left = np.maximum(probabilities - background, LEFT * probabilities)
    return np.asarray(left / left.sum(axis=1, keepdims=True))


def to_power(probabilities: Floats, power: float) -> Floats:
    """Rows of ``p^power``, divided by their sums."""
    logs = power * np.log(np.maximum(probabilities, MIN_PROBABILITY))
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
