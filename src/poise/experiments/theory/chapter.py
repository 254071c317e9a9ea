"""A part of the theory's page: text, figures and numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from poise.experiments.drawing.figure_files import Figure, chart_file
from poise.experiments.drawing.plots import Axis, Series, Style, legend, line_chart, style_at

#: Style of a density in the background: grey.
GROUND = Style(7, "", "circle")


@dataclass(frozen=True)
class Chapter:
    """A part of the page of ``poise theory``.

    Attributes
    ----------
    heading : heading of the part
    words : what the figures show
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
    html = (
        f"<figure><h4>{escape(title)}</h4>{legend(list(keys), list(keys.values()))}{drawn}"
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )
    return Figure(name, html, chart_file(title, list(keys.items()), drawn))


def powers(label: str, low: int, high: int) -> Axis:
    """An axis of powers of ten, for logarithms to the base ten."""

    def written(exponent: float) -> str:
        return "1" if exponent == 0 else f"1e{exponent:g}"

    return Axis(label, low, high, written, min(6, high - low))


def point(name: str, x: float, y: float, style: Style) -> Series:
    """A single marked point."""
    return Series(name, [x], [y], marked=[x], style=style)
