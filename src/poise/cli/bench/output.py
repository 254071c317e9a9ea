"""Runs the sections of a benchmark and prints what they measured."""

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.table import Table

    from poise.experiments.bench.row import Row
    from poise.progress import Progress

    Section = Callable[[Progress], Iterator[Row]]
    Rows = list[tuple[str, Row]]


def collect(sections: "dict[str, Section]") -> "Rows":
    """Run sections of a benchmark, with a progress bar each."""
    from poise.cli.progress import progress_bar

    rows: Rows = []
    if sections:
        with progress_bar("Starting") as begin:
            for name, section in sections.items():
                rows += [(name, row) for row in section(begin(name))]
    return rows


def as_dicts(rows: "Rows") -> "list[dict[str, Any]]":
    """Rows as JSON can hold them."""
    return [{"section": name} | row.to_dict() for name, row in rows]


def show(rows: "Rows", as_json: bool) -> None:
    """Print rows as one table, a block per section, or as JSON."""
    if as_json:
        click.echo(json.dumps(as_dicts(rows), indent=2))
        return
    table = new_table(None, "poise", "peer", "ratio", "goal", "")
    for section in dict.fromkeys(name for name, _ in rows):
        for row in (row for name, row in rows if name == section):
            sign = "<=" if row.at_most else ">="
            table.add_row(
                row.what,
                figure(row.ours),
                figure(row.peer),
                figure(row.ratio),
                "" if row.goal is None else f"{sign} {row.goal:g}",
                {None: "", True: "met", False: "missed"}[row.met],
            )
        table.add_section()
    print_table(table)


def new_table(title: str | None, *headings: str) -> "Table":
    """A plain table: names on the left, figures to the right."""
    from rich.table import Table

    table = Table(box=None, header_style="bold", title=title, title_justify="left")
    table.add_column("")
    for heading in headings:
        table.add_column(heading, justify="right")
    return table


def print_table(table: "Table") -> None:
    """Print to the terminal, as wide as it is."""
    from rich.console import Console

    Console().print(table)


def figure(value: float | None) -> str:
    """Three significant digits."""
    return "" if value is None else f"{value:,.3g}"
