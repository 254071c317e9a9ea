"""``poise embed``: features of items, as an array in a file."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click


@click.command()
@click.argument("source", required=False)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="File to write, .npy.")
@click.option(
    "--with",
    "name",
    default="auto",
    show_default=True,
    help="Which embedding; auto is what suits the items, as in the app.",
)
@click.option(
    "--column", help="Column of a table with texts or paths of images; title,body joins texts."
)
@click.option(
    "--size", type=int, help="Side that images are brought to.  [default: 64; 32 for pca]"
)
@click.option(
    "--colour", is_flag=True, help="Keep the colours of images, if equal sizes are needed."
)
@click.option("--dimensions", type=int, help="Numbers per item, where the embedding allows it.")
@click.option("--model", help="Network of text-encoder and image-encoder.")
@click.option("--seed", type=int, help="Of what is drawn by chance, in vae.")
@click.option(
    "--set",
    "settings",
    metavar="NAME=VALUE",
    multiple=True,
    help="Any other parameter of the embedding; may be given several times.",
)
def embed(
    source: str | None,
    output: Path | None,
    name: str,
    column: str | None,
    size: int | None,
    colour: bool,
    settings: tuple[str, ...],
    **options: Any,
) -> None:
    """Turn items into rows of numbers whose distances mean something; alone, list the ways.

    SOURCE is a data set's name, a .npy file, a .npz file with an array X, a .csv, .tsv, .jsonl or
    .parquet file with texts or paths of images, or a folder of images, which are taken in the order
    of their paths.
    What was computed before is read from the cache; a training that was interrupted goes on.

    \b
    Example:
      poise embed
      poise embed photos/ -o X.npy
      poise embed reviews.csv --column text --with tfidf -o X.npy
      poise embed reviews.parquet --column text --with text-encoder -o X.npy
      poise embed mnist --with vae --seed 1 --set epochs=50 -o X.npy
      poise embed photos/ --with image-encoder --model Qdrant/resnet50-onnx -o X.npy
      poise embed scans/ --size 32 --with hog -o X.npy
    """
    import poise

    if source is None:
        listing = poise.embeddings()
        width = max(map(len, listing))
        for known, description in listing.items():
            click.echo(f"{known:{width}}  {description}")
        click.echo("\nUse one: poise embed digits --with pca -o X.npy")
        return
    if output is None:
        raise click.UsageError("Missing option '-o': the file to write, such as -o X.npy")

    from poise.data.embeddings.choosing import suited
    from poise.data.embeddings.registry import AUTO, make, write_array
    from poise.data.folders import write_whole
    from poise.data.sources import read_items

    parameters = {key: value for key, value in options.items() if value is not None}
    parameters |= dict(map(parse_setting, settings))
    if name != AUTO:
        make(name, parameters)  # a slip costs no reading
    check_output(output)
    items = read_items(source, column, size, colour)
    if name == AUTO:
        name, why = suited(items)
        click.echo(f"{name}: {why}", err=True)
    with progress_bar(name) as report:
        X = poise.embed(items, name, report=report, **parameters)
    write_whole(output, lambda file: write_array(file, X))
    click.echo(f"{output}: {X.shape[0]:,} items x {X.shape[1]} numbers")
    click.echo(f'next: poise.knn_graph(numpy.load("{output}"), k=20)')


def parse_setting(setting: str) -> tuple[str, Any]:
    """``NAME=VALUE`` as a name and a number, truth value or text."""
    from poise.errors import InputError

    name, equals, value = setting.partition("=")
    if not name or not equals:
        raise InputError(f"--set {setting}: expected NAME=VALUE, such as --set epochs=50")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


def check_output(output: Path) -> None:
    """Say before the work that the file cannot be written, not after it."""
    from poise.data.folders import write_whole
    from poise.errors import InputError

    if output.suffix != ".npy":
        raise InputError(f"{output} does not end in .npy: that is what is written")
    if output.is_dir():
        raise InputError(f"{output} is a folder: give another file with -o")
    probe = output.with_name(output.name + ".try")
    write_whole(probe, lambda file: None)
    probe.unlink()


@contextmanager
def progress_bar(step: str) -> Iterator[Callable[[int, int, str], None]]:
    """A bar on stderr that begins with the first report; none where stderr is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    bar = Progress(
        TextColumn(step),
        BarColumn(),
        TextColumn("{task.completed:,.0f} of {task.total:,.0f}"),
        TimeRemainingColumn(compact=True),
        TextColumn("{task.description}"),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )

    def report(done: int, total: int, note: str) -> None:
        if not bar.task_ids:
            bar.add_task("", total=total)
            bar.start()
        bar.update(bar.task_ids[0], completed=done, total=total, description=note)

    try:
        yield report
    finally:
        bar.stop()
