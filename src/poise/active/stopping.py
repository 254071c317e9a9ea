"""When to stop labelling: what the answers so far say about further ones.

Rules read a history of `Checkpoint`s, a few numbers each, and know no truth. `Settled` is the one
that `advise` follows; it reads the last checkpoint only, so that nothing has to be kept between
questions: the model is fitted once more, to the first half of the answers. The other three are
published rules, to compare with. The figures are in docs/decisions/stopping.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from poise.arrays import Bools, Floats, Ints
from poise.errors import InputError


@dataclass(frozen=True)
class Checkpoint:
    """Where a session stands after some answers.

    Attributes
    ----------
    n_answers : answers so far
    changed : share of the predictions that differ from those of the previous checkpoint
    agreement : Cohen's kappa of the two
    uncertainty : mean entropy of the predicted probabilities, from 0 to 1
    changed_by_half : share of the predictions that the second half of the answers changed
    surprises : share of the second half's answers that were not what the model expected
    """

    n_answers: int
    changed: float
    agreement: float
    uncertainty: float
    changed_by_half: float
    surprises: float

    @property
    def n_recent(self) -> int:
        """Answers in the second half."""
        return self.n_answers - first_half(self.n_answers)


@dataclass(frozen=True)
class Advice:
    """Whether to stop, in one sentence, and why.

    Attributes
    ----------
    stop : whether further labels will change little
    sentence : what to tell the person who labels
    reason : the figures behind it
    """

    stop: bool
    sentence: str
    reason: str


class Rule(Protocol):
    """Decides from the history of a session, oldest checkpoint first."""

    def __call__(self, history: Sequence[Checkpoint]) -> bool: ...


@dataclass(frozen=True)
class Settled:
    """Stop when doubling the labels changed little and brought few surprises: our rule.

    What labels change fades with their number: twice as many will change less than the last
    doubling did. Surprises tell whether the predictions are stable because they are right, or
    because whole regions have not been asked about; there, every other answer is unexpected.

    Attributes
    ----------
    changed : largest share of predictions that the second half of the answers may have changed
    surprises : largest share of unexpected answers in that half
    least : answers before which nothing is advised
    """

    changed: float = 0.03
    surprises: float = 0.25
    least: int = 80

    def __call__(self, history: Sequence[Checkpoint]) -> bool:
        if not history:
            return False
        last = history[-1]
        return (
            last.n_answers >= self.least
            and last.changed_by_half <= self.changed
            and last.surprises <= self.surprises
        )


@dataclass(frozen=True)
class StablePredictions:
    """Stop when successive models agree: the mean kappa of the last few is large.

    References
    ----------
    M. Bloodgood, K. Vijay-Shanker, A method for stopping active learning based on stabilizing
    predictions and the need for user-adjustable stopping, CoNLL 2009.
    """

    agreement: float = 0.99
    window: int = 3

    def __call__(self, history: Sequence[Checkpoint]) -> bool:
        # The first checkpoint has none before it to agree with.
        recent = [point.agreement for point in history[1:][-self.window :]]
        return len(recent) == self.window and float(np.mean(recent)) >= self.agreement


@dataclass(frozen=True)
class OverallUncertainty:
    """Stop when the mean uncertainty of the unlabelled items is small.

    References
    ----------
    J. Zhu, H. Wang, E. Hovy, M. Ma, Confidence-based stopping criteria for active learning for
    data annotation, ACM Transactions on Speech and Language Processing 6(3), 2010.
    """

    uncertainty: float = 0.1

    def __call__(self, history: Sequence[Checkpoint]) -> bool:
        return bool(history) and history[-1].uncertainty <= self.uncertainty


@dataclass(frozen=True)
class ClassificationChange:
    """Stop when no prediction changed at the last few checkpoints.

    References
    ----------
    J. Zhu, H. Wang, E. Hovy, M. Ma, 2010, as for `OverallUncertainty`.
    """

    window: int = 2

    def __call__(self, history: Sequence[Checkpoint]) -> bool:
        recent = history[1:][-self.window :]
        return len(recent) == self.window and all(point.changed == 0 for point in recent)


RULES: dict[str, Rule] = {
    "settled": Settled(),
    "stable-predictions": StablePredictions(),
    "overall-uncertainty": OverallUncertainty(),
    "classification-change": ClassificationChange(),
}


def first_half(n_answers: int) -> int:
    """Number of answers in the first half; the middle one belongs to the second."""
    return n_answers // 2


def share_changed(codes: Ints, before: Ints) -> float:
    """Share of the predictions that differ between two fits; classes are numbered alike in both."""
    if codes.shape != before.shape:
        raise InputError(
            f"predictions of {len(codes)} and of {len(before)} items: compare the same items"
        )
    return float(np.mean(codes != before)) if len(codes) else 0.0


def kappa(codes: Ints, before: Ints) -> float:
    """Cohen's kappa of two predictions, ``(a - e) / (1 - e)``.

    Here a is the share on which they agree and e the share on which they would agree by chance,
    ``sum_c p_c p'_c`` with p and p' the shares of the classes in each. 1 if both have one class.
    """
    agree = 1.0 - share_changed(codes, before)
    if not len(codes):
        return 1.0
    n_classes = int(max(codes.max(), before.max())) + 1
    shares = [np.bincount(c, minlength=n_classes) / len(codes) for c in (codes, before)]
    chance = float(shares[0] @ shares[1])
    return (agree - chance) / (1.0 - chance) if chance < 1.0 else 1.0


def mean_entropy(probabilities: Floats) -> float:
    """Mean entropy of the rows of (n, C) probabilities in units of log C, from 0 to 1."""
    n, n_classes = probabilities.shape
    if n == 0 or n_classes < 2:
        return 0.0
    logarithms = np.log(np.where(probabilities > 0, probabilities, 1.0))
    return float(-(probabilities * logarithms).sum() / (n * np.log(n_classes)))


def checkpoint(
    probabilities: Floats,
    before: Ints,
    half: Ints,
    surprising: npt.ArrayLike,
    labelled: Ints,
) -> Checkpoint:
    """Compare the predictions of now with those of earlier fits.

    Parameters
    ----------
    probabilities : (n, C) of the model fitted to all answers
    before : (n,) predicted classes at the previous checkpoint, or any at the first
    half : (n,) predicted classes of the model fitted to the first half of the answers
    surprising : (m,) for each answer, in order, whether the model expected another class
    labelled : nodes that are labelled; the uncertainty is that of the others
    """
    unexpected: Bools = np.asarray(surprising, dtype=bool)
    codes = probabilities.argmax(axis=1)
    recent = unexpected[first_half(len(unexpected)) :]
    rest = np.ones(len(codes), dtype=bool)
    rest[labelled] = False
    return Checkpoint(
        n_answers=len(unexpected),
        changed=share_changed(codes, before),
        agreement=kappa(codes, before),
        uncertainty=mean_entropy(probabilities[rest]),
        changed_by_half=share_changed(codes, half),
        surprises=float(recent.mean()) if len(recent) else 1.0,
    )


def advise(history: Sequence[Checkpoint], rule: Settled | None = None) -> Advice:
    """Whether to continue labelling, from a history whose last checkpoint is now.

    `Settled` reads that one only, so a history of one checkpoint is enough.
    """
    rule = rule or Settled()
    if not history or history[-1].n_answers < rule.least:
        done = history[-1].n_answers if history else 0
        return Advice(
            False,
            f"Keep labelling: it is too early to tell after {_count(done, 'answer')}.",
            f"Advice to stop needs at least {rule.least} answers.",
        )
    last = history[-1]
    changed, surprises = _percent(last.changed_by_half), _percent(last.surprises)
    reason = (
        f"The last {last.n_recent} answers changed {changed} of the predictions "
        f"(at most {_percent(rule.changed)} to stop), and {surprises} of them were unexpected "
        f"(at most {_percent(rule.surprises)})."
    )
    if rule(history):
        sentence = (
            f"You can stop: the last {last.n_recent} answers changed {changed} of the "
            "predictions, so more labels will change little."
        )
    elif last.changed_by_half > rule.changed:
        sentence = (
            f"Keep labelling: the last {last.n_recent} answers changed {changed} of the "
            "predictions."
        )
    else:
        sentence = (
            f"Keep labelling: {surprises} of the last {last.n_recent} answers were unexpected."
        )
    return Advice(rule(history), sentence, reason)


def _percent(share: float) -> str:
    """A share in per cent, with a decimal below 10 unless it is zero."""
    digits = 1 if 0 < share < 0.0995 else 0
    text = f"{100 * share:.{digits}f}"
    return f"{text.removesuffix('.0')}%" if float(text) or share == 0 else "less than 0.1%"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
