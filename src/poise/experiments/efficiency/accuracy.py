"""Accuracy after few labels of every method, in the same models and without a graph."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
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
from poise.experiments.efficiency.sessions import Asked, all_sessions
from poise.experiments.efficiency.trials import BUDGETS
from poise.models.balance import balance_factors

KEYS = ("set", "trial", "method", "predictor")
PWLL, BALANCED, COMBINED, LOGISTIC = "pwll", "balanced", "auto", "logistic regression"
#: Predictors in which a method is measured in addition to plain and balanced PWLL.
ALSO = {AUTO: (COMBINED, LOGISTIC), "random": (LOGISTIC,)}
DIGITS = 5


@dataclass(frozen=True)
class Unit:
    """A session, and the predictors in which its accuracy is to be measured."""

    asked: Asked
    predictors: tuple[str, ...]


def accuracy_lines(folder: Path) -> Lines:
    """The records of accuracies in a folder."""
    return Lines(folder / "accuracies.jsonl", KEYS)


def missing_units(questions: Lines, lines: Lines) -> Iterator[Unit]:
    """Sessions that have not been measured in all predictors, trial by trial."""
    for asked in all_sessions(questions):
        wanted = (PWLL, BALANCED, *ALSO.get(asked.method, ()))
        left = tuple(p for p in wanted if (asked.set, asked.trial, asked.method, p) not in lines)
        if left and len(asked.queries) >= BUDGETS[-1]:
            yield Unit(replace(asked, queries=asked.queries[: BUDGETS[-1]]), left)


def measure_unit(unit: Unit) -> list[Row]:
    """A row for each predictor: accuracy on the unlabelled points at each of `BUDGETS`."""
    trial, codes = unit.asked.load()
    asked = np.array(unit.asked.queries, dtype=np.int64)
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
                "set": unit.asked.set,
                "trial": unit.asked.trial,
                "method": unit.asked.method,
                "predictor": predictor,
                "accuracy": values,
            }
        )
    return rows
