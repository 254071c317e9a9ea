"""The five verdicts on a claim, and how an interval leads to one of the first three."""

from enum import Enum

from poise.experiments.summary import Estimate


class Verdict(Enum):
    """What the records say about a claim."""

    HOLDS = "holds"
    FAILS = "does not hold"
    UNDECIDED = "undecided"
    """It was run, but the trials do not tell."""
    NOT_RUN = "not run"
    UNTESTABLE = "not testable here"


class NotJudged(Exception):
    """No rule was applied to the records; the message says why."""

    verdict = Verdict.NOT_RUN


class TooFewTrials(NotJudged):
    """The records are complete, but cannot tell any difference from chance."""

    verdict = Verdict.UNDECIDED


def decided(good: bool) -> Verdict:
    """The verdict of a rule that leaves nothing open."""
    return Verdict.HOLDS if good else Verdict.FAILS


def below(difference: Estimate) -> Verdict:
    """Whether a difference is below zero."""
    if difference.low <= 0 <= difference.high:
        return Verdict.UNDECIDED
    return decided(difference.high < 0)


def within(value: Estimate, low: float, high: float) -> Verdict:
    """Whether a value is from `low` to `high`."""
    if low <= value.low and value.high <= high:
        return Verdict.HOLDS
    outside = value.high < low or high < value.low
    return Verdict.FAILS if outside else Verdict.UNDECIDED
