"""The tables of `poise bench accuracy` as Markdown, and its curves as pictures."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from poise.experiments.drawing.figure_files import chart_file
from poise.experiments.drawing.plots import Axis, Series, line_chart, percent, style_at
from poise.experiments.efficiency.accuracy import LOGISTIC, accuracy_lines
from poise.experiments.efficiency.bench import DEFAULT, PARTS
from poise.experiments.efficiency.bench import tables as tables_of
from poise.experiments.efficiency.compare import (
    PREDICTING,
    Comparison,
    Curves,
    Verdict,
    curves_by_set,
    verdicts,
)
from poise.experiments.efficiency.methods import ABLATIONS, AUTO, METHODS
from poise.experiments.efficiency.rivals import comparisons
from poise.experiments.efficiency.sets import POOLS, Role, set_names
from poise.experiments.efficiency.tables import (
    as_markdown,
    difference_text,
    goal_table,
    markdown,
    marked,
)
from poise.experiments.efficiency.trials import BUDGETS
from poise.experiments.summary import mean_band

#: Methods in every picture, in addition to `auto` and the best rival.
SHOWN = ("norm", "random", LOGISTIC)
ROLES: tuple[Role, ...] = ("reporting", "tuning")


def write_report(folder: Path, target: Path) -> Path:
    """Write ``label-efficiency.md`` and a picture of each set to `target`; return the page."""
    target.mkdir(parents=True, exist_ok=True)
    compared = comparisons(folder)
    curves = curves_by_set(accuracy_lines(folder))
    pieces = rival_pieces(compared, curves) if compared else []
    for part in PARTS.values():
        for role in ROLES:
            shown = tables_of(folder, (part.name,), set_names(role))
            if part.name == DEFAULT:  # the report has larger tables of areas
                shown = [table for table in shown if table.key in ("calibration", "needed")]
            if shown:
                pieces.append(f"## {part.heading}: the {role} sets\n")
                pieces += [as_markdown(table) for table in shown]
    for comparison in compared:
        name = f"accuracy-{comparison.set}.svg"
        (target / name).write_text(picture(comparison, curves[comparison.set]), encoding="utf-8")
    page = target / "label-efficiency.md"
    page.write_text("\n".join(pieces), encoding="utf-8")
    return page


def rival_pieces(compared: Sequence[Comparison], curves: Mapping[str, Curves]) -> list[str]:
    """Areas and goals by role, accuracies at each number of labels, and the pictures."""
    pieces = []
    for role in ROLES:
        names = set_names(role)
        some = [comparison for comparison in compared if comparison.set in names]
        if some:
            pieces += [f"## The {role} sets\n", area_table(some), verdict_table(verdicts(some))]
    pieces += ["## Accuracy at each number of labels\n", budget_table(curves, compared)]
    pieces += [
        f"![Accuracy by number of labels on {comparison.set}](accuracy-{comparison.set}.svg)\n"
        for comparison in compared
    ]
    return pieces


def area_table(compared: Sequence[Comparison]) -> str:
    """Mean area of every method on every set, the largest in bold, and the paired difference."""
    known = (AUTO, PREDICTING, *METHODS, *ABLATIONS, LOGISTIC)
    methods = [
        m for m in dict.fromkeys(known) if any(m in comparison.areas for comparison in compared)
    ]
    head = ["", *(marked(comparison.set) for comparison in compared)]
    rows = []
    for method in methods:
        cells = []
        for comparison in compared:
            value = comparison.areas.get(method)
            best = value is not None and value == max(comparison.areas.values())
            cells.append("" if value is None else f"**{value:.3f}**" if best else f"{value:.3f}")
        rows.append([_title(method), *cells])
    rows.append(["best rival", *(comparison.best for comparison in compared)])
    rows.append(
        [
            "auto minus it, points",
            *(
                difference_text(comparison.difference, comparison.low, comparison.high)
                for comparison in compared
            ),
        ]
    )
    rows.append(["trials", *(str(comparison.trials) for comparison in compared)])
    return markdown(head, rows)


def verdict_table(goals: Sequence[Verdict]) -> str:
    """The goals, and what was measured."""
    table = goal_table("", goals)
    return markdown(["goal", *table.head], table.rows)


def budget_table(
    curves: Mapping[str, Curves],
    compared: Sequence[Comparison],
) -> str:
    """Mean accuracy of `auto`, its best rival and random labels at every budget."""
    rows = []
    for comparison in compared:
        for method in dict.fromkeys((AUTO, PREDICTING, comparison.best, "random", LOGISTIC)):
            if method in curves[comparison.set]:
                mean = np.mean(list(curves[comparison.set][method].values()), axis=0)
                rows.append(
                    [
                        marked(comparison.set),
                        _title(method),
                        *(f"{100 * value:.1f}" for value in mean),
                    ]
                )
    return markdown(["set", "method", *map(str, BUDGETS)], rows)


def picture(comparison: Comparison, curves: Curves) -> str:
    """Accuracy by number of labels on one set: `auto`, its best rival and `SHOWN`."""
    shown = [m for m in dict.fromkeys((AUTO, comparison.best, *SHOWN)) if m in curves]
    series = []
    for method in shown:
        band = mean_band(list(curves[method].values()))
        series.append(
            Series(_title(method), BUDGETS, band.mean, band.low, band.high, marked=BUDGETS)
        )
    trials = min(len(curves[method]) for method in shown)
    note = f"{trials} trials from no label; bands are 95% intervals of the mean."
    if comparison.set in POOLS:
        note = f"{note} {POOLS[comparison.set].note}".strip()
    lowest = min(float(np.min(np.asarray(s.y))) for s in series)
    title = f"{comparison.set}: accuracy by number of labels"
    chart = line_chart(
        series,
        title=title,
        description=note,
        x=Axis("labels", 0, BUDGETS[-1]),
        y=Axis("accuracy on the rest", np.floor(10 * lowest) / 10, 1.0, percent),
    )
    keys = [(s.name, style_at(position)) for position, s in enumerate(series)]
    return chart_file(title, keys, chart, note)


def _title(method: str) -> str:
    return f"random, {LOGISTIC}" if method == LOGISTIC else method
