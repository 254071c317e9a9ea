"""Labels needed to reach nine tenths of the accuracy with all labels."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import sparse

from poise.arrays import Ints
from poise.experiments.efficiency.accuracy import LOGISTIC, accuracy_lines
from poise.experiments.efficiency.compare import curves_by_set
from poise.experiments.efficiency.methods import METHODS
from poise.experiments.efficiency.records import Lines, Row
from poise.experiments.efficiency.sets import POOLS
from poise.experiments.efficiency.tables import Table, marked
from poise.experiments.efficiency.trials import BUDGETS, Trial, make_trial

#: Share of the accuracy with all labels that is to be reached.
SHARE = 0.9
DIGITS = 5


@dataclass(frozen=True)
class Needed:
    """Labels that methods need on one set; infinite if more than the largest budget.

    Attributes
    ----------
    set : its name
    mark : the accuracy to reach
    labels : method -> labels at which its mean curve reaches the mark
    """

    set: str
    mark: float
    labels: dict[str, float]


def ceiling(trial: Trial, codes: Ints) -> float:
    """Accuracy with all labels: every point by the weighted labels of its neighbours."""
    n = trial.n_points
    one_hot = sparse.csr_array((np.ones(n), (np.arange(n), codes)), shape=(n, int(codes.max()) + 1))
    votes = (trial.graph.weights @ one_hot).toarray()
    return float((votes.argmax(axis=1) == codes).mean())


def ceiling_lines(folder: Path) -> Lines:
    """The records of ceilings in a folder."""
    return Lines(folder / "ceilings.jsonl", ("set",))


def missing_units(questions: Lines, lines: Lines) -> Iterator[str]:
    """Pools with questions on record and without ceilings."""
    asked = {row["set"] for row in questions}
    for name, pool in POOLS.items():
        if any(pool.name(g) in asked and (pool.name(g),) not in lines for g in pool.groupings):
            yield name


def measure_unit(pool: str) -> list[Row]:
    """A row for each grouping of a pool, from its first trial."""
    trial = make_trial(pool, 0)
    return [
        {"set": trial.pool.name(g), "accuracy": round(ceiling(trial, codes), DIGITS)}
        for g, codes in trial.classes.items()
    ]


def labels_needed(curve: npt.ArrayLike, mark: float) -> float:
    """Labels at which a curve over `BUDGETS`, interpolated linearly, first reaches `mark`."""
    heights = np.asarray(curve, dtype=np.float64)
    reached = np.flatnonzero(heights >= mark)
    if not reached.size:
        return float("inf")
    first = int(reached[0])
    if first == 0:
        return float(BUDGETS[0])
    low, high = heights[first - 1], heights[first]
    share = (mark - low) / (high - low)
    return float(BUDGETS[first - 1] + share * (BUDGETS[first] - BUDGETS[first - 1]))


def needed_table(results: Collection[Needed]) -> Table:
    """Labels that the methods need on the sets on which one of them reaches the mark."""
    within = [result for result in results if min(result.labels.values()) <= BUDGETS[-1]]
    methods = [m for m in (*METHODS, LOGISTIC) if any(m in result.labels for result in within)]
    rows = tuple(
        (
            "random, logistic regression" if method == LOGISTIC else method,
            *(_written(result.labels.get(method)) for result in within),
        )
        for method in methods
    )
    return Table(
        "needed",
        f"Labels needed to reach {SHARE:.0%} of the accuracy that all labels give",
        tuple(f"{marked(result.set)}, {result.mark:.0%}" for result in within),
        rows,
        tuple(results),
    )


def _written(labels: float | None) -> str:
    if labels is None:
        return ""
    return f"{labels:.0f}" if np.isfinite(labels) else f"over {BUDGETS[-1]}"


def needed(folder: Path) -> list[Needed]:
    """Labels that each method needs on each set on record."""
    tops: Mapping[str, float] = {row["set"]: row["accuracy"] for row in ceiling_lines(folder)}
    results = []
    for name, curves in curves_by_set(accuracy_lines(folder)).items():
        if name in tops:
            mark = SHARE * tops[name]
            labels = {
                method: labels_needed(np.mean(list(trials.values()), axis=0), mark)
                for method, trials in curves.items()
            }
            results.append(Needed(name, mark, labels))
    return results
