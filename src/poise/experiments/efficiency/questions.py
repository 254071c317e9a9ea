"""Questions of every method in every trial, on which all measurements are based."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from poise.experiments.efficiency.methods import ABLATIONS, METHODS, ask_all
from poise.experiments.efficiency.records import Lines, Row
from poise.experiments.efficiency.sets import POOLS
from poise.experiments.efficiency.trials import make_trial

KEYS = ("set", "trial", "method")


@dataclass(frozen=True)
class Unit:
    """A piece of work for a process: a method on a trial, in some groupings."""

    pool: str
    trial: int
    method: str
    groupings: tuple[int, ...]
    budget: int


def question_lines(folder: Path) -> Lines:
    """The records of questions in a folder."""
    return Lines(folder / "questions.jsonl", KEYS)


def missing_units(
    lines: Lines, pools: Iterable[str], methods: Iterable[str], trials: int, budget: int
) -> Iterator[Unit]:
    """Units that are not on record, trial by trial, so that a process builds each graph once."""
    chosen = list(methods)
    for trial in range(trials):
        for name in pools:
            pool = POOLS[name]
            for method in chosen:
                left = tuple(
                    g
                    for g in pool.groupings
                    if len(lines.rows.get((pool.name(g), trial, method), {}).get("queries", ()))
                    < budget
                )
                if left:
                    yield Unit(name, trial, method, left, budget)


def ask_unit(unit: Unit) -> list[Row]:
    """Ask a unit's questions; one row for each grouping."""
    trial, method = make_trial(unit.pool, unit.trial), (METHODS | ABLATIONS)[unit.method]
    rows: list[Row] = []
    asked: list[int] = []
    for grouping in unit.groupings:
        start = time.perf_counter()
        if not (method.blind and asked):
            asked = ask_all(trial, method, trial.classes[grouping], unit.budget)
            seconds = time.perf_counter() - start
        rows.append(
            {
                "set": trial.pool.name(grouping),
                "trial": unit.trial,
                "method": unit.method,
                "points": trial.n_points,
                "seconds": round(seconds, 3),
                "queries": asked,
            }
        )
    return rows
