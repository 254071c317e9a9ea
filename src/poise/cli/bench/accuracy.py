"""``poise bench accuracy``: accuracy after few labels, compared with rivals."""

import json
from pathlib import Path

import click

from poise.cli.bench.output import new_table, print_table
from poise.cli.options import jobs_option, json_option, output_option

PARTS = ("rivals", "peers", "estimation", "stopping", "noise")


@click.command()
@click.argument("parts", nargs=-1, type=click.Choice((*PARTS, "all")))
@click.option(
    "--quick",
    is_flag=True,
    help="Five small data sets, three trials; rivals take under 20 minutes.",
)
@click.option("--ablation", is_flag=True, help="Compare variants of auto instead of rivals.")
@click.option("--sets", multiple=True, metavar="NAME", help="Use only this data set; repeatable.")
@click.option(
    "--only", multiple=True, metavar="NAME", help="Run only this rival or peer; repeatable."
)
@click.option(
    "--trials",
    type=click.IntRange(1, 100),
    help="Trials per method and data set.  [default: 10; 3 with --quick]",
)
@jobs_option
@output_option("out/accuracy", "the records and the report", file_okay=False)
@json_option("tables")
def accuracy(
    parts: tuple[str, ...],
    quick: bool,
    ablation: bool,
    sets: tuple[str, ...],
    only: tuple[str, ...],
    trials: int | None,
    jobs: int | None,
    output: Path,
    as_json: bool,
) -> None:
    """Compare the accuracy after few labels with rivals.

    A trial is a random 80% of a data set, at most 20,000 points. All methods share its graph.

    \b
    Parts:
      rivals      every method asks 100 questions, starting without labels: accuracy on
                  the rest at 5 to 100 labels, calibration of the probabilities (default)
      peers       other libraries with their own classifiers
      estimation  how often the estimated accuracy is right, by audits
      stopping    rules that advise when to stop, in sessions of 300 answers
      noise       a tenth of the answers is wrong

    All data sets take several hours on two cores. Finished work is kept: run the same command again
    to resume. Data sets are read from the folder that the environment variable POISE_DATA names, or
    downloaded.

    \b
    Example:
      poise bench accuracy --quick
      poise bench accuracy all --quick
      poise bench accuracy stopping noise --sets digits --trials 3
      poise bench accuracy --sets digits --only auto --only norm --only random
      poise bench accuracy --quick --ablation -o out/ablation
    """
    from poise.cli.progress import progress_bar, resumable
    from poise.experiments.efficiency.bench import (
        DEFAULT,
        QUICK_POOLS,
        QUICK_TRIALS,
        TRIALS,
        Plan,
        run,
    )
    from poise.experiments.efficiency.methods import ABLATIONS, METHODS
    from poise.experiments.efficiency.peers import PEERS
    from poise.experiments.efficiency.report import write_report
    from poise.experiments.efficiency.sets import POOLS
    from poise.machine import cores
    from poise.registry import known_name

    for name in sets:
        known_name("data set of this benchmark", name, POOLS)
    methods = ABLATIONS if ablation else METHODS
    for name in only:
        known_name("method", name, [*methods, *PEERS])
    plan = Plan(
        output,
        sets or (QUICK_POOLS if quick else tuple(POOLS)),
        tuple(name for name in only if name in methods) or tuple(methods),
        trials or (QUICK_TRIALS if quick else TRIALS),
        jobs or cores(),
        PARTS if "all" in parts else tuple(dict.fromkeys(parts)) or (DEFAULT,),
        tuple(name for name in only if name in PEERS) or tuple(PEERS),
    )
    with resumable(), progress_bar("Starting") as begin:
        run(plan, begin)
    show_accuracy(output, plan.parts, as_json)
    if not as_json:
        click.echo(f"\nreport: {write_report(output, output / 'report').as_posix()}")


def show_accuracy(folder: Path, parts: tuple[str, ...], as_json: bool) -> None:
    """Print what the records say about some parts."""
    from poise.experiments.efficiency import tables
    from poise.experiments.efficiency.bench import tables as tables_of

    measured = tables_of(folder, parts)
    if as_json:
        click.echo(json.dumps(tables.as_json(measured), indent=2))
        return
    for content in measured:
        table = new_table(content.title, *content.head)
        table.caption = content.note or None
        table.caption_justify = "left"
        for row in content.rows:
            table.add_row(*row)
        print_table(table)
