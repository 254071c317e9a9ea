"""``poise theory``: the paper's theory, computed."""

import json
import time
from pathlib import Path

import click


@click.command()
@click.option(
    "--figure",
    "figures",
    multiple=True,
    metavar="NAME",
    help="Only this one; may be repeated. See the list above.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("out/theory"),
    show_default=True,
    help="Folder for the page, index.html, and the figures.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a list.")
def theory(figures: tuple[str, ...], output: Path, as_json: bool) -> None:
    """Draw the paper's theory, and print the numbers behind it.

    \b
    Figures:
      set-up       four labels on a line: what a small and a larger tau ask
      solutions    the solutions between opposite and between like labels
      phase        exploration and exploitation over tau and beta
      bounds       a density that varies, and the corrected bounds
      clusters     both theorems on four clusters in the plane
      new-cluster  the bound on an unexplored cluster beside the truth
      labels       the bound around labels beside the truth
      limit        graphs tend to the continuum, if they are reweighted
      certificate  what is proved of a graph before it is solved
      convergence  how exact the numerical scheme is

    \b
    Example:
      poise theory
      poise theory --figure phase -o out/phase
    """
    from poise.cli.demo import page_in
    from poise.cli.progress import progress_bar

    target = page_in(output)
    began = time.perf_counter()
    with progress_bar("Loading") as begin:
        from poise.experiments.theory.write import write_theory

        made = write_theory(figures, output, begin("Solving and drawing"))
    seconds = time.perf_counter() - began
    if as_json:
        numbers = {name: dict(one.numbers) for name, one in made.items()}
        found = {"numbers": numbers, "page": str(target), "seconds": round(seconds, 1)}
        click.echo(json.dumps(found, indent=2, ensure_ascii=False))
        return
    for name, one in made.items():
        click.secho(f"{one.heading} ({name})", bold=True)
        for what, value in one.numbers.items():
            click.echo(f"  {what}: {value}")
    click.echo(f"\nDone in {seconds:.0f} s.")
    click.echo(f"  see the figures: open {target.as_posix()} in a browser")
