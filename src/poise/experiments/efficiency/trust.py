"""Calibration of the probabilities that a person sees, with the questions of `auto`."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from poise import Learner
from poise.experiments.efficiency.calibration import measure
from poise.experiments.efficiency.methods import AUTO
from poise.experiments.efficiency.records import Lines, Row
from poise.experiments.efficiency.sessions import Asked, all_sessions

KEYS = ("set", "trial", "labels")
#: Number of labels -> goal for the mean calibration error.
GOALS = {20: 0.10, 50: 0.06, 100: 0.06}
#: Goal for the share of right predictions among sure ones.
SURE_GOAL = 0.85
#: The goals apply from this number of labels per class on.
PER_CLASS = 2
DIGITS = 5


@dataclass(frozen=True)
class Unit:
    """A session, and the numbers of labels at which it is to be measured."""

    asked: Asked
    labels: tuple[int, ...]


def calibration_lines(folder: Path) -> Lines:
    """The records of calibration in a folder."""
    return Lines(folder / "calibration.jsonl", KEYS)


def missing_units(questions: Lines, lines: Lines) -> Iterator[Unit]:
    """Sessions of `auto` whose probabilities are not on record."""
    for asked in all_sessions(questions):
        left = tuple(m for m in GOALS if (asked.set, asked.trial, m) not in lines)
        if asked.method == AUTO and left:
            yield Unit(asked, left)


def measure_unit(unit: Unit) -> list[Row]:
    """A row for each number of labels."""
    trial, codes = unit.asked.load()
    rows: list[Row] = []
    for m in unit.labels:
        asked = unit.asked.queries[:m]
        learner = Learner(trial.graph, {node: int(codes[node]) for node in asked})
        # The learner orders classes by their first label; the columns follow the true codes.
        table = np.array(learner.classes, dtype=np.int64)
        probabilities = np.zeros((trial.n_points, int(codes.max()) + 1))
        probabilities[:, table] = learner.probabilities
        labelled = np.zeros(trial.n_points, dtype=bool)
        labelled[list(asked)] = True
        calibration = measure(probabilities, codes, labelled)
        rows.append(
            {
                "set": unit.asked.set,
                "trial": unit.asked.trial,
                "labels": m,
                "classes": int(codes.max()) + 1,
                "evidence": learner.calibration.has_evidence,
                "error": round(calibration.error, DIGITS),
                "accuracy": round(calibration.accuracy, DIGITS),
                "confidence": round(calibration.confidence, DIGITS),
                "sure": calibration.sure,
                "sure_and_right": calibration.sure_and_right,
            }
        )
    return rows
