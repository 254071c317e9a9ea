"""``poise reproduce``: the paper's figures and tables, claim by claim."""

import sys
import time
from pathlib import Path

import click

from poise.cli.options import jobs_option
from poise.errors import InputError

#: Above this estimate, the speed of this machine is measured first.
PROBE_MIN_SECONDS = 60.0


@click.command()
@click.argument("figures", nargs=-1, metavar="[FIGURE ...|all]")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Folder for the report.  [default: report; report-quick with --quick]",
)
@click.option(
    "--trials",
    type=click.IntRange(1, 1000),
    default=10,
    show_default=True,
    help="Trials of each method.",
)
@click.option(
    "--quick",
    is_flag=True,
    help="At most 3 trials, and 60 questions on data sets of tens of thousands of points.",
)
@click.option(
    "--subsets",
    is_flag=True,
    help="Also run V-Opt and Sigma-Opt on 500 random candidates, as in the paper; this takes many "
    "hours.",
)
@jobs_option
@click.option(
    "--estimate", "only_estimate", is_flag=True, help="Print the expected time, and exit."
)
@click.option(
    "--report-only",
    is_flag=True,
    help="Run nothing: write the report from all records in the folder, finished or not.",
)
def reproduce(
    figures: tuple[str, ...],
    output: Path | None,
    trials: int,
    quick: bool,
    subsets: bool,
    jobs: int | None,
    only_estimate: bool,
    report_only: bool,
) -> None:
    """Reproduce the paper's figures, tables and claims.

    FIGURE is blobs, box, isolet, mnist, fashionmnist, emnist, mnist-imb, fashionmnist-imb,
    emnist-vcd or models. Without arguments, or with "all", everything runs. Data sets are read from
    the folder that the environment variable POISE_DATA names, or downloaded once. Embeddings are
    read from the same folder, or trained, which needs poise[vae]. Every finished trial is kept: run
    the same command again to resume. The report is index.html in the folder for the report, and
    shows all experiments in that folder. Its numbers are in summary.csv, its verdicts in
    claims.csv.

    \b
    Example:
      poise reproduce blobs box
      poise reproduce --quick
      poise reproduce all --trials 10 --jobs 8
      poise reproduce --report-only
    """
    from poise.cli.progress import duration, method_bars, progress_bar, resumable
    from poise.experiments.paper import estimate
    from poise.experiments.paper import reproduce as work
    from poise.experiments.paper.experiments import chosen
    from poise.machine import cores

    output = output or Path("report-quick" if quick else "report")
    if output.exists() and not output.is_dir():
        raise InputError(f"{output} is not a folder: choose another with -o")
    command = " ".join(["poise", *sys.argv[1:]])
    if report_only:
        if figures or only_estimate:
            raise InputError(
                "--report-only runs nothing and shows all records of the folder: leave out "
                f"{' '.join(figures) or '--estimate'}"
            )
        with method_bars() as (begin, _):
            _say_where(work.report_only(output, begin=begin, command=command))
        return
    experiments = chosen(figures, trials=trials, quick=quick, subsets=subsets)
    jobs = jobs or cores()
    kept = work.kept(output, experiments)
    expected = estimate.estimate(experiments, jobs, kept=kept)
    with resumable():
        if expected > PROBE_MIN_SECONDS:
            with progress_bar("Measuring the speed of this machine"):
                expected *= estimate.probe() / estimate.known_costs()["probe"]
        names = ", ".join(experiment.name for experiment in experiments)
        plural = "es" if jobs > 1 else ""
        click.echo(f"{names}: about {duration(expected)} with {jobs} process{plural}.", err=True)
        if only_estimate:
            return
        began = time.perf_counter()
        with method_bars() as (begin, progress):
            page, problems = work.reproduce(
                experiments, output, jobs=jobs, progress=progress, begin=begin, command=command
            )
    click.echo(f"Done in {duration(time.perf_counter() - began)}.")
    _say_where(page)
    for problem in problems:
        click.echo(f"poise: {problem}", err=True)
    if problems:
        raise SystemExit(1)


def _say_where(page: Path) -> None:
    click.echo(f"  report: open {page.as_posix()} in a browser")
    for words, name in (("numbers", "summary.csv"), ("verdicts", "claims.csv")):
        click.echo(f"  {words}: {(page.parent / name).as_posix()}")
