"""Tables from the records: `auto` and every rival, and the calibration of its probabilities."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from poise.experiments.efficiency import trust
from poise.experiments.efficiency.accuracy import accuracy_lines
from poise.experiments.efficiency.compare import Comparison, compare, curves_by_set, verdicts
from poise.experiments.efficiency.methods import AUTO
from poise.experiments.efficiency.needed import needed, needed_table
from poise.experiments.efficiency.records import Row
from poise.experiments.efficiency.sets import set_names
from poise.experiments.efficiency.tables import (
    Table,
    difference_text,
    goal_table,
    marked,
    per_cent,
)


def comparisons(folder: Path, sets: Collection[str] | None = None) -> list[Comparison]:
    """Comparisons from the accuracies in a folder, set by set, in the order of `set_names`."""
    curves = curves_by_set(accuracy_lines(folder))
    chosen = [name for name in set_names() if sets is None or name in sets]
    compared = [compare(name, curves[name]) for name in chosen if name in curves]
    return [comparison for comparison in compared if comparison is not None]


@dataclass(frozen=True)
class CalibrationMean:
    """Calibration on one set with a number of labels, over its trials.

    Attributes
    ----------
    promised : whether there are enough labels per class for the goal to apply
    error, goal : mean calibration error, and its goal
    sure : share of right predictions among those shown at 90% or more; None if there are none
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


def calibration_means(rows: Iterable[Row]) -> list[CalibrationMean]:
    """Means over the trials of calibration records."""
    groups: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["set"], row["labels"]), []).append(row)
    means = []
    for (name, labels), several in groups.items():
        sure = sum(row["sure"] for row in several)
        means.append(
            CalibrationMean(
                name,
                labels,
                labels >= trust.PER_CLASS * several[0]["classes"],
                float(np.mean([row["error"] for row in several])),
                trust.GOALS[labels],
                float(np.mean([row["accuracy"] for row in several])),
                float(np.mean([row["confidence"] for row in several])),
                sum(row["sure_and_right"] for row in several) / sure if sure else None,
            )
        )
    return means


def tables(folder: Path, sets: Collection[str]) -> list[Table]:
    """Areas of `auto` and the best rival, the goals, the calibration, and the labels needed."""
    compared = comparisons(folder, sets)
    calibrated = calibration_means(
        row for row in trust.calibration_lines(folder) if row["set"] in sets
    )
    return [
        area_table(compared),
        goal_table("Goals: rivals", verdicts(compared) if compared else []),
        calibration_table(calibrated),
        needed_table([needs for needs in needed(folder) if needs.set in sets]),
    ]


def area_table(compared: list[Comparison]) -> Table:
    """Area of `auto`, of its best rival, and of `norm` on each set."""
    rows = []
    for comparison in compared:
        norm = comparison.areas.get("norm")
        rows.append(
            (
                marked(comparison.set),
                f"{comparison.areas[AUTO]:.3f}",
                f"{comparison.areas[comparison.best]:.3f}",
                comparison.best,
                difference_text(comparison.difference, comparison.low, comparison.high),
                "" if norm is None else f"{norm:.3f}",
            )
        )
    head = ("auto", "best rival", "", "difference", "norm")
    return Table("sets", "Area under the accuracy curve", head, tuple(rows), tuple(compared))


def calibration_table(means: list[CalibrationMean]) -> Table:
    """Calibration error and sure predictions by set and number of labels."""
    rows = tuple(
        (
            marked(mean.set),
            str(mean.labels),
            per_cent(mean.error),
            f"{mean.goal:.0%}" if mean.promised else "fewer than two labels per class",
            "" if mean.sure is None else f"{mean.sure:.0%}",
            ("met" if mean.met else "missed") if mean.promised else "",
        )
        for mean in means
    )
    head = ("labels", "calibration error", "goal", "right of those at 90% or more", "")
    return Table("calibration", "Calibration", head, rows, tuple(means))
