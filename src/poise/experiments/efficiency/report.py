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
from poise.experiments.efficiency.sets import Role, set_names
from poise.experiments.efficiency.tables import as_markdown, markdown, marked
from poise.experiments.efficiency.trials import BUDGETS
from poise.experiments.summary import mean_band

#: Methods that every picture shows, besides the best rival.
SHOWN = ("norm", "random", LOGISTIC)
ROLES: tuple[Role, ...] = ("reporting", "tuning")


def write_report(folder: Path, target: Path) -> Path:
    """Write ``label-efficiency.md`` and a picture of each set to `target`; returns the page."""
    target.mkdir(parents=True, exist_ok=True)
    found = comparisons(folder)
    curves = curves_by_set(accuracy_lines(folder))
    pieces = rival_pieces(found, curves) if found else []
    for part in PARTS.values():
        for role in ROLES:
            shown = tables_of(folder, (part.name,), set_names(role))
            if part.name == DEFAULT:  # the report has larger tables of areas
                shown = [table for table in shown if table.key in ("calibration", "needed")]
            if shown:
                pieces.append(f"## {part.heading}: the {role} sets\n")
                pieces += [as_markdown(table) for table in shown]
    for one in found:
        name = f"accuracy-{one.set}.svg"
        (target / name).write_text(picture(one, curves[one.set]), encoding="utf-8")
    page = target / "label-efficiency.md"
    page.write_text("\n".join(pieces), encoding="utf-8")
    return page


def rival_pieces(found: Sequence[Comparison], curves: Mapping[str, Curves]) -> list[str]:
    """Areas and goals by role, accuracies at each number of labels, and the pictures."""
    pieces = []
    for role in ROLES:
        names = set_names(role)
        some = [one for one in found if one.set in names]
        if some:
            pieces += [f"## The {role} sets\n", area_table(some), verdict_table(verdicts(some))]
    pieces += ["## Accuracy at each number of labels\n", budget_table(curves, found)]
    pieces += [
        f"![Accuracy by number of labels on {one.set}](accuracy-{one.set}.svg)\n" for one in found
    ]
    return pieces


def area_table(found: Sequence[Comparison]) -> str:
    """Mean area of every method on every set, the largest in bold, and the paired difference."""
    known = (AUTO, PREDICTING, *METHODS, *ABLATIONS, LOGISTIC)
    methods = [m for m in dict.fromkeys(known) if any(m in one.areas for one in found)]
    head = ["", *(marked(one.set) for one in found)]
    rows = []
    for method in methods:
        cells = []
        for one in found:
            value = one.areas.get(method)
            best = value is not None and value == max(one.areas.values())
            cells.append("" if value is None else f"**{value:.3f}**" if best else f"{value:.3f}")
        rows.append([_title(method), *cells])
    rows.append(["best rival", *(one.best for one in found)])
    rows.append(
        [
            "auto minus it, points",
            *(
                f"{100 * one.difference:+.1f} ({100 * one.low:+.1f} to {100 * one.high:+.1f})"
                for one in found
            ),
        ]
    )
    rows.append(["trials", *(str(one.trials) for one in found)])
    return markdown(head, rows)


def verdict_table(found: Sequence[Verdict]) -> str:
    """The goals, and what was measured."""
    rows = [[one.goal, one.measured, "met" if one.met else "missed"] for one in found]
    return markdown(["goal", "measured", ""], rows)


def budget_table(
    curves: Mapping[str, Curves],
    found: Sequence[Comparison],
) -> str:
    """Mean accuracy of `auto`, its best rival and random labels at every budget."""
    rows = []
    for one in found:
        for method in dict.fromkeys((AUTO, PREDICTING, one.best, "random", LOGISTIC)):
            if method in curves[one.set]:
                mean = np.mean(list(curves[one.set][method].values()), axis=0)
                rows.append(
                    [marked(one.set), _title(method), *(f"{100 * value:.1f}" for value in mean)]
                )
    return markdown(["set", "method", *map(str, BUDGETS)], rows)


def picture(one: Comparison, curves: Curves) -> str:
    """Accuracy by number of labels on one set: `auto`, its best rival and the usual ones."""
    shown = [m for m in dict.fromkeys((AUTO, one.best, *SHOWN)) if m in curves]
    series = []
    for method in shown:
        band = mean_band(list(curves[method].values()))
        series.append(
            Series(_title(method), BUDGETS, band.mean, band.low, band.high, marked=BUDGETS)
        )
    lowest = min(float(np.min(np.asarray(s.y))) for s in series)
    title = f"{one.set}: accuracy by number of labels"
    chart = line_chart(
        series,
        title=title,
        description=f"{one.trials} trials from no label; bands are 95% intervals of the mean.",
        x=Axis("labels", 0, BUDGETS[-1]),
        y=Axis("accuracy on the rest", np.floor(10 * lowest) / 10, 1.0, percent),
    )
    keys = [(s.name, style_at(place)) for place, s in enumerate(series)]
    note = f"{one.trials} trials from no label; bands are 95% intervals of the mean."
    return chart_file(title, keys, chart, note)


def _title(method: str) -> str:
    return f"random, {LOGISTIC}" if method == LOGISTIC else method
