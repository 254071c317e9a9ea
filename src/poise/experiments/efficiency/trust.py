"""Calibration of the probabilities that a person sees, along the questions of `auto`."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from poise import Learner
from poise.experiments.efficiency.calibration import measure
from poise.experiments.efficiency.methods import AUTO
from poise.experiments.efficiency.records import Lines, Row
from poise.experiments.efficiency.sets import POOLS
from poise.experiments.efficiency.trials import make_trial

KEYS = ("set", "trial", "labels")
#: Numbers of labels, and the largest mean calibration error there.
GOALS = {20: 0.10, 50: 0.06, 100: 0.06}
#: Share of the sure guesses that must be right.
SURE_GOAL = 0.85
#: Labels per class below which nothing is promised.
PER_CLASS = 2
DIGITS = 5


@dataclass(frozen=True)
class Unit:
    """A trial's questions, and how many of them are answered."""

    pool: str
    grouping: int
    trial: int
    queries: tuple[int, ...]
    labels: tuple[int, ...]


def calibration_lines(folder: Path) -> Lines:
    """The records of calibration in a folder."""
    return Lines(folder / "calibration.jsonl", KEYS)


def missing_units(questions: Lines, lines: Lines) -> Iterator[Unit]:
    """Sessions of `auto` whose probabilities have not been measured."""
    place = {p.name(g): (p.dataset, g) for p in POOLS.values() for g in p.groupings}
    for row in sorted(questions, key=lambda row: (row["trial"], place[row["set"]][0])):
        left = tuple(m for m in GOALS if (row["set"], row["trial"], m) not in lines)
        if row["method"] == AUTO and left:
            yield Unit(*place[row["set"]], row["trial"], tuple(row["queries"]), left)


def measure_unit(unit: Unit) -> list[Row]:
    """A row for each number of labels."""
    trial = make_trial(unit.pool, unit.trial)
    codes = trial.classes[unit.grouping]
    rows: list[Row] = []
    for m in unit.labels:
        asked = unit.queries[:m]
        learner = Learner(trial.graph, {node: int(codes[node]) for node in asked})
        # The learner orders classes as they come; the codes of the truth follow it.
        table = np.array(learner.classes, dtype=np.int64)
        probabilities = np.zeros((trial.n_points, int(codes.max()) + 1))
        probabilities[:, table] = learner.probabilities
        labelled = np.zeros(trial.n_points, dtype=bool)
        labelled[list(asked)] = True
        found = measure(probabilities, codes, labelled)
        rows.append(
            {
                "set": trial.pool.name(unit.grouping),
                "trial": unit.trial,
                "labels": m,
                "classes": int(codes.max()) + 1,
                "evidence": learner.calibration.has_evidence,
                "error": round(found.error, DIGITS),
                "accuracy": round(found.accuracy, DIGITS),
                "confidence": round(found.confidence, DIGITS),
                "sure": found.sure,
                "sure_and_right": found.sure_and_right,
            }
        )
    return rows
