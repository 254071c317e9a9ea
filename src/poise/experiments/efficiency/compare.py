"""`auto` against every rival: areas under the accuracy curves, paired by trial."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poise.experiments.efficiency.accuracy import BALANCED, COMBINED, LOGISTIC
from poise.experiments.efficiency.methods import AUTO
from poise.experiments.efficiency.records import Row
from poise.experiments.efficiency.trials import BUDGETS, area
from poise.experiments.summary import estimate

#: Share of sets where the interval of the difference must reach 0, and how far the mean may fall
#: short of the best rival's, how far it must be above `norm`, and below random labels with
#: logistic regression from `FROM` labels on.
REACHES, SHORT, ABOVE_NORM, BELOW_LOGISTIC, FROM = 0.8, 0.015, 0.02, 0.01, 20

#: What the tables call `auto` with ``predictor="auto"``, the whole of poise.
PREDICTING = "auto, as poise predicts"

#: method -> trial -> (8,) accuracies at `BUDGETS`
Curves = Mapping[str, Mapping[int, NDArray[np.float64]]]


def curves_by_set(
    rows: Iterable[Row], predictor: str = BALANCED
) -> dict[str, dict[str, dict[int, NDArray[np.float64]]]]:
    """Accuracies by set, method and trial, all in one predictor; and the whole of poise, and
    random labels with logistic regression, as methods of their own.
    """
    found: dict[str, dict[str, dict[int, NDArray[np.float64]]]] = {}
    for row in rows:
        method = row["method"] if row["predictor"] == predictor else _named(row)
        if method is None:
            continue
        trials = found.setdefault(row["set"], {}).setdefault(method, {})
        trials[row["trial"]] = np.array(row["accuracy"])
    return found


def _named(row: Row) -> str | None:
    """What the tables call a method in a predictor of its own, None if they leave it out."""
    return {
        ("random", LOGISTIC): LOGISTIC,
        (AUTO, COMBINED): PREDICTING,
    }.get((row["method"], row["predictor"]))


@dataclass(frozen=True)
class Comparison:
    """One set: `auto` beside its best rival.

    Attributes
    ----------
    set : its name
    trials : number of trials that both have
    areas : method -> mean area under the accuracy curve
    best : the rival of largest mean area
    difference, low, high : mean of `auto` minus best over trials and its 95% t-interval
    above_norm : points of area above `norm`
    above_logistic : the same of the whole of poise, above random labels with logistic regression
    worst_against_logistic : smallest difference of means to that, from `FROM` labels on
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
    """The comparison on one set; None while a method has no trial."""
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
    late = np.array(BUDGETS) >= FROM
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


def verdicts(found: list[Comparison]) -> list[Verdict]:
    """What must hold over the sets."""
    reach = float(np.mean([c.reaches for c in found]))
    short = min(found, key=lambda c: c.difference)
    above = float(np.mean([c.above_norm for c in found]))
    area_gap = min(found, key=lambda c: c.above_logistic)
    late_gap = min(found, key=lambda c: c.worst_against_logistic)
    return [
        Verdict(
            f"interval against the best rival reaches 0 on {REACHES:.0%} of the sets",
            f"{reach:.0%}",
            reach >= REACHES,
        ),
        Verdict(
            f"mean nowhere more than {100 * SHORT:g} points below the best rival",
            f"{100 * short.difference:+.1f} on {short.set} ({short.best})",
            short.difference >= -SHORT,
        ),
        Verdict(
            f"at least {100 * ABOVE_NORM:g} points of area above norm on average",
            f"{100 * above:+.1f}",
            above >= ABOVE_NORM,
        ),
        Verdict(
            "area above random labels with logistic regression on every set",
            f"{100 * area_gap.above_logistic:+.1f} on {area_gap.set}",
            area_gap.above_logistic > 0,
        ),
        Verdict(
            f"never more than {100 * BELOW_LOGISTIC:g} point below that from {FROM} labels on",
            f"{100 * late_gap.worst_against_logistic:+.1f} on {late_gap.set}",
            late_gap.worst_against_logistic >= -BELOW_LOGISTIC,
        ),
    ]
