"""The rules that decide the paper's claims: functions from records to a verdict, with numbers.

A rule that compares two methods takes their difference trial by trial (trials with the same seed
start from the same labels). A claim holds if the whole 95% confidence interval agrees with it, and
does not hold if the whole interval contradicts it. Otherwise the trials do not tell, and the claim
is undecided. Without the records that a rule needs it raises `NotJudged`.
"""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from poise.experiments.metrics import area, by_seed, final, most_asked
from poise.experiments.paper.experiments import PAPER, SUBSETS, paper_model
from poise.experiments.paper.verdicts import (
    NotJudged,
    TooFewTrials,
    Verdict,
    below,
    decided,
    within,
)
from poise.experiments.records import Records
from poise.experiments.summary import Estimate, estimate, paired

#: Differences of mean area, as shares, that count as none: between methods, between policies.
LIKE, LITTLE = 0.02, 0.01
#: The accuracy of SM on blobs in the paper, and the difference that counts as none.
SM_ON_BLOBS, NEAR = 0.62, 0.03
#: A cluster is oversampled if it is asked this many times as often as the one Random asks most.
OVERSAMPLED = 2.0
PROPOSED = ("norm", "norm-decay")

#: The verdict on a claim, and the numbers behind it.
Rule = Callable[[Records], tuple[Verdict, str]]


def sm_on_blobs(records: Records) -> tuple[Verdict, str]:
    """SM ends near the paper's accuracy."""
    _need(records, "sm", "norm")
    ends = {m: estimate(final(_curves(records, m))) for m in ("sm", "norm")}
    sm = ends["sm"]
    mean = estimate(area(_curves(records, "sm")))
    return within(sm, SM_ON_BLOBS - NEAR, SM_ON_BLOBS + NEAR), (
        f"SM ends at {_share(sm)} and averages {_share(mean)} over the questions, Norm ends at "
        f"{_share(ends['norm'])}; {sm.trials} trials."
    )


def all_clusters(records: Records) -> tuple[Verdict, str]:
    """Every trial of the proposed methods ends with a label in every cluster."""
    _need(records, *PROPOSED)
    shares, good = [], True
    for method in PROPOSED:
        whole = final(records.explored(method)) >= 1
        good &= bool(whole.all())
        shares.append(f"{_title(records, method)} in {whole.sum()} of {len(whole)} trials")
    clusters = records.about["clusters"]
    return decided(good), f"All {clusters} clusters: {' and '.join(shares)}."


def ends_below(method: str, other: str) -> Rule:
    """`method` ends with a lower accuracy than `other`."""

    def judged(records: Records) -> tuple[Verdict, str]:
        _need(records, method, other)
        ends = {m: final(_curves(records, m)) for m in (method, other)}
        difference = paired(*(by_seed(records, m, ends[m]) for m in (method, other)))
        levels = " and ".join(
            f"{_title(records, m)} ends at {_share(estimate(ends[m]))}" for m in ends
        )
        return below(difference), f"{levels}: a difference of {_points(difference)}."

    return judged


def area_below(method: str, other: str) -> Rule:
    """`method` has less area under its accuracy curve than `other`."""

    def judged(records: Records) -> tuple[Verdict, str]:
        _need(records, method, other)
        difference = _difference(records, method, other)
        return below(difference), _areas_text(records, method, other, difference)

    return judged


def explores_faster(records: Records) -> tuple[Verdict, str]:
    """Norm with decay has a larger area under the curve of clusters found than V-Opt."""
    _need(records, "norm-decay", "vopt")
    difference = _difference(records, "vopt", "norm-decay", explored=True)
    return below(difference), _areas_text(records, "vopt", "norm-decay", difference, explored=True)


def alike(records: Records) -> tuple[Verdict, str]:
    """Norm with decay and V-Opt have about the same area."""
    _need(records, "norm-decay", "vopt")
    difference = _difference(records, "norm-decay", "vopt")
    numbers = _areas_text(records, "norm-decay", "vopt", difference)
    return within(difference, -LIKE, LIKE), numbers


def best(*, explored: bool) -> Rule:
    """Both proposed methods have a larger area than every other method of the paper."""

    def judged(records: Records) -> tuple[Verdict, str]:
        rivals = [
            method.name
            for method in records.experiment.methods
            if method.group in (PAPER, SUBSETS) and method.name not in PROPOSED
        ]
        if not rivals:
            raise NotJudged("no other method of the paper was run")
        _need(records, *PROPOSED, *rivals)
        leads = {
            method: {
                rival: _difference(records, method, rival, explored=explored) for rival in rivals
            }
            for method in PROPOSED
        }
        every = [lead for each in leads.values() for lead in each.values()]
        ahead = all(lead.low > 0 for lead in every)
        behind = any(lead.high < 0 for lead in every)
        areas = ", ".join(
            f"{_title(records, m)} {_share(_mean_area(records, m, explored=explored))}"
            for m in PROPOSED
        )
        placed = " ".join(_place(records, method, each) for method, each in leads.items())
        verdict = decided(ahead) if ahead or behind else Verdict.UNDECIDED
        return verdict, f"Areas: {areas}. {placed}"

    return judged


def _place(records: Records, method: str, leads: Mapping[str, Estimate]) -> str:
    """A sentence: ahead, not shown to be worse, or behind; `leads` are over each rival."""
    behind = {rival: lead for rival, lead in leads.items() if lead.high < 0}
    level = {rival: lead for rival, lead in leads.items() if lead.low <= 0}
    rival, lead = min((behind or level or leads).items(), key=lambda entry: entry[1].mean)
    if behind:
        said = "is behind"
    elif level:
        said = "is not shown to be worse than any rival, but it is not ahead of"
    else:
        said = "is ahead of every rival; the closest is"
    names = f"{_title(records, method)} {said} {_title(records, rival)}"
    return f"{names}: a difference of {_points(lead)}."


def truncated_is_poor(records: Records) -> tuple[Verdict, str]:
    """V-Opt has a smaller area with a truncated spectrum than without."""
    whole = [m for m in ("vopt-subset", "vopt") if records.seeds(m)]
    if not whole:
        raise NotJudged("V-Opt without truncation was not run")
    _need(records, "vopt-truncated", whole[0])
    difference = _difference(records, "vopt-truncated", whole[0])
    return below(difference), _areas_text(records, "vopt-truncated", whole[0], difference)


def oversampled(records: Records) -> tuple[Verdict, str]:
    """V-Opt with a truncated spectrum asks one cluster much more often than Random asks any."""
    _need(records, "vopt-truncated", "random")
    asked = {m: most_asked(records, m) for m in ("vopt-truncated", "random")}
    threshold = by_seed(records, "random", OVERSAMPLED * asked["random"])
    missing = paired(threshold, by_seed(records, "vopt-truncated", asked["vopt-truncated"]))
    parts = " and ".join(
        f"{_title(records, m)} {_share(estimate(shares))}" for m, shares in asked.items()
    )
    return within(missing, -np.inf, 0.0), (
        f"Share of the questions in the cluster asked most: {parts}."
    )


def policies_change_little(records: Records) -> tuple[Verdict, str]:
    """The other policies have about the same area as max."""
    pairs = [(f"{m}-{policy}", m) for m in PROPOSED for policy in ("kde", "proportional")]
    _need(records, *PROPOSED, *(changed for changed, _ in pairs))
    changes = {pair: _difference(records, *pair) for pair in pairs}
    parts = ", ".join(
        f"{_title(records, changed)} {_points(change)}" for (changed, _), change in changes.items()
    )
    found = {within(change, -LITTLE, LITTLE) for change in changes.values()}
    worst = [v for v in (Verdict.FAILS, Verdict.UNDECIDED, Verdict.HOLDS) if v in found]
    return worst[0], f"Difference of area from max: {parts}."


# What the rules share -------------------------------------------------------------------------


def _need(records: Records, *methods: str) -> None:
    """Refuse records in which trials of `methods` are missing, or which have only one trial."""
    known = {method.name for method in records.experiment.methods}
    for method in methods:
        if method not in known:
            raise NotJudged(f"the method {method} was not run")
        done, wanted = len(records.seeds(method)), len(records.experiment.seeds)
        if not done:
            raise NotJudged(f"no trial of {_title(records, method)} is finished")
        if done < wanted:
            raise NotJudged(f"{done} of {wanted} trials of {_title(records, method)} are finished")
    if len(records.experiment.seeds) < 2:
        raise TooFewTrials("one trial cannot tell a difference from chance")


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
