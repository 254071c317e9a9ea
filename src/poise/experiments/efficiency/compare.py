"""`auto` compared with every rival: areas under the accuracy curves, paired by trial."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poise.experiments.efficiency.accuracy import BALANCED, COMBINED, LOGISTIC
from poise.experiments.efficiency.methods import AUTO
from poise.experiments.efficiency.records import Row
from poise.experiments.efficiency.trials import BUDGETS, area
from poise.experiments.summary import estimate

#: Goal: share of the sets on which the interval of the difference from the best rival reaches 0.
REACHING_SHARE = 0.8
#: Goals for differences of mean area: at most so far below the best rival, at least so far above
#: `norm` on average.
MAX_BELOW_RIVAL, MIN_ABOVE_NORM = 0.015, 0.02
#: Goal: mean accuracy at most so far below random labels with logistic regression, from this number
#: of labels on.
MAX_BELOW_LOGISTIC, MIN_LABELS = 0.01, 20

#: Name in tables of `auto` with ``predictor="auto"``, which is all of poise.
PREDICTING = "auto, as poise predicts"

#: method -> trial -> (8,) accuracies at `BUDGETS`
Curves = Mapping[str, Mapping[int, NDArray[np.float64]]]


def curves_by_set(
    rows: Iterable[Row], predictor: str = BALANCED
) -> dict[str, dict[str, dict[int, NDArray[np.float64]]]]:
    """Accuracies by set, method and trial in one predictor.

    All of poise, and random labels with logistic regression, count as separate methods.
    """
    curves: dict[str, dict[str, dict[int, NDArray[np.float64]]]] = {}
    for row in rows:
        method = row["method"] if row["predictor"] == predictor else _named(row)
        if method is None:
            continue
        trials = curves.setdefault(row["set"], {}).setdefault(method, {})
        trials[row["trial"]] = np.array(row["accuracy"])
    return curves


def _named(row: Row) -> str | None:
    """Name in tables of a method with its own predictor; None if it is left out."""
    return {
        ("random", LOGISTIC): LOGISTIC,
        (AUTO, COMBINED): PREDICTING,
    }.get((row["method"], row["predictor"]))


@dataclass(frozen=True)
class Comparison:
    """`auto` and its best rival on one set.

    Attributes
    ----------
    set : its name
    trials : number of common trials
    areas : method -> mean area under the accuracy curve
    best : the rival of largest mean area
    difference, low, high : mean of `auto` minus best over trials and its 95% t-interval
    above_norm : difference of area from `norm`
    above_logistic : difference of area of all of poise from random labels with logistic regression
    worst_against_logistic : smallest difference of mean accuracies from that, from `MIN_LABELS`
        labels on
    """

    set: str
    trials: int
    areas: dict[str, float]
    best: str
    difference: float
    low: float
    high: float
    above_norm: float
    above_logistic: float
    worst_against_logistic: float

    @property
    def reaches(self) -> bool:
        return self.high >= 0


def compare(name: str, curves: Curves) -> Comparison | None:
    """The comparison on one set; None if the methods have no common trial."""
    ours = curves.get(AUTO, {})
    common = set(ours).intersection(*(set(trials) for trials in curves.values()))
    rivals = [m for m in curves if m not in (AUTO, PREDICTING, LOGISTIC)]
    if not common or not rivals:
        return None
    trials = sorted(common)
    areas = {m: area([curves[m][t] for t in trials]) for m in curves}
    means = {m: float(values.mean()) for m, values in areas.items()}
    best = max(rivals, key=lambda m: means[m])
    gap = estimate(areas[AUTO] - areas[best])
    mean_curve = {m: np.mean([curves[m][t] for t in trials], axis=0) for m in curves}
    late = np.array(BUDGETS) >= MIN_LABELS
    whole = PREDICTING if PREDICTING in curves else AUTO
    against = (
        float((mean_curve[whole] - mean_curve[LOGISTIC])[late].min())
        if LOGISTIC in curves
        else float("nan")
    )
    return Comparison(
        name,
        len(trials),
        means,
        best,
        gap.mean,
        gap.low,
        gap.high,
        means[AUTO] - means.get("norm", float("nan")),
        means[whole] - means.get(LOGISTIC, float("nan")),
        against,
    )


@dataclass(frozen=True)
class Verdict:
    """A goal over all sets, and whether it is met."""

    goal: str
    measured: str
    met: bool


def verdicts(comparisons: list[Comparison]) -> list[Verdict]:
    """The goals over the sets."""
    reach = float(np.mean([c.reaches for c in comparisons]))
    short = min(comparisons, key=lambda c: c.difference)
    above = float(np.mean([c.above_norm for c in comparisons]))
    area_gap = min(comparisons, key=lambda c: c.above_logistic)
    late_gap = min(comparisons, key=lambda c: c.worst_against_logistic)
    return [
        Verdict(
            f"interval against the best rival reaches 0 on {REACHING_SHARE:.0%} of the sets",
            f"{reach:.0%}",
            reach >= REACHING_SHARE,
        ),
        Verdict(
            f"mean nowhere more than {100 * MAX_BELOW_RIVAL:g} points below the best rival",
            f"{100 * short.difference:+.1f} on {short.set} ({short.best})",
            short.difference >= -MAX_BELOW_RIVAL,
        ),
        Verdict(
            f"at least {100 * MIN_ABOVE_NORM:g} points of area above norm on average",
            f"{100 * above:+.1f}",
            above >= MIN_ABOVE_NORM,
        ),
        Verdict(
            "area above random labels with logistic regression on every set",
            f"{100 * area_gap.above_logistic:+.1f} on {area_gap.set}",
            area_gap.above_logistic > 0,
        ),
        Verdict(
            f"never more than {100 * MAX_BELOW_LOGISTIC:g} point below that from {MIN_LABELS} "
            "labels on",
            f"{100 * late_gap.worst_against_logistic:+.1f} on {late_gap.set}",
            late_gap.worst_against_logistic >= -MAX_BELOW_LOGISTIC,
        ),
    ]
