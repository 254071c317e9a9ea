"""Line charts with bands, as inline SVG.

The SVG is written directly, without a plotting library: the text stays text, the colours are CSS
variables, so that a figure suits light and dark pages, and nothing has to be installed. The page
around it (:mod:`poise.experiments.drawing.page`) defines the variables and the classes used here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise.errors import InputError
from poise.experiments.drawing.typeset import html, plain, svg

WIDTH, HEIGHT = 480, 320
LEFT, RIGHT, TOP, BOTTOM = 52, 14, 36, 50

# Lines differ in dashes and markers as well as in colour.
DASHES = ("", "7 4", "2 3", "9 3 2 3")
MARKERS = ("circle", "square", "diamond", "triangle")
N_COLOURS = 8
# With more lines than this, bands are fainter, so that what lies below stays visible.
FEW_LINES = 4

Format = Callable[[float], str]


@dataclass(frozen=True)
class Style:
    """The style of a line: a colour of the style sheet (``c0``, ``c1``, ...), dashes, a marker."""

    colour: int
    dashes: str
    marker: str


def style_at(position: int) -> Style:
    """The default style of the series at a position."""
    dashes, marker = DASHES[position % len(DASHES)], MARKERS[position % len(MARKERS)]
    return Style(position % N_COLOURS, dashes, marker)


@dataclass(frozen=True, eq=False)
class Series:
    """One line: `y` over `x`, with an optional band from `low` to `high` and marked points."""

    name: str
    x: ArrayLike
    y: ArrayLike
    low: ArrayLike | None = None
    high: ArrayLike | None = None
    marked: ArrayLike = ()
    """Values of `x` that get a marker, which shows its value on hover."""
    style: Style | None = None
    """Its style; by default that of its position among the series."""


@dataclass(frozen=True)
class Axis:
    """An axis: its label, its range, and the format of its numbers."""

    label: str
    low: float
    high: float
    format: Format = "{:g}".format
    wanted_ticks: int = 6


def percent(value: float) -> str:
    """A share as a percentage, to whole per cent."""
    return f"{100 * value:.0f}%"


def ticks(low: float, high: float, wanted: int = 6) -> NDArray[np.float64]:
    """Round numbers from `low` to `high`, about `wanted`, in steps of 1, 2 or 5 times 10^k."""
    if not low < high:
        raise InputError(f"an axis needs low < high, got {low:g} and {high:g}")
    rough = (high - low) / wanted
    power = float(10.0 ** np.floor(np.log10(rough)))
    # The slack keeps rounding from pushing an exact fit, such as 100 / 5 = 20, to the next step.
    step = power * next(round_ for round_ in (1, 2, 5, 10) if round_ * power >= rough * (1 - 1e-9))
    first, last = np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9)
    values: NDArray[np.float64] = np.arange(first, last + 1) * step + 0.0  # never "-0"
    return values


def line_chart(
    series: Sequence[Series],
    *,
    title: str,
    description: str,
    x: Axis,
    y: Axis,
    notes: Sequence[tuple[float, float, str]] = (),
) -> str:
    """An SVG of `series` over the axes `x` and `y`.

    Texts may have symbols (:mod:`poise.experiments.drawing.typeset`). Screen readers read `title`
    and `description`. `notes` are texts at positions in the chart.

    Returns
    -------
    The ``<svg>`` element. Values outside an axis's range are drawn at its edge.
    """

    def across(values: ArrayLike) -> NDArray[np.float64]:
        share = (np.asarray(values, dtype=np.float64) - x.low) / (x.high - x.low)
        return LEFT + np.clip(share, 0, 1) * (WIDTH - LEFT - RIGHT)

    def down(values: ArrayLike) -> NDArray[np.float64]:
        share = (np.asarray(values, dtype=np.float64) - y.low) / (y.high - y.low)
        return TOP + (1 - np.clip(share, 0, 1)) * (HEIGHT - TOP - BOTTOM)

    styles = [line.style or style_at(position) for position, line in enumerate(series)]
    many = " many" if len(series) > FEW_LINES else ""
    parts = [
        f'<svg class="chart{many}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(plain(title))}. {escape(plain(description))}">',
        f"<title>{escape(plain(title))}</title><desc>{escape(plain(description))}</desc>",
        *_frame(x, y, across, down),
    ]
    for style, line in zip(styles, series, strict=True):
        if line.low is not None and line.high is not None:
            edge = np.concatenate([across(line.x), across(line.x)[::-1]])
            depth = np.concatenate([down(line.high), down(line.low)[::-1]])
            parts.append(f'<path class="band c{style.colour}" d="{_path(edge, depth)}Z"/>')
    for style, line in zip(styles, series, strict=True):
        # Points with a light ring stay legible where lines cross, so they come after all bands.
        parts.append(
            f'<path class="line c{style.colour}" {_dashes(style)}'
            f'd="{_path(across(line.x), down(line.y))}"/>'
        )
        for at, value in _marked(line):
            parts.append(
                f'<g class="point c{style.colour}">'
                f"<title>{escape(plain(line.name))}: {y.format(value)} at {x.format(at)}</title>"
                f"{_marker(style, float(across(at)), float(down(value)))}</g>"
            )
    for at, height, words in notes:
        parts.append(
            f'<text class="label" x="{float(across(at)):.1f}" y="{float(down(height)):.1f}" '
            f'text-anchor="middle">{svg(words)}</text>'
        )
    return "".join([*parts, "</svg>"])


def key(style: Style) -> str:
    """A short piece of a line in the given style."""
    return (
        '<svg class="key" viewBox="0 0 34 12" aria-hidden="true">'
        f'<path class="line c{style.colour}" {_dashes(style)}d="M0 6H34"/>'
        f'<g class="point c{style.colour}">{_marker(style, 17, 6)}</g></svg>'
    )


def legend(names: Sequence[str], styles: Sequence[Style] | None = None) -> str:
    """The key to a chart's lines, in the order of the series, as an HTML list."""
    keys = styles or [style_at(position) for position in range(len(names))]
    entries = (
        f"<li>{key(style)}<span>{html(name)}</span></li>"
        for name, style in zip(names, keys, strict=True)
    )
    return f'<ul class="legend">{"".join(entries)}</ul>'


def _frame(
    x: Axis,
    y: Axis,
    across: Callable[[ArrayLike], NDArray[np.float64]],
    down: Callable[[ArrayLike], NDArray[np.float64]],
) -> list[str]:
    """Grid lines, numbers and names of the axes."""
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    parts = []
    for value in ticks(y.low, y.high, y.wanted_ticks):
        at = float(down(value))
        parts.append(f'<path class="grid" d="M{LEFT} {at:.1f}H{right}"/>')
        parts.append(
            f'<text class="tick" x="{LEFT - 8}" y="{at:.1f}" dy="0.35em" text-anchor="end">'
            f"{escape(y.format(float(value)))}</text>"
        )
    for value in ticks(x.low, x.high, x.wanted_ticks):
        at = float(across(value))
        parts.append(f'<path class="grid" d="M{at:.1f} {bottom}v5"/>')
        parts.append(
            f'<text class="tick" x="{at:.1f}" y="{bottom + 20}" text-anchor="middle">'
            f"{escape(x.format(float(value)))}</text>"
        )
    parts.append(f'<path class="axis" d="M{LEFT} {bottom}H{right}"/>')
    middle = (LEFT + right) / 2
    parts.append(
        f'<text class="label" x="{middle:g}" y="{HEIGHT - 8}" text-anchor="middle">'
        f"{svg(x.label)}</text>"
    )
    # Horizontal, at the top: easier to read than a rotated label, and it fits a narrow page.
    parts.append(f'<text class="label" x="0" y="16">{svg(y.label)}</text>')
    return parts


def _marked(line: Series) -> list[tuple[float, float]]:
    positions, values = np.asarray(line.x, dtype=np.float64), np.asarray(line.y, dtype=np.float64)
    wanted = np.isin(positions, np.asarray(line.marked, dtype=np.float64))
    return [
        (float(at), float(value))
        for at, value in zip(positions[wanted], values[wanted], strict=True)
    ]


def _path(across: NDArray[np.float64], down: NDArray[np.float64]) -> str:
    points = (f"{left:.1f} {top:.1f}" for left, top in zip(across, down, strict=True))
    return "M" + "L".join(points)


def _dashes(style: Style) -> str:
    return f'stroke-dasharray="{style.dashes}" ' if style.dashes else ""


def _marker(style: Style, x: float, y: float) -> str:
    match style.marker:
        case "circle":
            return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
        case "square":
            return f'<rect x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7"/>'
        case "diamond":
            return f'<path d="M{x:.1f} {y - 5:.1f}l5 5l-5 5l-5-5Z"/>'
        case "down":
            return f'<path d="M{x:.1f} {y + 5:.1f}l5-9h-10Z"/>'
        case "plus":
            return (
                f'<path d="M{x - 1.8:.1f} {y - 5.2:.1f}h3.6v3.4h3.4v3.6h-3.4v3.4h-3.6v-3.4h-3.4'
                'v-3.6h3.4Z"/>'
            )
        case "cross":
            return (
                f'<path d="M{x - 5:.1f} {y - 2.6:.1f}l2.4-2.4 2.6 2.6 2.6-2.6 2.4 2.4-2.6 2.6 '
                '2.6 2.6-2.4 2.4-2.6-2.6-2.6 2.6-2.4-2.4 2.6-2.6Z"/>'
            )
        case _:
            return f'<path d="M{x:.1f} {y - 5:.1f}l5 9h-10Z"/>'
