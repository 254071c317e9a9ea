"""The page of the theory, and its figures as files."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

from poise.experiments.drawing.page import facts, page
from poise.experiments.theory import CHAPTERS
from poise.experiments.theory.chapter import Chapter
from poise.files import write_together
from poise.progress import Progress, no_progress
from poise.registry import known_name


def write_theory(
    names: Sequence[str],
    folder: Path,
    progress: Progress = no_progress,
) -> dict[str, Chapter]:
    """Make the named parts, all without names; write ``index.html`` and the figures as SVG."""
    for name in names:
        known_name("figure", name, CHAPTERS)
    wanted = [name for name in CHAPTERS if not names or name in names]
    made = {}
    for done, name in enumerate(wanted):
        progress(done, len(wanted))
        made[name] = CHAPTERS[name]()
    files = {f"{figure.name}.svg": figure.svg for one in made.values() for figure in one.figures}
    files["index.html"] = page(
        "The theory, computed",
        "<main>",
        '<header><p class="eyebrow">poise theory</p><h1>The theory, computed</h1>'
        "<p>The continuum equations behind minimum-norm sampling, solved; the paper's statements "
        "beside what they bound.</p></header>",
        *(_section(name, one) for name, one in made.items()),
        "</main>",
        "<footer>This page is one file: it loads nothing. Proofs, corrections and counter-examples "
        "are in the documentation, page Theory.</footer>",
        sheets=("report.css", "theory.css"),
    )
    write_together(folder, files)
    return made


def _section(name: str, one: Chapter) -> str:
    figures = "".join(figure.html for figure in one.figures)
    columns = "columns two" if len(one.figures) > 1 else "columns"
    return (
        f'<section id="{escape(name)}"><h2>{escape(one.heading)}</h2><p>{escape(one.words)}</p>'
        f'<div class="card"><div class="{columns}">{figures}</div>{facts(one.numbers)}</div>'
        "</section>"
    )
