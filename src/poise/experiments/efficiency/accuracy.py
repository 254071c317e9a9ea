"""Accuracy after few labels: of every method in the same models, and without a graph."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from poise.experiments.efficiency.methods import AUTO
from poise.experiments.efficiency.predictors import (
    combined_curve,
    logistic,
    pwll_curve,
    share_right,
)
from poise.experiments.efficiency.records import Lines, Row
from poise.experiments.efficiency.sets import POOLS
from poise.experiments.efficiency.trials import BUDGETS, make_trial
from poise.models.balance import balance_factors

KEYS = ("set", "trial", "method", "predictor")
PWLL, BALANCED, COMBINED, LOGISTIC = "pwll", "balanced", "auto", "logistic regression"
#: Predictors in which a method is measured, besides plain and balanced PWLL.
ALSO = {AUTO: (COMBINED, LOGISTIC), "random": (LOGISTIC,)}
DIGITS = 5


@dataclass(frozen=True)
class Unit:
    """A trial's questions by one method, and the predictors to measure them in."""

    pool: str
    grouping: int
    trial: int
    method: str
    queries: tuple[int, ...]
    predictors: tuple[str, ...]


def accuracy_lines(folder: Path) -> Lines:
    """The records of accuracies in a folder."""
    return Lines(folder / "accuracies.jsonl", KEYS)


def missing_units(questions: Lines, lines: Lines) -> Iterator[Unit]:
    """What has been asked and not been measured, trial by trial."""
    place = {p.name(g): (p.dataset, g) for p in POOLS.values() for g in p.groupings}
    for row in sorted(questions, key=lambda row: (row["trial"], place[row["set"]][0])):
        wanted = (PWLL, BALANCED, *ALSO.get(row["method"], ()))
        left = tuple(p for p in wanted if (row["set"], row["trial"], row["method"], p) not in lines)
        if left and len(row["queries"]) >= BUDGETS[-1]:
            pool, grouping = place[row["set"]]
            queries = tuple(row["queries"][: BUDGETS[-1]])
            yield Unit(pool, grouping, row["trial"], row["method"], queries, left)


def measure_unit(unit: Unit) -> list[Row]:
    """A row for each predictor: accuracy on the unlabelled points at each of `BUDGETS`."""
    trial = make_trial(unit.pool, unit.trial)
    codes, asked = trial.classes[unit.grouping], np.array(unit.queries, dtype=np.int64)
    n_classes = int(codes.max()) + 1
    plain = pwll_curve(trial, asked, codes)
    rows: list[Row] = []
    for predictor in unit.predictors:
        if predictor == PWLL:
            curve = plain
        elif predictor == BALANCED:
            curve = [scores * balance_factors(scores) for scores in plain]
        elif predictor == COMBINED:
            curve = combined_curve(trial, asked, codes)
        else:
            curve = [logistic(trial, asked[:b], codes, n_classes) for b in BUDGETS]
        values = [
            round(share_right(p, codes, asked[:b]), DIGITS)
            for p, b in zip(curve, BUDGETS, strict=True)
        ]
        rows.append(
            {
                "set": trial.pool.name(unit.grouping),
                "trial": unit.trial,
                "method": unit.method,
                "predictor": predictor,
                "accuracy": values,
            }
        )
    return rows
