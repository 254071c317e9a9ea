"""A part of the theory's page: text, figures and numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from poise.experiments.drawing.figure_files import Figure, chart_file
from poise.experiments.drawing.plots import Axis, Series, Style, legend, line_chart, style_at
from poise.experiments.drawing.typeset import html, power

#: Style of a density in the background: grey.
GROUND = Style(7, "", "circle")


@dataclass(frozen=True)
class Chapter:
    """A part of the page of ``poise theory``.

    Attributes
    ----------
    heading : heading of the part
    words : what the figures show; may have symbols, as may the texts of the figures
    figures : its figures, which are separate files too
    numbers : name -> value as text
    """

    heading: str
    words: str
    figures: Sequence[Figure]
    numbers: Mapping[str, str] = field(default_factory=dict)


def chart(
    name: str,
    series: Sequence[Series],
    *,
    title: str,
    x: Axis,
    y: Axis,
    caption: str,
    shown: Sequence[str] | None = None,
    notes: Sequence[tuple[float, float, str]] = (),
) -> Figure:
    """A chart with its key; `shown` are the names in the key, all by default."""
    styled = [line.style or style_at(position) for position, line in enumerate(series)]
    keys = {
        line.name: style
        for line, style in zip(series, styled, strict=True)
        if shown is None or line.name in shown
    }
    drawn = line_chart(series, title=title, description=caption, x=x, y=y, notes=notes)
    whole = (
        f"<figure><h4>{html(title)}</h4>{legend(list(keys), list(keys.values()))}{drawn}"
        f"<figcaption>{html(caption)}</figcaption></figure>"
    )
    return Figure(name, whole, chart_file(title, list(keys.items()), drawn))


def powers(label: str, low: int, high: int) -> Axis:
    """An axis of powers of ten, for logarithms to the base ten."""
    return Axis(label, low, high, power, min(6, high - low))


def above(name: str, x: ArrayLike, y: ArrayLike, low: float) -> Series:
    """A falling line with its points marked, which ends where it falls below `low`."""
    across, height = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    inside = height >= low
    if inside.all():
        return Series(name, across, height, marked=across)
    last = int(np.argmin(inside))
    near = slice(last - 1, last + 1)
    end = np.interp(-low, -height[near], across[near])
    return Series(name, [*across[:last], end], [*height[:last], low], marked=across[:last])


def point(name: str, x: float, y: float, style: Style) -> Series:
    """A single marked point."""
    return Series(name, [x], [y], marked=[x], style=style)
