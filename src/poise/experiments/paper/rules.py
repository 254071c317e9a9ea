"""The rules that decide the paper's claims: functions from records to yes or no, with numbers.

A rule that compares two methods takes their difference trial by trial (trials with the same seed
start from the same labels). The difference is significant if its 95% confidence interval lies on
one side of zero. If there are fewer trials than in the paper, and they leave both outcomes
possible, the claim is open: the rule raises `Untestable`, as it does for missing records.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from poise.experiments.metrics import area, by_seed, final, most_asked
from poise.experiments.paper.experiments import PAPER, SUBSETS, paper_model
from poise.experiments.records import Records
from poise.experiments.summary import Estimate, estimate, paired

#: Differences of mean area, as shares, that count as none: between methods, between policies.
LIKE, LITTLE = 0.02, 0.01
#: The accuracy of SM on blobs in the paper, and the difference that counts as none.
SM_ON_BLOBS, NEAR = 0.62, 0.03
#: A cluster is oversampled if it is asked this many times as often as the one Random asks most.
OVERSAMPLED = 2.0
#: Number of trials in the paper.
TRIALS = 10
PROPOSED = ("norm", "norm-decay")


class Untestable(Exception):
    """The records do not decide the claim; the message says why."""


#: Whether a claim holds, and the numbers behind it.
Rule = Callable[[Records], tuple[bool, str]]


def sm_on_blobs(records: Records) -> tuple[bool, str]:
    """SM is near the paper's accuracy, or not significantly different from it."""
    _need(records, "sm", "norm")
    ends = {m: estimate(final(_curves(records, m))) for m in ("sm", "norm")}
    sm = ends["sm"]
    good = abs(sm.mean - SM_ON_BLOBS) <= NEAR or sm.low <= SM_ON_BLOBS <= sm.high
    mean = estimate(area(_curves(records, "sm")))
    return good, (
        f"SM ends at {_share(sm)} and averages {_share(mean)} over the questions, Norm ends at "
        f"{_share(ends['norm'])}; {sm.trials} trials."
    )


def all_clusters(records: Records) -> tuple[bool, str]:
    """Every trial of the proposed methods ends with a label in every cluster."""
    _need(records, *PROPOSED)
    shares, good = [], True
    for method in PROPOSED:
        whole = final(records.explored(method)) >= 1
        good &= bool(whole.all())
        shares.append(f"{_title(records, method)} in {whole.sum()} of {len(whole)} trials")
    clusters = records.about["clusters"]
    return good, f"All {clusters} clusters: {' and '.join(shares)}."


def ends_below(method: str, other: str) -> Rule:
    """`method` ends with a lower accuracy than `other`."""

    def judged(records: Records) -> tuple[bool, str]:
        _need(records, method, other)
        ends = {m: final(_curves(records, m)) for m in (method, other)}
        difference = paired(*(by_seed(records, m, ends[m]) for m in (method, other)))
        levels = " and ".join(
            f"{_title(records, m)} ends at {_share(estimate(ends[m]))}" for m in ends
        )
        return _below(difference, f"{levels}: a difference of {_points(difference)}.")

    return judged


def area_below(method: str, other: str) -> Rule:
    """`method` has less area under its accuracy curve than `other`."""

    def judged(records: Records) -> tuple[bool, str]:
        _need(records, method, other)
        difference = _difference(records, method, other)
        return _below(difference, _areas_text(records, method, other, difference))

    return judged


def explores_faster(records: Records) -> tuple[bool, str]:
    """Norm with decay has a larger area under the curve of clusters found than V-Opt."""
    _need(records, "norm-decay", "vopt")
    difference = _difference(records, "vopt", "norm-decay", explored=True)
    return _below(difference, _areas_text(records, "vopt", "norm-decay", difference, explored=True))


def alike(records: Records) -> tuple[bool, str]:
    """Norm with decay and V-Opt have about the same area."""
    _need(records, "norm-decay", "vopt")
    difference = _difference(records, "norm-decay", "vopt")
    numbers = _areas_text(records, "norm-decay", "vopt", difference)
    good = abs(difference.mean) < LIKE
    possible = difference.low < LIKE and difference.high > -LIKE
    if not good and possible and difference.trials < TRIALS:
        raise _too_few(numbers)
    return good, numbers


def best(*, explored: bool) -> Rule:
    """No other method of the paper has a larger area than either of the proposed ones."""

    def judged(records: Records) -> tuple[bool, str]:
        rivals = [
            method.name
            for method in records.experiment.methods
            if method.group in (PAPER, SUBSETS) and method.name not in PROPOSED
        ]
        if not rivals:
            raise Untestable("no other method of the paper was run")
        _need(records, *PROPOSED, *rivals)
        ahead = {
            (rival, method): _difference(records, rival, method, explored=explored)
            for rival in rivals
            for method in PROPOSED
        }
        (rival, method), most = max(ahead.items(), key=lambda entry: entry[1].mean)
        areas = ", ".join(
            f"{_title(records, m)} {_share(_mean_area(records, m, explored=explored))}"
            for m in (*PROPOSED, rival)
        )
        beaten = [pair for pair, difference in ahead.items() if difference.low > 0]
        if beaten:
            (rival, method) = max(beaten, key=lambda pair: ahead[pair].mean)
            most = ahead[rival, method]
        numbers = (
            f"Areas: {areas}. The closest rival: {_title(records, rival)} minus "
            f"{_title(records, method)} is {_points(most)}."
        )
        if not beaten and most.mean >= LITTLE:
            raise _too_few(numbers)
        return not beaten, numbers

    return judged


def truncated_is_poor(records: Records) -> tuple[bool, str]:
    """V-Opt has a smaller area with a truncated spectrum than without."""
    whole = [m for m in ("vopt-subset", "vopt") if records.seeds(m)]
    if not whole:
        raise Untestable("V-Opt without truncation was not run")
    _need(records, "vopt-truncated", whole[0])
    difference = _difference(records, "vopt-truncated", whole[0])
    return _below(difference, _areas_text(records, "vopt-truncated", whole[0], difference))


def oversampled(records: Records) -> tuple[bool, str]:
    """V-Opt with a truncated spectrum asks one cluster much more often than Random asks any."""
    _need(records, "vopt-truncated", "random")
    shares = {m: estimate(most_asked(records, m)) for m in ("vopt-truncated", "random")}
    good = shares["vopt-truncated"].mean >= OVERSAMPLED * shares["random"].mean
    parts = " and ".join(f"{_title(records, m)} {_share(share)}" for m, share in shares.items())
    return good, f"Share of the questions in the cluster asked most: {parts}."


def policies_change_little(records: Records) -> tuple[bool, str]:
    """The other policies have about the same area as max."""
    pairs = [(f"{m}-{policy}", m) for m in PROPOSED for policy in ("kde", "proportional")]
    _need(records, *PROPOSED, *(changed for changed, _ in pairs))
    changes = {pair: _difference(records, *pair) for pair in pairs}
    parts = ", ".join(
        f"{_title(records, changed)} {_points(change)}" for (changed, _), change in changes.items()
    )
    numbers = f"Difference of area from max: {parts}."
    large = [change for change in changes.values() if abs(change.mean) >= LITTLE]
    if large and not any(change.low > 0 or change.high < 0 for change in large):
        raise _too_few(numbers)
    return not large, numbers


# What the rules share -------------------------------------------------------------------------


def _need(records: Records, *methods: str) -> None:
    """Refuse records in which trials of `methods` are missing, or which have only one trial."""
    known = {method.name for method in records.experiment.methods}
    for method in methods:
        if method not in known:
            raise Untestable(f"the method {method} was not run")
        done, wanted = len(records.seeds(method)), len(records.experiment.seeds)
        if done < wanted:
            raise Untestable(f"{done} of {wanted} trials of {method} are finished")
    if len(records.experiment.seeds) < 2:
        raise Untestable("one trial cannot tell a difference from chance")


def _too_few(numbers: str) -> Untestable:
    """The claim is open, because more trials could decide it."""
    return Untestable(f"too few trials to tell. {numbers.removesuffix('.')}")


def _below(difference: Estimate, numbers: str) -> tuple[bool, str]:
    """Whether a difference is significantly below zero; open if only more trials could tell."""
    if difference.high < 0:
        return True, numbers
    if difference.low < 0 and difference.trials < TRIALS:
        raise _too_few(numbers)
    return False, numbers


def _curves(records: Records, method: str) -> NDArray[np.float64]:
    return records.accuracy(method, paper_model(records.experiment))


def _areas(records: Records, method: str, *, explored: bool = False) -> NDArray[np.float64]:
    return area(records.explored(method) if explored else _curves(records, method))


def _mean_area(records: Records, method: str, *, explored: bool = False) -> Estimate:
    return estimate(_areas(records, method, explored=explored))


def _difference(records: Records, first: str, second: str, *, explored: bool = False) -> Estimate:
    return paired(
        *(by_seed(records, m, _areas(records, m, explored=explored)) for m in (first, second))
    )


def _areas_text(
    records: Records, first: str, second: str, difference: Estimate, *, explored: bool = False
) -> str:
    areas = " and ".join(
        f"{_title(records, m)} {_share(_mean_area(records, m, explored=explored))}"
        for m in (first, second)
    )
    return f"Areas: {areas}; a difference of {_points(difference)}."


def _title(records: Records, method: str) -> str:
    return next(m.title for m in records.experiment.methods if m.name == method)


def _share(value: Estimate) -> str:
    digits = 2 if 0 < value.margin < 1e-3 else 1
    return f"{100 * value.mean:.{digits}f}% ± {100 * value.margin:.{digits}f}"


def _points(value: Estimate) -> str:
    mean, low, high = (
        f"{100 * x:+.2f}".replace("-", "−") for x in (value.mean, value.low, value.high)
    )
    return f"{mean} points ({low} to {high}, {value.trials} trials)"
