"""``poise demo``: simulated labelling of a small data set, without a person."""

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from poise.cli.options import json_option, output_option, page_in

if TYPE_CHECKING:
    from poise.experiments.demo.run import Demo


@click.command()
@output_option("out/demo", "the page, index.html")
@click.option(
    "--trials",
    type=click.IntRange(1, 1000),
    default=5,
    show_default=True,
    help="Repetitions, each with a different first label.",
)
@click.option(
    "--budget",
    type=click.IntRange(1, 1000),
    default=100,
    show_default=True,
    help="Questions asked after the first label.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of the first trial.",
)
@click.option(
    "--open", "open_page", is_flag=True, help="Open the page in the browser when it is done."
)
@json_option()
def demo(output: Path, trials: int, budget: int, seed: int, open_page: bool, as_json: bool) -> None:
    """Label handwritten digits by simulation, from one label.

    The 1,797 images come with scikit-learn. Their known classes answer the questions. The default
    acquisition, auto, is compared with random questions. The page shows the learning curves, how
    soon each digit was found, and the images in the order of the questions.

    \b
    Example:
      poise demo
      poise demo --trials 20 --seed 7 -o out/another
      poise demo --json
    """
    from poise.cli.progress import progress_bar

    target = page_in(output)
    began = time.perf_counter()
    click.echo("Labelling handwritten digits by simulation, from one label.", err=True)
    with progress_bar("Loading") as begin:
        from poise.experiments.demo.page import demo_page
        from poise.experiments.demo.run import Settings, report, run_demo

        finished = run_demo(Settings(trials=trials, budget=budget, seed=seed), begin)
        begin("Writing the page")
        target.write_text(demo_page(finished), encoding="utf-8")
    seconds = time.perf_counter() - began

    if as_json:
        result = report(finished) | {"page": str(target), "seconds": round(seconds, 1)}
        click.echo(json.dumps(result, indent=2))
    else:
        show(finished, target, seconds)
    if open_page:
        click.launch(target.resolve().as_uri())


def show(finished: "Demo", target: Path, seconds: float) -> None:
    """Print the table and what to do next."""
    from rich.console import Console
    from rich.table import Table

    from poise.experiments.demo.run import METHODS, accuracy_rows

    console = Console(highlight=False)
    settings = finished.settings
    trials = f"mean of {settings.trials} trials" if settings.trials > 1 else "one trial"
    console.print(f"Accuracy on the unlabelled images, {trials}:\n", style="bold")
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    table.add_column("Labels", justify="right")
    for name in METHODS.values():
        table.add_column(name, justify="right")
    for row in accuracy_rows(finished):
        means = [f"{100 * mean:.1f}%" for mean, _, _ in row.accuracy.values()]
        table.add_row(f"{row.labels:,}", *means)
    console.print(table)
    console.print(f"\nDone in {seconds:.0f} s. Next:")
    # Printed as they are: a wrapped path or command cannot be copied.
    for what, how in (
        ("see the curves and the questions", f"open {target.as_posix()} in a browser"),
        ("list other ways to choose questions", "poise acquisitions"),
        ("label your own data in the browser", "poise label FOLDER, or first: poise label digits"),
        ("use it in Python", "the ten lines in README.md, or on that page"),
    ):
        console.print(f"  {what}: {how}", soft_wrap=True)
