"""The paper's claims, judged by the records.

Every claim comes with the rule that decides it (:mod:`poise.experiments.paper.rules`) and the
numbers behind it.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from poise.experiments.paper import rules
from poise.experiments.paper.experiments import EXPERIMENTS, SUBSET
from poise.experiments.paper.rules import Rule
from poise.experiments.paper.verdicts import NotJudged, Verdict, decided
from poise.experiments.records import Records

#: Seconds per query that the paper reports for V-Opt on 500 candidates, and the factor within which
#: a measured time agrees.
SUBSET_SECONDS, AGREEING_FACTOR = 360.0, 2.0
#: Shorter times are not measured well.
CLOCK_SECONDS = 1e-3
#: Number of trials in the paper.
TRIALS = 10
#: Claims that compare methods with those on 500 candidates, which take hours.
WITH_RIVALS = (4, 5)
#: Experiments on large data sets.
LARGE = ("mnist", "fashionmnist", "emnist", "mnist-imb", "fashionmnist-imb", "emnist-vcd")


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
    beaten : whether poise does better than the claim says, which then does not hold
    """

    number: int
    about: str
    statement: str
    rule: str
    verdict: Verdict
    numbers: str
    differs: str = ""
    beaten: bool = False


@dataclass(frozen=True)
class _Test:
    number: int
    about: str
    statement: str
    rule: str
    judge: Rule
    differs: str = ""


def judge(
    records: Sequence[Records],
    timings: Mapping[str, float] | None = None,
    problems: Mapping[str, str] | None = None,
) -> list[Claim]:
    """All claims, in the paper's order.

    Parameters
    ----------
    records : of the experiments that were run
    timings : seconds per query of the forms on 500 candidates, by method name
    problems : experiment -> why it cannot be run here
    """
    by_name = {run.experiment.name: run for run in records}
    claims = []
    for test in _tests():
        run = by_name.get(test.about)
        differs = ""
        if run is not None:
            try:
                verdict, numbers = test.judge(run)
                differs = differences(run, test.differs, rivals=test.number in WITH_RIVALS)
            except NotJudged as reason:
                verdict, numbers = reason.verdict, f"{reason}."
        elif problems and test.about in problems:
            verdict, numbers = Verdict.UNTESTABLE, f"{problems[test.about]}."
        else:
            verdict, numbers = Verdict.NOT_RUN, f"there are no records of {test.about}."
        texts = (test.number, test.about, test.statement, test.rule)
        claims.append(Claim(*texts, verdict, _sentence(numbers), differs))
    return claims + _timed(records, timings or {})


def differences(records: Records, more: str = "", *, rivals: bool = False) -> str:
    """How the records' setting differs from the paper's, as a sentence; empty if it does not.

    `rivals` adds the forms on 500 candidates if they were not run.
    """
    experiment = records.experiment
    original = EXPERIMENTS.get(experiment.name)
    parts = []
    if original is not None and experiment.budget != original.budget:
        parts.append(f"{experiment.budget} questions, the paper has {original.budget}")
    if len(experiment.seeds) < TRIALS:
        parts.append(f"{len(experiment.seeds)} trials, the paper has {TRIALS}")
    known = {method.name for method in original.methods} if original else set()
    left_out = [m.title for m in SUBSET if m.name in known and not records.seeds(m.name)]
    if rivals and left_out:
        parts.append(f"without {' and '.join(left_out)}")
    note = str(records.about.get("note") or "")
    if note:
        parts.append(note)
    if experiment.embedding == "vae" and "authors' own" not in note:
        parts.append("the autoencoder is not the one that the authors trained")
    if more:
        parts.append(more)
    return _sentence("; ".join(parts) + ".") if parts else ""


def claims_csv(claims: Sequence[Claim]) -> str:
    """The claims with their verdicts as CSV, one per line."""
    columns = ("number", "about", "statement", "verdict", "beaten", "numbers", "rule", "differs")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for claim in claims:
        cells = [getattr(claim, column) for column in columns]
        writer.writerow(c.value if isinstance(c, Verdict) else c for c in cells)
    return text.getvalue()


# The claims -----------------------------------------------------------------------------------


AREA = "by area under the accuracy curve, trial by trial, with 95% confidence"


def _tests() -> list[_Test]:
    return [*_blobs(), *_box(), *_isolet(), *_large_sets(), *_truncated_spectra(), *_policies()]


def _blobs() -> list[_Test]:
    return [
        _Test(
            1,
            "blobs",
            "Smallest margin (SM) stays at about 62% accuracy: it exploits before it has explored.",
            "The 95% interval of the mean final accuracy is within "
            f"{100 * rules.NEAR:.0f} points of 62%.",
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
                f"It is lower {AREA}.",
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
            "The 95% interval of the difference between their areas is within "
            f"{100 * rules.LIKE:.0f} points of 0.",
            rules.alike,
        ),
    ]


def _large_sets() -> list[_Test]:
    return [
        _Test(
            4,
            name,
            f"Norm and Norm, τ → 0 are best in {what}.",
            "Both are ahead of every rival, the other methods of the paper, by area under that "
            "curve, trial by trial, with 95% confidence. The claim does not hold if a rival is "
            "ahead of either with that confidence.",
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
                f"It is lower {AREA}; compared with the form on 500 candidates, or "
                "on all points where that was not run.",
                rules.truncated_is_poor,
            ),
            _Test(
                5,
                name,
                "V-Opt with a truncated spectrum asks one cluster too often.",
                "The share of its questions in the cluster asked most is at least "
                f"{rules.OVERSAMPLED:g} times Random's, trial by trial, with 95% confidence.",
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
            "The 95% interval of each difference from the area of max is within "
            f"{100 * rules.LITTLE:.0f} point of 0.",
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
    if not measured:
        return [Claim(7, "V-Opt (Full)", *texts, Verdict.NOT_RUN, "It was not timed.")]
    return [_time(titles.get(name, name), texts, seconds) for name, seconds in measured.items()]


def _time(title: str, texts: tuple[str, str], seconds: float) -> Claim:
    """Claim 7 for one form. A shorter time beats the claim."""
    faster = SUBSET_SECONDS / max(seconds, CLOCK_SECONDS)
    slower = seconds / SUBSET_SECONDS
    numbers = f"{seconds:,.{0 if seconds >= 100 else 2}f} seconds per query here"
    beaten = faster > AGREEING_FACTOR
    if beaten:
        numbers += f": poise is {faster:,.0f} times as fast"
    good = not beaten and slower <= AGREEING_FACTOR
    differs = "Another machine and other code than the authors used."
    return Claim(7, title, *texts, decided(good), f"{numbers}.", differs, beaten)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
