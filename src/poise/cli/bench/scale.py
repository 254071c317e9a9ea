"""``poise bench scale``: growth of time and memory with the number of points."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from poise.cli.bench.output import figure, new_table, print_table
from poise.cli.options import json_option, output_option

if TYPE_CHECKING:
    from poise.experiments.bench.scale.child import Figures


@click.command()
@click.option(
    "--sizes",
    multiple=True,
    metavar="N|NAME",
    help="Only this number of points, or this data set; repeatable.",
)
@click.option("--quick", is_flag=True, help="Only 10,000 and 100,000 points, with 4 questions.")
@click.option(
    "--only", multiple=True, metavar="NAME", help="Measure only this acquisition; repeatable."
)
@click.option(
    "--questions",
    type=click.IntRange(0),
    help="Questions after the first; 0 measures only the neighbour search.  [default: 10]",
)
@click.option("--no-peer", is_flag=True, help="Do not measure graphlearning.")
@click.option(
    "--again", is_flag=True, help="Measure again, with new graphs, where there are records already."
)
@output_option("out/scale", "the records", file_okay=False)
@click.option(
    "--cache",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for points and graphs.  [default: cache, in the folder for the records]",
)
@json_option("tables")
def scale(
    sizes: tuple[str, ...],
    quick: bool,
    only: tuple[str, ...],
    questions: int | None,
    no_peer: bool,
    again: bool,
    output: Path,
    cache: Path | None,
    as_json: bool,
) -> None:
    """Measure how time and memory grow with the points.

    Uses 10,000 to 4,000,000 clustered points in 64 dimensions, and the data sets mnist and
    emnist-bymerge, each with 10 neighbours and in its own process. Measures the neighbour search
    and its recall, the graph, the set-up, and the first and later questions (choose, answer,
    predict) with "norm" and "auto". graphlearning's search, and its refit per question on the same
    graph, take turns with them. Finished work is kept: run the same command again to resume.

    \b
    Example:
      poise bench scale --quick
      poise bench scale --sizes 1000000 --no-peer
      poise bench scale --sizes 300000 --only auto --questions 5
      poise bench scale --sizes mnist --sizes emnist-bymerge
    """
    from poise.cli.progress import progress_bar, resumable
    from poise.experiments.bench.scale import run as measured
    from poise.registry import known_name

    usual = tuple(map(str, measured.QUICK_SIZES if quick else measured.SIZES))
    names = tuple(name.replace(",", "").replace("_", "") for name in sizes)
    for name in names:
        if not name.isdecimal():
            known_name("data set of this benchmark", name, measured.REAL)
    plan = measured.Plan(
        output,
        cache or output / "cache",
        names or usual + (() if quick else tuple(measured.REAL)),
        only or measured.ACQUISITIONS,
        (4 if quick else measured.QUESTIONS) if questions is None else questions,
        not no_peer,
        again,
    )
    for line in measured.estimates(plan):
        click.echo(line, err=True)
    records = []
    with resumable(), progress_bar("Starting") as begin:
        for record in measured.run(plan, begin):
            records.append(record)
    if as_json:
        click.echo(json.dumps(records, indent=2))
    else:
        show_growth(records)


def show_growth(records: "list[Figures]") -> None:
    """Print a table for each size, then the fitted powers of the number of points."""
    from poise.experiments.bench.scale.tables import exponents, rows_of

    for record in records:
        table = new_table(f"{record['name']}: {record['n']:,} points", "poise", "peer", "ratio")
        lacking = record.get("their_search", {}).get("missing"), record.get("without_peer")
        table.caption, table.caption_justify = "\n".join(filter(None, lacking)) or None, "left"
        for what, ours, peer in rows_of(record):
            ratio = peer / ours if ours and peer else None
            table.add_row(what, figure(ours), figure(peer), figure(ratio))
        print_table(table)
    powers = exponents(records)
    if powers:
        table = new_table("fitted power of n", "poise", "peer")
        for what, mine, other in powers:
            table.add_row(what, figure(mine), figure(other))
        print_table(table)
