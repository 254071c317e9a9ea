"""The paper's claims, judged by the records: each holds, does not hold or cannot be tested here.

Every claim comes with the rule that decides it (:mod:`poise.experiments.paper.rules`) and the
numbers behind it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from poise.experiments.paper import rules
from poise.experiments.paper.experiments import EXPERIMENTS, SUBSET
from poise.experiments.paper.rules import TRIALS, Rule, Untestable
from poise.experiments.records import Records

#: Seconds per query that the paper reports for V-Opt on 500 candidates, and the factor within which
#: a measured time agrees.
SUBSET_SECONDS, AGREEING_FACTOR = 360.0, 2.0
#: Experiments on large data sets.
LARGE = ("mnist", "fashionmnist", "emnist", "mnist-imb", "fashionmnist-imb", "emnist-vcd")


class Verdict(Enum):
    """What the records say about a claim."""

    HOLDS = "holds"
    FAILS = "does not hold"
    UNTESTED = "cannot be tested here"


@dataclass(frozen=True)
class Claim:
    """A judged claim.

    Attributes
    ----------
    number : from 1 to 7, in the paper's order
    about : the experiment, or what was timed
    statement : what the paper says, in other words
    rule : when the claim holds
    numbers : what was measured, or why nothing could be
    differs : how the setting of these records differs from the paper's; may be empty
    """

    number: int
    about: str
    statement: str
    rule: str
    verdict: Verdict
    numbers: str
    differs: str = ""


@dataclass(frozen=True)
class _Test:
    number: int
    about: str
    statement: str
    rule: str
    judge: Rule
    differs: str = ""


def judge(records: Sequence[Records], timings: Mapping[str, float] | None = None) -> list[Claim]:
    """All claims, in the paper's order.

    Parameters
    ----------
    records : of the experiments that were run
    timings : seconds per query of the forms on 500 candidates, by method name
    """
    by_name = {run.experiment.name: run for run in records}
    claims = []
    for test in _tests():
        run = by_name.get(test.about)
        try:
            if run is None:
                raise Untestable(f"there are no records of {test.about}")
            good, numbers = test.judge(run)
            verdict = Verdict.HOLDS if good else Verdict.FAILS
        except Untestable as reason:
            verdict, numbers = Verdict.UNTESTED, f"{reason}."
        differs = ""
        if run is not None and verdict != Verdict.UNTESTED:
            differs = differences(run, test.differs)
        texts = (test.number, test.about, test.statement, test.rule)
        claims.append(Claim(*texts, verdict, _sentence(numbers), differs))
    return claims + _timed(records, timings or {})


def differences(records: Records, more: str = "") -> str:
    """How the records' setting differs from the paper's, as a sentence; empty if it does not."""
    experiment = records.experiment
    original = EXPERIMENTS.get(experiment.name)
    parts = []
    if original is not None and experiment.budget != original.budget:
        parts.append(f"{experiment.budget} questions, the paper has {original.budget}")
    if len(experiment.seeds) < TRIALS:
        parts.append(f"{len(experiment.seeds)} trials, the paper has {TRIALS}")
    note = str(records.about.get("note") or "")
    if note:
        parts.append(note)
    if experiment.embedding == "vae" and "authors' own" not in note:
        parts.append("the autoencoder is not the one that the authors trained")
    if more:
        parts.append(more)
    return _sentence("; ".join(parts) + ".") if parts else ""


# The claims -----------------------------------------------------------------------------------


SIGNIFICANTLY = "by area under the accuracy curve, trial by trial, with 95% confidence"


def _tests() -> list[_Test]:
    return [*_blobs(), *_box(), *_isolet(), *_large_sets(), *_truncated_spectra(), *_policies()]


def _blobs() -> list[_Test]:
    return [
        _Test(
            1,
            "blobs",
            "Smallest margin (SM) stays at about 62% accuracy: it exploits before it has explored.",
            f"The mean final accuracy is within {100 * rules.NEAR:.0f} points of 62%, or its 95% "
            "interval contains 62%.",
            rules.sm_on_blobs,
        ),
        _Test(
            1,
            "blobs",
            "Norm and Norm, τ → 0 reach every cluster.",
            "Every trial of both ends with a label in every cluster.",
            rules.all_clusters,
        ),
    ]


def _box() -> list[_Test]:
    return [
        _Test(
            2,
            "box",
            f"Norm with a fixed τ levels off below {title}.",
            "Its final accuracy is lower, trial by trial, with 95% confidence.",
            rules.ends_below("norm", other),
        )
        for other, title in (("sm", "SM"), ("norm-decay", "Norm, τ → 0"))
    ]


def _isolet() -> list[_Test]:
    return [
        *(
            _Test(
                3,
                "isolet",
                f"SM, choosing in {model}, is worse than asking at random.",
                f"It is lower {SIGNIFICANTLY}.",
                rules.area_below(method, "random"),
            )
            for method, model in (("sm", "PWLL"), ("sm-laplace", "Laplace learning"))
        ),
        _Test(
            3,
            "isolet",
            "Norm, τ → 0 finds the clusters faster than V-Opt.",
            "Its area under the curve of clusters found is larger, trial by trial, with 95% "
            "confidence.",
            rules.explores_faster,
        ),
        _Test(
            3,
            "isolet",
            "Norm, τ → 0 is about as accurate as V-Opt.",
            f"Their mean areas differ by less than {100 * rules.LIKE:.0f} points.",
            rules.alike,
        ),
    ]


def _large_sets() -> list[_Test]:
    return [
        _Test(
            4,
            name,
            f"Norm and Norm, τ → 0 are best in {what}.",
            "No other method of the paper is above either by area under that curve, trial by "
            "trial, with 95% confidence. If one is ahead by a point or more without that "
            "confidence, the claim is open.",
            rules.best(explored=what == "exploration"),
        )
        for name in LARGE
        for what in ("accuracy", "exploration")
    ]


def _truncated_spectra() -> list[_Test]:
    return [
        test
        for name in ("mnist", "fashionmnist")
        for test in (
            _Test(
                5,
                name,
                "V-Opt with a truncated spectrum is poor compared with V-Opt without truncation.",
                f"It is lower {SIGNIFICANTLY}; compared with the form on 500 candidates, or "
                "on all points where that was not run.",
                rules.truncated_is_poor,
            ),
            _Test(
                5,
                name,
                "V-Opt with a truncated spectrum asks one cluster too often.",
                "The share of its questions in the cluster asked most is at least "
                f"{rules.OVERSAMPLED:g} times Random's.",
                rules.oversampled,
            ),
        )
    ]


def _policies() -> list[_Test]:
    return [
        _Test(
            6,
            name,
            "The policies KDE and proportional change little.",
            f"No mean area differs from that of max by {100 * rules.LITTLE:.0f} point or more. If "
            "one does, without 95% confidence, the claim is open.",
            rules.policies_change_little,
            "the authors' code draws ten points in proportion and keeps the best of them, the "
            "paper's rule, used here, draws one",
        )
        for name in ("mnist", "fashionmnist", "emnist")
    ]


def _timed(records: Sequence[Records], timings: Mapping[str, float]) -> list[Claim]:
    """Claim 7: one verdict for each form that was timed."""
    measured = dict(timings) or {
        run.experiment.name: float(np.median(run.seconds("vopt-subset")))
        for run in records
        if run.seeds("vopt-subset")
    }
    titles = {method.name: method.title for method in SUBSET}
    texts = (
        "A form on 500 random candidates takes about 6 minutes per query.",
        f"The seconds per query are within a factor of {AGREEING_FACTOR:g} of {SUBSET_SECONDS:g}.",
    )
    fastest, slowest = SUBSET_SECONDS / AGREEING_FACTOR, SUBSET_SECONDS * AGREEING_FACTOR
    if not measured:
        return [Claim(7, "V-Opt (Full)", *texts, Verdict.UNTESTED, "It was not timed.")]
    return [
        Claim(
            7,
            titles.get(name, name),
            *texts,
            Verdict.HOLDS if fastest <= seconds <= slowest else Verdict.FAILS,
            f"{seconds:,.{0 if seconds >= 100 else 2}f} seconds per query here.",
            "Another machine and other code than the authors used.",
        )
        for name, seconds in measured.items()
    ]


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
