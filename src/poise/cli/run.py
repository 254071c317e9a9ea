"""``poise run``: one experiment, resumable and in parallel."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poise.cli.options import import_option, jobs_option, json_option, output_option
from poise.errors import InputError

if TYPE_CHECKING:
    from poise.experiments.experiment import Experiment
    from poise.experiments.records import Records


@click.command()
@click.argument("experiment", metavar="EXPERIMENT.toml|NAME")
@output_option("out/results", "the records, with a subfolder for each experiment")
@click.option(
    "--trials",
    type=click.IntRange(1, 1000),
    help="Number of trials.  [default: that of the experiment]",
)
@click.option("--only", multiple=True, metavar="METHOD", help="Run only this method; repeatable.")
@import_option
@jobs_option
@json_option()
def run(
    experiment: str,
    output: Path,
    trials: int | None,
    only: tuple[str, ...],
    own_files: tuple[Path, ...],
    jobs: int | None,
    as_json: bool,
) -> None:
    """Run a simulated labelling experiment.

    Several methods label a data set by simulation, in several trials each. EXPERIMENT is a TOML
    file, or the name of one of the paper's experiments: blobs, box, isolet, mnist, fashionmnist,
    emnist, mnist-imb, fashionmnist-imb, emnist-vcd, models. Every finished trial is kept: run the
    same command again to resume.

    \b
    A TOML file looks like this:
      data = "digits"
      embedding = "pca"
      k = 10
      budget = 50
      trials = 5
      evaluate = ["choosing", "pwll"]
      [[methods]]
      name = "norm"
      acquisition = "norm"
      tau = { name = "geometric", K = 10 }
      [[methods]]
      name = "random"
      acquisition = "random"

    \b
    Example:
      poise run mine.toml
      poise run blobs --trials 3 --only norm --only sm
      poise run mine.toml --import mine.py
    """
    from poise.cli.progress import method_bars, resumable
    from poise.experiments import runner
    from poise.experiments.paper.estimate import trial_seconds
    from poise.machine import cores
    from poise.own_files import load_files

    load_files(own_files)
    chosen = find(experiment)
    if trials is not None:
        chosen = chosen.with_trials(trials)
    if only:
        chosen = chosen.only(*only)
    folder = output / chosen.name
    with resumable(), method_bars() as (begin, progress):
        records = runner.run(
            chosen,
            folder,
            jobs=jobs or cores(),
            seconds=trial_seconds(chosen),
            progress=progress,
            begin=begin,
        )
    rows = summary(records)
    if as_json:
        click.echo(json.dumps({"records": str(folder), "methods": rows}, indent=2))
    else:
        show(records, rows, folder)


def find(name: str) -> "Experiment":
    """The experiment in a TOML file, or one of the paper's."""
    from poise.experiments.experiment import read_experiment
    from poise.experiments.paper.experiments import EXPERIMENTS
    from poise.registry import known_name

    path = Path(name)
    if path.suffix == ".toml":
        if not path.is_file():
            raise InputError(
                f"there is no file {name}: give a TOML file or the name of an experiment"
            )
        return read_experiment(path)
    known_name("experiment", name, EXPERIMENTS)
    return EXPERIMENTS[name]


def summary(records: "Records") -> list[dict[str, Any]]:
    """Means over the trials of each method."""
    import numpy as np

    return [
        {
            "method": method.name,
            "trials": len(records.seeds(method.name)),
            "accuracy": {
                model: round(float(records.accuracy(method.name, model)[:, -1].mean()), 4)
                for model in records.experiment.evaluate
            },
            "clusters": round(float(records.explored(method.name)[:, -1].mean()), 4),
            "seconds_per_query": float(f"{np.median(records.seconds(method.name)):.3g}"),
        }
        for method in records.methods
    ]


def show(records: "Records", rows: list[dict[str, Any]], folder: Path) -> None:
    """Print the table and the path of the records."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, header_style="bold")
    table.add_column("")
    for model in records.experiment.evaluate:
        table.add_column(f"accuracy, {model}", justify="right")
    table.add_column("clusters found", justify="right")
    table.add_column("s per question", justify="right")
    for row in rows:
        shares = [f"{100 * value:.1f}%" for value in row["accuracy"].values()]
        table.add_row(
            row["method"],
            *shares,
            f"{100 * row['clusters']:.0f}%",
            f"{row['seconds_per_query']:.3g}",
        )
    experiment = records.experiment
    console = Console(highlight=False)
    console.print(
        f"{experiment.name} after {experiment.budget} questions, mean of "
        f"{len(experiment.seeds)} trials:\n",
        style="bold",
    )
    console.print(table)
    console.print(f"\nrecords: {folder.as_posix()}/records.jsonl", soft_wrap=True)
