"""`auto` beside every rival, and the calibration of its probabilities: tables from the records."""

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
from poise.experiments.efficiency.tables import Table, goal_table, marked, per_cent


def comparisons(folder: Path, sets: Collection[str] | None = None) -> list[Comparison]:
    """What the accuracies in a folder say, set by set, in the order of the table of sets."""
    curves = curves_by_set(accuracy_lines(folder))
    chosen = [name for name in set_names() if sets is None or name in sets]
    found = [compare(name, curves[name]) for name in chosen if name in curves]
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
    """Areas beside the best rival's, the goals, and the calibration."""
    found = comparisons(folder, sets)
    calibrated = calibration_means(
        row for row in trust.calibration_lines(folder) if row["set"] in sets
    )
    return [
        area_table(found),
        goal_table("Goals: rivals", verdicts(found) if found else []),
        calibration_table(calibrated),
        needed_table([one for one in needed(folder) if one.set in sets]),
    ]


def area_table(found: list[Comparison]) -> Table:
    """Area of `auto`, of its best rival, and of `norm` on each set."""
    rows = []
    for one in found:
        norm = one.areas.get("norm")
        rows.append(
            (
                marked(one.set),
                f"{one.areas[AUTO]:.3f}",
                f"{one.areas[one.best]:.3f}",
                one.best,
                f"{100 * one.difference:+.1f} ({100 * one.low:+.1f} to {100 * one.high:+.1f})",
                "" if norm is None else f"{norm:.3f}",
            )
        )
    head = ("auto", "best rival", "", "difference", "norm")
    return Table("sets", "Area under the accuracy curve", head, tuple(rows), tuple(found))


def calibration_table(found: list[CalibrationMean]) -> Table:
    """Calibration error and sure guesses by set and number of labels."""
    rows = tuple(
        (
            marked(one.set),
            str(one.labels),
            per_cent(one.error),
            f"{one.goal:.0%}" if one.promised else "fewer than two labels per class",
            "" if one.sure is None else f"{one.sure:.0%}",
            ("met" if one.met else "missed") if one.promised else "",
        )
        for one in found
    )
    head = ("labels", "calibration error", "goal", "right of those at 90% or more", "")
    return Table("calibration", "Calibration", head, rows, tuple(found))
