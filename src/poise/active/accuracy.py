r"""How accurate the predictions of unlabelled items are, from an audit and the model's confidence.

Labels that were chosen actively are a biased sample: they do not show how good the rest is. An
audit is a uniform random sample of the unlabelled items, and Clopper and Pearson's interval of its
share of right predictions is exact (:func:`exact_interval`). It ignores that the model is known to
be surer of some items than of others. :func:`estimate_accuracy` uses that, in the spirit of
prediction-powered inference [1]_: the confidence of the model may be wrong, since all it does is
to rank the items; the level comes from the audit alone.

With :math:`c_i` the confidence of an item and :math:`\ell_i` its logit, the working model is

.. math:: P_\delta(\text{prediction } i \text{ is right}) = \sigma(\lambda \ell_i + \delta),
   \qquad \theta(\delta) = \frac1N \sum_{i \text{ unlabelled}} \sigma(\lambda \ell_i + \delta).

The interval holds the accuracies :math:`\theta(\delta)` at which the number of right predictions in
the audit is not extreme: a sum of independent, unequal coin tosses, whose distribution is computed
exactly; half the probability of the number seen counts (mid-P, [2]_). The slope :math:`\lambda` is
fitted to the audit, with a penalty that keeps it near 1 while the audit is small, so that useless
confidences are ignored (the power tuning of [1]_). Two things widen the interval: scatter of right
and wrong predictions beyond what the model says, and a pool that is not much larger than the audit.

Which answers count
    An audit answer becomes a label, and then the model knows it. It still counts if its prediction
    and its confidence come from a model that was fitted without it, see :func:`held_out_scores`.
    Such an answer stays valid when further labels arrive, audited or chosen: the estimate is always
    of the current model. Items that were skipped do not count, so the estimate is for items that
    can be answered. Everything is computed from the answers that stand: after an undo or a
    corrected answer, compute again.

References
----------
.. [1] A. N. Angelopoulos, J. C. Duchi and T. Zrnic, "PPI++: Efficient prediction-powered
   inference", arXiv:2311.01453, 2023.
.. [2] G. Berry and P. Armitage, "Mid-P confidence intervals: a brief review", The Statistician
   44(4), 1995.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import expit, log_expit
from scipy.stats import binomtest

from poise.arrays import Floats, Ints
from poise.checks import real_number, whole_number
from poise.errors import InputError, LabelError

#: Keeps the logit of a confidence of 0 or 1 finite, at about 4.
LOGIT_MARGIN = 0.02
#: Slopes that are tried, and the standard deviation of their penalty around 1.
SLOPES, SLOPE_DEVIATION = np.linspace(0.0, 1.25, 26), 0.5
#: Bins that stand for the logits of the unlabelled items.
N_BINS = 512
#: Levels are searched for between minus and plus this logit.
MAX_LOGIT = 40.0

#: Fits a model to labelled nodes and their class codes; returns the scores (n, C) of all nodes.
Fit = Callable[[Ints, Ints], Floats]


@dataclass(frozen=True)
class AccuracyEstimate:
    """Accuracy of the predictions of the items that have no label.

    Attributes
    ----------
    value, low, high : the estimate and its interval
    n_audited, n_right : answers of the audit, and how many were predicted right
    n_unlabelled : items that the estimate is for
    exact : Clopper and Pearson's interval from the same answers, which uses no confidence
    slope : how far the audit supports the confidences; 0: not at all, 1: as they are
    level : of both intervals
    """

    value: float
    low: float
    high: float
    n_audited: int
    n_right: int
    n_unlabelled: int
    exact: tuple[float, float]
    slope: float
    level: float = 0.95

    @property
    def width(self) -> float:
        return self.high - self.low


def draw_audit(unlabelled: npt.ArrayLike, n: int, seed: int | list[int]) -> Ints:
    """Items to audit, drawn uniformly without replacement, in the order in which to ask.

    Every item is as likely as any other, so that an audit that ends early is a valid, smaller one.

    Parameters
    ----------
    unlabelled : (N,) nodes without a label
    n : at least 1; fewer are returned where there are fewer
    """
    nodes = np.unique(np.asarray(unlabelled, dtype=np.int64))
    whole_number(n, "n", 1)
    if not len(nodes):
        raise InputError("there are no unlabelled items: nothing is left to audit")
    return np.random.default_rng(seed).choice(nodes, min(n, len(nodes)), replace=False)


def confidence(scores: npt.ArrayLike) -> Floats:
    """(n,) Margin between the two largest scores, as a share of their sum over all C classes.

    Parameters
    ----------
    scores : (n, C) scores or probabilities, not negative; a row of zeros has confidence 0
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 2 or not values.shape[1] or not (values >= 0).all():
        raise InputError(
            f"scores have shape {values.shape}: expected (n, C) numbers that are not negative"
        )
    if values.shape[1] == 1:
        values = np.column_stack([values, np.zeros(len(values))])
    top = np.partition(values, -2, axis=1)
    total = values.sum(axis=1)
    return np.asarray((top[:, -1] - top[:, -2]) / np.where(total > 0, total, 1.0))


def held_out_scores(fit: Fit, nodes: npt.ArrayLike, codes: npt.ArrayLike, held: Ints) -> Floats:
    """Scores of labelled nodes, each from a model that was fitted without it.

    Parameters
    ----------
    fit : ``fit(nodes, codes) -> (n, C)`` scores of all nodes; called once for each node in `held`
    nodes, codes : (m,) the labels
    held : (h,) some of the nodes

    Returns
    -------
    (h, C) scores
    """
    labelled, classes = np.asarray(nodes, dtype=np.int64), np.asarray(codes, dtype=np.int64)
    if labelled.shape != classes.shape or labelled.ndim != 1:
        raise LabelError(
            f"nodes have shape {labelled.shape} and codes {classes.shape}: expected a code per node"
        )
    if not np.isin(held, labelled).all():
        raise LabelError(f"node {np.setdiff1d(held, labelled)[0]} is held out but has no label")
    if len(held) and len(labelled) < 2:
        raise LabelError("there is one label: without it, there is nothing to fit a model to")
    scores = []
    for node in held:
        rest = labelled != node
        scores.append(fit(labelled[rest], classes[rest])[node])
    return np.array(scores)


def exact_interval(right: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """The exact interval of a share (C. J. Clopper and E. S. Pearson, Biometrika 26, 1934)."""
    interval = binomtest(right, n).proportion_ci(level, method="exact")
    return float(interval.low), float(interval.high)


def estimate_accuracy(
    right: npt.ArrayLike,
    audited: npt.ArrayLike,
    unlabelled: npt.ArrayLike,
    level: float = 0.95,
) -> AccuracyEstimate:
    """Accuracy on the unlabelled items, from an audit and the confidence of every prediction.

    Parameters
    ----------
    right : (a,) bool
        Whether the held-out prediction of each audited item is its answer.
    audited : (a,)
        Confidences of these predictions, from 0 to 1, held out as well.
    unlabelled : (N,)
        Confidences of the predictions of the items without a label, on the same scale.
    level : how often the interval should hold the truth
    """
    z = np.asarray(right, dtype=np.float64)
    drawn, pool = _logits(audited, "audited"), _logits(unlabelled, "unlabelled")
    real_number(level, "level", lambda value: 0 < value < 1, "it must be between 0 and 1")
    if not len(drawn):
        raise InputError("there are no audit answers: audit some items to know the accuracy")
    if not len(pool):
        raise InputError("there are no unlabelled items: no prediction is left to judge")
    if z.shape != drawn.shape or not np.isin(z, (0, 1)).all():
        raise InputError(f"right has shape {z.shape}: expected {drawn.shape}, true or false")
    n, n_right = len(z), int(z.sum())
    share, centre = _bins(pool)
    slope, offset, dispersion = _fitted(z, drawn)
    # The audit estimates what the items have in common; the unlabelled ones vary on their own too.
    shrink = 1 / np.sqrt(dispersion * (1 + n / len(pool)))

    def at_most(level_logit: float) -> float:
        """P(as few right predictions as seen, or fewer)."""
        p = expit(slope * drawn + level_logit)
        expected = p.sum()
        return _mid_distribution(p, expected + (n_right - expected) * shrink)

    def accuracy(level_logit: float) -> float:
        return float(share @ expit(slope * centre + level_logit))

    def where(probability: float, otherwise: float) -> float:
        """The accuracy at which `at_most` is `probability`."""
        # Few right ones are unlikely at a high level, so the function falls.
        if at_most(-MAX_LOGIT) <= probability or at_most(MAX_LOGIT) >= probability:
            return otherwise
        return accuracy(
            float(brentq(lambda t: at_most(t) - probability, -MAX_LOGIT, MAX_LOGIT, xtol=1e-6))
        )

    tail = (1 - level) / 2
    return AccuracyEstimate(
        value=accuracy(offset) if 0 < n_right < n else float(n_right == n),
        low=where(1 - tail, 0.0) if n_right else 0.0,
        high=where(tail, 1.0) if n_right < n else 1.0,
        n_audited=n,
        n_right=n_right,
        n_unlabelled=len(pool),
        exact=exact_interval(n_right, n, level),
        slope=slope,
        level=float(level),
    )


def _logits(confidences: npt.ArrayLike, name: str) -> Floats:
    c = np.asarray(confidences, dtype=np.float64)
    if c.ndim != 1 or not ((c >= 0) & (c <= 1)).all():
        raise InputError(
            f"{name} has shape {c.shape}: expected one confidence from 0 to 1 per item"
        )
    return np.asarray(np.log((c + LOGIT_MARGIN) / (1 + LOGIT_MARGIN - c)))


def _bins(logits: Floats) -> tuple[Floats, Floats]:
    """Shares and means of the logits in narrow bins: as good as the logits, however many."""
    counts, edges = np.histogram(logits, N_BINS)
    sums, _ = np.histogram(logits, edges, weights=logits)
    some = counts > 0
    return counts[some] / len(logits), sums[some] / counts[some]


def _fitted(z: Floats, logits: Floats) -> tuple[float, float, float]:
    """Slope, offset and dispersion of the working model, from the audit.

    Where all predictions were right, or all wrong, the audit does not determine the slope.
    """
    if z.min() == z.max():
        return 1.0, 0.0, 1.0
    tilted = SLOPES[:, None] * logits
    # For each slope the likeliest offset: as many right as expected. The sum rises with it.
    low, high = np.full(len(SLOPES), -MAX_LOGIT), np.full(len(SLOPES), MAX_LOGIT)
    for _ in range(50):
        offset = (low + high) / 2
        above = expit(tilted + offset[:, None]).sum(axis=1) > z.sum()
        low, high = np.where(above, low, offset), np.where(above, offset, high)
    linear = tilted + offset[:, None]
    likelihood = np.where(z > 0, log_expit(linear), log_expit(-linear)).sum(axis=1)
    best = int(np.argmax(likelihood - 0.5 * ((SLOPES - 1) / SLOPE_DEVIATION) ** 2))
    p = expit(linear[best])
    # Two numbers were fitted: the scatter around them is too small by their share.
    scatter = ((z - p) ** 2).sum() / (p * (1 - p)).sum() * len(z) / max(len(z) - 2, 1)
    return float(SLOPES[best]), float(offset[best]), max(1.0, float(scatter))


def _mid_distribution(p: Floats, x: float) -> float:
    """P(X < x) + P(X = x) / 2 of the number X of successes, linear between whole numbers."""
    # Inverse Fourier transform of the characteristic function (Y. Hong, Computational Statistics &
    # Data Analysis 59, 2013): exact, and faster than adding one toss after the other.
    roots = np.exp(2j * np.pi * np.arange(len(p) + 1) / (len(p) + 1))
    mass = np.fft.fft(np.prod(1 - p[:, None] + p[:, None] * roots, axis=0)).real / len(roots)
    return float(np.interp(x, np.arange(len(mass)), np.cumsum(mass) - mass / 2))
