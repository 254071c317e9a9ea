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

    @classmethod
    def unless(cls, open_: bool, good: bool) -> "Verdict":
        """`HOLDS` or `FAILS`, or `UNDECIDED` if the trials leave the claim open."""
        if open_:
            return cls.UNDECIDED
        return cls.HOLDS if good else cls.FAILS


class NotJudged(Exception):
    """No rule was applied to the records; the message says why."""

    verdict = Verdict.NOT_RUN


class TooFewTrials(NotJudged):
    """The records are complete, but cannot tell any difference from chance."""

    verdict = Verdict.UNDECIDED


def below(difference: Estimate) -> Verdict:
    """Whether a difference is below zero."""
    return Verdict.unless(difference.low <= 0 <= difference.high, difference.high < 0)


def within(value: Estimate, low: float, high: float) -> Verdict:
    """Whether a value is from `low` to `high`."""
    inside = low <= value.low and value.high <= high
    outside = value.high < low or high < value.low
    return Verdict.unless(not inside and not outside, inside)
