"""The figures of a report, as parts of its page and as separate files."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

from poise.experiments.drawing.figure_files import (
    LINE,
    MARGIN,
    Figure,
    chart_file,
    picture_file,
    text,
)
from poise.experiments.drawing.planes import LEVELS, Panel, colours
from poise.experiments.drawing.plots import Axis, Series, Style, line_chart, percent
from poise.experiments.metrics import initial_labels
from poise.experiments.paper.heatmaps import HeatMap
from poise.experiments.records import Records
from poise.experiments.summary import mean_band

#: Points of a curve that are drawn at most; more would only make the file larger.
MAX_POINTS = 100
#: Points of a curve that get a marker.
MARKERS = 6

Curves = Callable[[str], NDArray[np.float64]]


@dataclass(frozen=True)
class Line:
    """A line of a chart: its name, style, labels and the trials' curves, (trials, budget + 1)."""

    name: str
    style: Style
    labels: NDArray[np.int64]
    trials: NDArray[np.float64]


def method_lines(
    records: Records, methods: Iterable[str], styles: Mapping[str, Style], curves: Curves
) -> list[Line]:
    """Lines of the methods that have finished trials."""
    titles = {method.name: method.title for method in records.methods}
    return [
        Line(titles[name], styles[name], _labels(records, name), curves(name))
        for name in methods
        if name in titles
    ]


def chart_figure(
    name: str,
    lines: Sequence[Line],
    *,
    heading: str,
    y: str,
    title: str,
    caption: str = "",
    note: str = "",
) -> Figure:
    """Mean curves with their bands, over the number of labels.

    `caption` is for the page; `note`, a remark on the data, for the file.
    """
    means = np.concatenate([line.trials.mean(axis=0) for line in lines])
    lowest = float(np.floor(10 * min(means.min(), 0.9)) / 10)
    last = max(int(line.labels[-1]) for line in lines)
    spoken = "; ".join(
        f"{line.name}: {percent(line.trials[:, -1].mean())} at the end, "
        f"{percent(line.trials[:, 1:].mean())} on average"
        for line in lines
    )
    chart = line_chart(
        [_series(line, position, len(lines)) for position, line in enumerate(lines)],
        title=title,
        description=f"{spoken}.",
        x=Axis("Number of labels", 0, last),
        y=Axis(y, max(lowest, 0.0), 1, percent),
    )
    below = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    html = f"<figure><h4>{escape(heading)}</h4>{chart}{below}</figure>"
    keys = [(line.name, line.style) for line in lines]
    return Figure(name, html, chart_file(title, keys, chart, note))


def heat_map_figure(
    name: str, maps: Sequence[HeatMap], panels: Sequence[Panel], *, title: str
) -> Figure:
    """Heat maps in one row per method, from the first stage to the last."""
    stages = list(dict.fromkeys(heat_map.answers for heat_map in maps))
    methods = list(dict.fromkeys(heat_map.method.title for heat_map in maps))
    cells = dict(zip([(m.method.title, m.answers) for m in maps], panels, strict=True))
    rows = "".join(
        f'<h4>{escape(method)}</h4><div class="maps">'
        + "".join(
            f"<figure>{cells[method, stage].svg()}"
            f"<figcaption>{escape(_stage(stage))}</figcaption></figure>"
            for stage in stages
        )
        + "</div>"
        for method in methods
    )
    html = f'<div class="heat">{rows}{_scale_html()}</div>'
    side, gap = 300, 12
    parts = []
    for column, stage in enumerate(stages):
        at = MARGIN + column * (side + gap)
        parts.append(text(at, MARGIN + 2 * LINE, _stage(stage), "tick"))
    top = MARGIN + 2 * LINE + gap
    for method in methods:
        parts.append(text(MARGIN, top + 12, method, "label"))
        top += LINE
        for column, stage in enumerate(stages):
            at = MARGIN + column * (side + gap)
            placed = f'x="{at}" y="{top}" width="{side}" height="{side}" '
            parts.append(cells[method, stage].svg(placed))
        top += side + gap
    parts.append(_scale_svg(MARGIN, top + 4))
    width = 2 * MARGIN + len(stages) * (side + gap) - gap
    return Figure(name, html, picture_file(width, top + LINE + MARGIN, title, "".join(parts)))


def _series(line: Line, position: int, count: int) -> Series:
    band = mean_band(line.trials)
    steps = np.unique(
        np.rint(np.linspace(0, len(line.labels) - 1, min(len(line.labels), MAX_POINTS + 1)))
    ).astype(np.int64)
    # Markers of different lines are at different positions, so that they do not hide each other.
    first = (position + 0.5) / count
    marked = steps[
        np.unique(np.rint((np.arange(MARKERS) + first) / MARKERS * (len(steps) - 1)).astype(int))
    ]
    low, high = np.clip(band.low, 0, 1), np.clip(band.high, 0, 1)
    return Series(
        line.name,
        line.labels[steps],
        band.mean[steps],
        low[steps],
        high[steps],
        line.labels[marked],
        line.style,
    )


def _labels(records: Records, method: str) -> NDArray[np.int64]:
    """Labels after each question; all trials of an experiment start with the same number."""
    return int(initial_labels(records, method)[0]) + np.arange(records.experiment.budget + 1)


def _stage(answers: int) -> str:
    return "at the start" if answers == 0 else f"{answers} answers"


def _scale_html() -> str:
    bars = "".join(
        f'<rect x="{at * 10}" width="10.5" height="12" fill="{colour}"/>'
        for at, colour in enumerate(colours())
    )
    star = f'<svg class="star" viewBox="0 0 24 24"><path class="stars" d="{STAR}"/></svg>'
    return (
        '<p class="scale"><span class="ramp"><span>asked last</span>'
        f'<svg viewBox="0 0 {LEVELS * 10} 12" preserveAspectRatio="none" aria-hidden="true">{bars}'
        "</svg><span>asked first</span></span>"
        f'<span class="given" aria-hidden="true">{star}labelled</span></p>'
    )


STAR = "M12 1l2.9 7.4 7.9.5-6.1 5 2 7.7-6.7-4.2-6.7 4.2 2-7.7-6.1-5 7.9-.5z"


def _scale_svg(x: int, y: int) -> str:
    bars = "".join(
        f'<rect x="{x + 78 + at * 6}" y="{y}" width="6.4" height="12" fill="{colour}"/>'
        for at, colour in enumerate(colours())
    )
    after = x + 78 + LEVELS * 6 + 10
    star = f'<svg x="{after + 104}" y="{y - 2}" width="16" height="16" viewBox="0 0 24 24">'
    return (
        text(x, y + 11, "asked last", "tick")
        + bars
        + text(after, y + 11, "asked first", "tick")
        + f'{star}<path class="stars" d="{STAR}"/></svg>'
        + text(after + 126, y + 11, "labelled", "tick")
    )
