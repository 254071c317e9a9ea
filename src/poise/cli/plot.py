"""``poise plot``: records of `poise run` as curves and tables."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from poise.cli.options import import_option, json_option, output_option, page_in

if TYPE_CHECKING:
    from poise.experiments.plot.runs import Run


@click.command()
@click.argument(
    "records", nargs=-1, required=True, metavar="RECORDS...", type=click.Path(path_type=Path)
)
@click.option(
    "--model", "models", multiple=True, help="Show only this evaluation model; repeatable."
)
@click.option("--only", multiple=True, metavar="METHOD", help="Show only this method; repeatable.")
@import_option
@output_option("out/plot", "the page, index.html, figures/*.svg, summary.csv and curves.csv")
@json_option("tables")
def plot(
    records: tuple[Path, ...],
    models: tuple[str, ...],
    only: tuple[str, ...],
    own_files: tuple[Path, ...],
    output: Path,
    as_json: bool,
) -> None:
    """Plot what `poise run` recorded.

    RECORDS is the folder of an experiment's records, the file records.jsonl in it, or a folder of
    several such folders. Several are shown side by side. The page has the curves with their 95%
    bands and a table for each experiment. A run that is not finished can be plotted, too: only
    finished trials count. --import is needed only if accuracy was measured in a model of your own.

    \b
    Example:
      poise plot out/results/mine
      poise plot out/results/digits out/results/mnist --model pwll --only norm --only random
      poise plot results/records -o out/paper --json
    """
    target = page_in(output)
    from poise.experiments.plot.page import write_plots
    from poise.experiments.plot.ranking import ranking
    from poise.experiments.plot.runs import read_runs
    from poise.own_files import load_files

    load_files(own_files)
    runs = read_runs(records, models=models, methods=only)
    write_plots(runs, output)
    if as_json:
        rows = [
            {"experiment": run.label} | each.described()
            for run in runs
            for model in run.models
            for each in ranking(run, model)
        ]
        click.echo(json.dumps({"page": str(target), "methods": rows}, indent=2))
        return
    show(runs)
    click.echo(f"curves: open {target.as_posix()} in a browser")


def show(runs: list["Run"]) -> None:
    """Print a table for each experiment and evaluation model; it fits 80 characters."""
    from rich.console import Console
    from rich.table import Table

    from poise.experiments.plot.page import HEAD, cells, model_words
    from poise.experiments.plot.ranking import ranking, verdict

    console = Console(highlight=False)
    for run in runs:
        for model in run.models:
            budget = run.records.experiment.budget
            console.print(
                f"{run.label}: accuracy in {model_words(model)}, {budget} questions\n", style="bold"
            )
            table = Table(box=None, header_style="bold")
            table.add_column(HEAD[0], no_wrap=True)
            for heading in HEAD[1:]:
                table.add_column(heading, justify="right")
            ranked = ranking(run, model)
            for each in ranked:
                row = cells(each)[: len(HEAD)]  # the page has all columns
                table.add_row(*(cell.replace(" ", "\u00a0") for cell in row))
            console.print(table)
            console.print(f"\n{verdict(ranked)}\n" if len(ranked) > 1 else "")
