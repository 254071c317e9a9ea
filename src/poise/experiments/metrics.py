"""Measures of an experiment's records: a number per trial, and a summary of the trials."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise.experiments.records import Records
from poise.experiments.summary import estimate, steps_to_reach

MARKS = (0.90, 0.95)
DIGITS = 6


def area(curves: ArrayLike) -> NDArray[np.float64]:
    """(trials,) area under each curve: its mean over the questions, without the start."""
    values = np.asarray(curves, dtype=np.float64)
    mean: NDArray[np.float64] = values[:, 1:].mean(axis=1)
    return mean


def final(curves: ArrayLike) -> NDArray[np.float64]:
    """(trials,) last value of each curve."""
    values = np.asarray(curves, dtype=np.float64)
    return values[:, -1]


def labels_to_reach(curves: ArrayLike, mark: float, initial: ArrayLike) -> float:
    """Labels that the median trial needed to reach `mark`, including those at the start.

    A trial that never reached it counts as infinite.
    """
    return float(np.median(steps_to_reach(curves, mark) + np.asarray(initial)))


def most_asked(records: Records, method: str) -> NDArray[np.float64]:
    """(trials,) share of the questions in the cluster that was asked most."""
    shares = []
    for rows in records.of(method):
        _, counts = np.unique([row["cluster"] for row in rows[1:]], return_counts=True)
        shares.append(counts.max() / counts.sum())
    return np.array(shares)


def initial_labels(records: Records, method: str) -> NDArray[np.int64]:
    """(trials,) labels at the start."""
    return np.array([len(rows[0]["initial"]) for rows in records.of(method)], dtype=np.int64)


def by_seed(records: Records, method: str, values: ArrayLike) -> dict[int, float]:
    """(trials,) values of a method by the seeds of its trials."""
    return dict(zip(records.seeds(method), map(float, np.asarray(values)), strict=True))


@dataclass(frozen=True)
class SummaryRow:
    """A method in an evaluation model; None if a mark was never reached."""

    experiment: str
    method: str
    group: str
    model: str
    trials: int
    questions: int
    area: float
    area_low: float
    area_high: float
    final: float
    final_low: float
    final_high: float
    balanced_final: float
    labels_to_90: float | None
    labels_to_95: float | None
    labels_to_all_clusters: float | None
    seconds_per_question: float
    note: str
    """What to know about the data, such as that they are a part of a set."""


def summary_rows(records: Records) -> list[SummaryRow]:
    """Every method in every evaluation model."""
    rows = []
    for method in records.methods:
        start = initial_labels(records, method.name)
        clusters = labels_to_reach(records.explored(method.name), 1.0, start)
        for model in records.experiment.evaluate:
            curves = records.accuracy(method.name, model)
            areas, ends = estimate(area(curves)), estimate(final(curves))
            balanced = records.accuracy(method.name, model, balanced=True)
            rows.append(
                SummaryRow(
                    experiment=records.experiment.name,
                    method=method.name,
                    group=method.group,
                    model=model,
                    trials=len(curves),
                    questions=records.experiment.budget,
                    area=areas.mean,
                    area_low=areas.low,
                    area_high=areas.high,
                    final=ends.mean,
                    final_low=ends.low,
                    final_high=ends.high,
                    balanced_final=float(final(balanced).mean()),
                    labels_to_90=_or_none(labels_to_reach(curves, MARKS[0], start)),
                    labels_to_95=_or_none(labels_to_reach(curves, MARKS[1], start)),
                    labels_to_all_clusters=_or_none(clusters),
                    seconds_per_question=float(np.median(records.seconds(method.name))),
                    note=str(records.about.get("note") or ""),
                )
            )
    return rows


def summary_csv(rows: Iterable[SummaryRow]) -> str:
    """The rows as CSV: one header, plain numbers, empty where a mark was never reached."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([field.name for field in fields(SummaryRow)])
    writer.writerows(_plain(astuple(row)) for row in rows)
    return text.getvalue()


def _plain(cells: Sequence[object]) -> list[object]:
    return [f"{round(c, DIGITS):.10g}" if isinstance(c, float) else c for c in cells]


def _or_none(labels: float) -> float | None:
    return labels if np.isfinite(labels) else None
