"""`poise bench accuracy`: ask, measure, and say what holds; resumable at every step."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from poise.experiments.efficiency import accuracy, questions, trust
from poise.experiments.efficiency.compare import Comparison, compare, curves_by_set
from poise.experiments.efficiency.methods import METHODS
from poise.experiments.efficiency.records import Lines, Row
from poise.experiments.efficiency.run import in_processes
from poise.experiments.efficiency.sets import POOLS
from poise.experiments.efficiency.trials import BUDGETS
from poise.experiments.runner import Begin

#: Sets and trials of a quick run, which takes less than 20 minutes on two cores.
QUICK_POOLS, QUICK_TRIALS = ("blobs", "digits", "banking77", "cifar10", "isolet"), 3
TRIALS = 10


@dataclass(frozen=True)
class Plan:
    """What to measure.

    Attributes
    ----------
    folder : where records are kept
    pools, methods : names out of `POOLS` and `METHODS`
    trials : trials of each
    jobs : processes
    """

    folder: Path
    pools: tuple[str, ...] = tuple(POOLS)
    methods: tuple[str, ...] = tuple(METHODS)
    trials: int = TRIALS
    jobs: int = 1


def run(plan: Plan, begin: Begin = lambda step: lambda done, total: None) -> None:
    """Do what is missing of a plan."""
    asked = questions.question_lines(plan.folder)
    todo = list(questions.missing_units(asked, plan.pools, plan.methods, plan.trials, BUDGETS[-1]))
    _do(begin("Asking"), questions.ask_unit, todo, asked, plan.jobs)
    measured = accuracy.accuracy_lines(plan.folder)
    _do(
        begin("Measuring accuracy"),
        accuracy.measure_unit,
        list(accuracy.missing_units(asked, measured)),
        measured,
        plan.jobs,
    )
    calibrated = trust.calibration_lines(plan.folder)
    _do(
        begin("Measuring calibration"),
        trust.measure_unit,
        list(trust.missing_units(asked, calibrated)),
        calibrated,
        plan.jobs,
    )


def _do(
    report: Callable[[int, int], None],
    work: Callable[[Any], list[Row]],
    units: Sequence[Any],
    lines: Lines,
    jobs: int,
) -> None:
    report(0, len(units))
    for done, rows in enumerate(in_processes(work, units, jobs), start=1):
        lines.add(rows)
        report(done, len(units))


def comparisons(folder: Path) -> list[Comparison]:
    """What the accuracies in a folder say, set by set, in the order of the table of sets."""
    curves = curves_by_set(accuracy.accuracy_lines(folder))
    names = [pool.name(g) for pool in POOLS.values() for g in pool.groupings]
    found = [compare(name, curves[name]) for name in names if name in curves]
    return [one for one in found if one is not None]


@dataclass(frozen=True)
class CalibrationMean:
    """Calibration on one set with so many labels, over its trials.

    Attributes
    ----------
    promised : whether there are enough labels per class for the goal to apply
    error, goal : mean calibration error, and what it may be
    sure : share of right guesses among those shown at 90% or more; None if there are none
    """

    set: str
    labels: int
    promised: bool
    error: float
    goal: float
    accuracy: float
    confidence: float
    sure: float | None

    @property
    def met(self) -> bool:
        sure_enough = self.sure is None or self.sure >= trust.SURE_GOAL
        return self.error <= self.goal and sure_enough


def calibration_means(folder: Path) -> list[CalibrationMean]:
    """Means over trials of the calibration records in a folder."""
    groups: dict[tuple[str, int], list[Row]] = {}
    for row in trust.calibration_lines(folder):
        groups.setdefault((row["set"], row["labels"]), []).append(row)
    means = []
    for (name, labels), rows in groups.items():
        sure = sum(row["sure"] for row in rows)
        means.append(
            CalibrationMean(
                name,
                labels,
                labels >= trust.PER_CLASS * rows[0]["classes"],
                float(np.mean([row["error"] for row in rows])),
                trust.GOALS[labels],
                float(np.mean([row["accuracy"] for row in rows])),
                float(np.mean([row["confidence"] for row in rows])),
                sum(row["sure_and_right"] for row in rows) / sure if sure else None,
            )
        )
    return means
