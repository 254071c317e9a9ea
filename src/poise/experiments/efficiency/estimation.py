"""Does the interval of an estimated accuracy hold the truth, and how wide is it?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from poise.active.accuracy import Fit, confidence, draw_audit, estimate_accuracy, held_out_scores
from poise.linalg.status import Ints

#: Audited items in the measured sessions.
AUDITS = (20, 40, 60)


@dataclass(frozen=True)
class Estimation:
    """An estimated accuracy beside the true one, in one session.

    Attributes
    ----------
    n_labels, n_audited : chosen labels, and random ones
    truth : accuracy on the unlabelled items
    value, low, high : the estimate and its interval
    exact_low, exact_high : Clopper and Pearson's interval from the same audit
    """

    n_labels: int
    n_audited: int
    truth: float
    value: float
    low: float
    high: float
    exact_low: float
    exact_high: float

    @property
    def covers(self) -> bool:
        return self.low <= self.truth <= self.high

    @property
    def width(self) -> float:
        return self.high - self.low

    @property
    def exact_covers(self) -> bool:
        return self.exact_low <= self.truth <= self.exact_high

    @property
    def exact_width(self) -> float:
        return self.exact_high - self.exact_low


@dataclass(frozen=True)
class EstimationSummary:
    """Means over sessions: how often intervals hold the truth, how wide they are, how far off."""

    n_sessions: int
    coverage: float
    width: float
    error: float
    exact_coverage: float
    exact_width: float


def measure_audit(fit: Fit, truth: Ints, asked: Ints, n: int, seed: int | list[int]) -> Estimation:
    """Audit `n` random items when those `asked` are labelled, and judge the estimate.

    The answers of the audit become labels, as in the app, so that the model that is judged knows
    them. See `measure`.
    """
    unlabelled = np.setdiff1d(np.arange(len(truth)), asked)
    return measure(fit, truth, asked, draw_audit(unlabelled, n, seed))


def measure(fit: Fit, truth: Ints, asked: Ints, audited: Ints) -> Estimation:
    """Judge the estimate of a session whose audit may lie anywhere between its questions.

    Parameters
    ----------
    fit : ``fit(nodes, codes) -> (n, C)`` scores of all nodes
    truth : (n,) class codes
    asked : (m,) nodes that were chosen and labelled
    audited : (a,) nodes that were drawn at random and labelled; none of those asked
    """
    nodes = np.concatenate([asked, audited])
    scores = fit(nodes, truth[nodes])
    alone = held_out_scores(fit, nodes, truth[nodes], audited)
    unlabelled = np.setdiff1d(np.arange(len(truth)), nodes)
    found = estimate_accuracy(
        alone.argmax(axis=1) == truth[audited], confidence(alone), confidence(scores[unlabelled])
    )
    return Estimation(
        n_labels=len(asked),
        n_audited=len(audited),
        truth=float((scores[unlabelled].argmax(axis=1) == truth[unlabelled]).mean()),
        value=found.value,
        low=found.low,
        high=found.high,
        exact_low=found.exact[0],
        exact_high=found.exact[1],
    )


def summarise(sessions: Sequence[Estimation]) -> EstimationSummary:
    """Means over `sessions`, of which there is at least one."""
    table = np.array(
        [
            (s.covers, s.width, abs(s.value - s.truth), s.exact_covers, s.exact_width)
            for s in sessions
        ],
        dtype=np.float64,
    )
    return EstimationSummary(len(sessions), *(float(mean) for mean in table.mean(axis=0)))
