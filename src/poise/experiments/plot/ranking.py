"""Methods by their mean accuracy, and what the trials tell about the difference."""

import csv
import io
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from poise.experiments.metrics import SummaryRow, area, by_seed, initial_labels, summary_rows
from poise.experiments.plot.runs import Run
from poise.experiments.summary import Estimate, mean_band, paired

DIGITS = 6


@dataclass(frozen=True)
class Ranked:
    """A method's summary and, unless it is the first, by how much it is behind the first.

    `behind` is the mean difference over the trials that start from the same labels, or None if
    there are no such trials.
    """

    row: SummaryRow
    behind: Estimate | None

    @property
    def told_apart(self) -> bool:
        """Whether the interval of the difference to the first excludes zero."""
        return self.behind is not None and self.behind.trials > 1 and self.behind.low > 0

    def described(self) -> dict[str, Any]:
        """Its numbers for JSON, rounded."""
        behind = None if self.behind is None else asdict(self.behind)
        numbers = {"behind": behind} | asdict(self.row)
        return {key: _rounded(value) for key, value in numbers.items()}


def ranking(run: Run, model: str) -> list[Ranked]:
    """The methods in an evaluation model, the highest mean accuracy first."""
    rows = [row for row in summary_rows(run.records) if row.model == model]
    rows.sort(key=lambda row: -row.area)
    areas = {
        row.method: by_seed(run.records, row.method, area(run.records.accuracy(row.method, model)))
        for row in rows
    }
    first = areas[rows[0].method]
    return [
        Ranked(
            row,
            paired(first, areas[row.method])
            if place and first.keys() & areas[row.method].keys()
            else None,
        )
        for place, row in enumerate(rows)
    ]


def verdict(ranked: list[Ranked]) -> str:
    """One sentence: which method is ahead, or that the trials do not tell."""
    first, *others = ranked
    if not others:
        return ""
    name = first.row.method
    level = [each.row.method for each in others if not each.told_apart]
    if not level:
        return f"{name} is ahead of every other method."
    listed = level[0] if len(level) == 1 else f"{', '.join(level[:-1])} and {level[-1]}"
    return f"{name} has the highest mean accuracy, but is not shown to be ahead of {listed}."


def curves_csv(runs: Iterable[Run]) -> str:
    """Every curve with its band as CSV, a row per number of labels."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    head = ["experiment", "method", "measure", "model", "labels", "trials", "mean", "low", "high"]
    writer.writerow(head)
    for run in runs:
        records = run.records
        for method in (each.name for each in records.methods):
            curves = [("clusters", "", records.explored(method))]
            for model in run.models:
                curves.append(("accuracy", model, records.accuracy(method, model)))
                balanced = records.accuracy(method, model, balanced=True)
                curves.append(("balanced accuracy", model, balanced))
            start = int(initial_labels(records, method)[0])
            for measure, model, trials in curves:
                band = mean_band(trials)
                for step, values in enumerate(np.stack([band.mean, band.low, band.high], axis=1)):
                    numbers = [f"{round(value, DIGITS):.10g}" for value in values.tolist()]
                    row = [run.label, method, measure, model, start + step, len(trials)]
                    writer.writerow(row + numbers)
    return text.getvalue()


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    return round(value, DIGITS) if isinstance(value, float) else value
