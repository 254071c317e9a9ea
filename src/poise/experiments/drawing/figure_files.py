"""Figures as parts of a page, and as separate SVG files with a light background."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from textwrap import wrap

from poise.experiments.drawing.page import sheet
from poise.experiments.drawing.planes import Panel
from poise.experiments.drawing.plots import HEIGHT, WIDTH, Style, key
from poise.experiments.drawing.typeset import html, plain, svg

MARGIN, LINE = 20, 22
#: Characters in a line of a note below a chart, and in a name if the key has two columns.
CHARACTERS, KEY_CHARACTERS = 64, 28
#: Mean width of a character of a title.
TITLE_CHARACTER = 8.6


@dataclass(frozen=True)
class Figure:
    """A figure: `html` for the page, and `svg`, a complete file, under `name`."""

    name: str
    html: str
    svg: str


def chart_file(title: str, keys: Sequence[tuple[str, Style]], chart: str, note: str = "") -> str:
    """A chart with its title, the key to its lines and a note below, as a complete SVG file."""
    top = MARGIN + LINE * len(_title_lines(title, WIDTH + 2 * MARGIN))
    columns = 1 if max((len(plain(name)) for name, _ in keys), default=0) > KEY_CHARACTERS else 2
    parts = []
    for position, (name, style) in enumerate(keys):
        x = MARGIN + (position % columns) * WIDTH // 2
        y = top + (position // columns) * LINE
        drawn = key(style).replace("<svg ", f'<svg x="{x}" y="{y}" width="34" height="12" ', 1)
        parts += [drawn, text(x + 42, y + 10, name, "label")]
    top += -(-len(keys) // columns) * LINE + 8
    placed = f'<svg x="{MARGIN}" y="{top}" width="{WIDTH}" height="{HEIGHT}" '
    parts.append(chart.replace("<svg ", placed, 1))
    top += HEIGHT
    for words in wrap(note, CHARACTERS):
        top += LINE
        parts.append(text(MARGIN, top, words, "tick"))
    return picture_file(WIDTH + 2 * MARGIN, top + MARGIN, title, "".join(parts))


def panel_figure(name: str, panel: Panel, *, heading: str, caption: str) -> Figure:
    """A panel as a figure."""
    whole = (
        f'<figure class="square"><h4>{escape(heading)}</h4>{panel.svg()}'
        f"<figcaption>{html(caption)}</figcaption></figure>"
    )
    return Figure(name, whole, panel_file(panel))


def panel_file(panel: Panel, side: int = 480) -> str:
    """A panel as a complete SVG file."""
    inner = panel.svg(f'x="{MARGIN}" y="{MARGIN + LINE}" width="{side}" height="{side}" ')
    return picture_file(side + 2 * MARGIN, side + 2 * MARGIN + LINE, panel.title, inner)


def picture_file(width: int, height: int, title: str, content: str) -> str:
    """A complete SVG file with a light background."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="system-ui, sans-serif">'
        f"<title>{escape(plain(title))}</title>"
        f"<style>{_light()}</style>"
        f'<rect class="paper" width="{width}" height="{height}"/>'
        f"{_title(title, width)}{content}</svg>\n"
    )


def _title(title: str, width: int) -> str:
    lines = enumerate(_title_lines(title, width))
    return "".join(text(MARGIN, MARGIN + 8 + row * LINE, line, "title") for row, line in lines)


def _title_lines(title: str, width: int) -> list[str]:
    """A title in lines that fit a picture of that width."""
    return wrap(title, int((width - 2 * MARGIN) / TITLE_CHARACTER))


def _light() -> str:
    """The style rules of charts and panels, without those for pages."""
    charts = sheet("charts.css").split("/* On a page */")[0]
    return charts + (
        ".paper { fill: var(--surface); } text { font-size: 13px; fill: var(--text); } "
        ".title { font-size: 15px; font-weight: 600; } .tick { fill: var(--quiet); }"
    )


def text(x: float, y: float, words: str, kind: str) -> str:
    """A line of text of a kind: title, label or tick."""
    return f'<text class="{kind}" x="{x:g}" y="{y:g}">{svg(words)}</text>'
