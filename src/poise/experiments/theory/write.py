"""The page of the theory, and its figures as files."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

from poise.experiments.drawing.page import facts, page
from poise.experiments.drawing.typeset import html
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
    """Make the named parts, or all; write ``index.html`` and the figures as SVG."""
    for name in names:
        known_name("figure", name, CHAPTERS)
    wanted = [name for name in CHAPTERS if not names or name in names]
    chapters = {}
    for done, name in enumerate(wanted):
        progress(done, len(wanted))
        chapters[name] = CHAPTERS[name]()
    files = {
        f"{figure.name}.svg": figure.svg
        for chapter in chapters.values()
        for figure in chapter.figures
    }
    files["index.html"] = page(
        "The theory, computed",
        "<main>",
        '<header><p class="eyebrow">poise theory</p><h1>The theory, computed</h1>'
        "<p>The continuum equations behind minimum-norm sampling are solved numerically, and the "
        "paper's statements are compared with the true values.</p></header>",
        *(_section(name, chapter) for name, chapter in chapters.items()),
        "</main>",
        "<footer>This page is one file and loads nothing. Proofs, corrections and counter-examples "
        "are in the documentation, page Theory.</footer>",
        sheets=("report.css", "theory.css"),
    )
    write_together(folder, files)
    return chapters


def _section(name: str, chapter: Chapter) -> str:
    figures = "".join(figure.html for figure in chapter.figures)
    columns = "columns two" if len(chapter.figures) > 1 else "columns"
    return (
        f'<section id="{escape(name)}"><h2>{escape(chapter.heading)}</h2>'
        f"<p>{html(chapter.words)}</p>"
        f'<div class="card"><div class="{columns}">{figures}</div>{facts(chapter.numbers)}</div>'
        "</section>"
    )
