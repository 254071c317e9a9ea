"""``poise theory``: figures and numbers of the paper's theory."""

import json
import time
from pathlib import Path

import click

from poise.cli.options import json_option, output_option, page_in


@click.command()
@click.option(
    "--figure",
    "figures",
    multiple=True,
    metavar="NAME",
    help="Draw only this figure; repeatable.",
)
@output_option("out/theory", "the page, index.html, and the figures")
@json_option("a list")
def theory(figures: tuple[str, ...], output: Path, as_json: bool) -> None:
    """Draw the paper's theory and print its numbers.

    \b
    Figures:
      set-up       four labels on a line: where a small and a larger tau ask
      solutions    the solutions between opposite labels and between equal labels
      phase        exploration and exploitation over tau and beta
      bounds       a varying density, and the corrected bounds
      clusters     both theorems on four clusters in the plane
      new-cluster  the bound on an unexplored cluster, and the true value
      labels       the bound around labels, and the true value
      limit        graphs converge to the continuum if they are reweighted
      certificate  what can be proved about a graph before solving
      convergence  accuracy of the numerical scheme

    \b
    Example:
      poise theory
      poise theory --figure phase -o out/phase
    """
    from poise.cli.progress import progress_bar

    target = page_in(output)
    began = time.perf_counter()
    with progress_bar("Loading") as begin:
        from poise.experiments.theory.write import write_theory

        chapters = write_theory(figures, output, begin("Solving and drawing"))
    seconds = time.perf_counter() - began
    if as_json:
        numbers = {name: dict(chapter.numbers) for name, chapter in chapters.items()}
        result = {"numbers": numbers, "page": str(target), "seconds": round(seconds, 1)}
        click.echo(json.dumps(result, indent=2, ensure_ascii=False))
        return
    for name, chapter in chapters.items():
        click.secho(f"{chapter.heading} ({name})", bold=True)
        for what, value in chapter.numbers.items():
            click.echo(f"  {what}: {value}")
    click.echo(f"\nDone in {seconds:.0f} s.")
    click.echo(f"  to see the figures, open {target.as_posix()} in a browser")
