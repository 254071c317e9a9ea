"""``poise embed``: features of items, as an array in a file."""

import json
from pathlib import Path
from typing import Any

import click


@click.command()
@click.argument("source", required=False)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="The .npy file to write.")
@click.option(
    "--with",
    "name",
    default="auto",
    show_default=True,
    help="Which embedding; auto picks the one that suits the items, as the app does.",
)
@click.option(
    "--column", help="Column of a table with texts or paths of images; title,body joins texts."
)
@click.option(
    "--size", type=int, help="Side in pixels that images are scaled to.  [default: 64; 32 for pca]"
)
@click.option("--colour", is_flag=True, help="Keep the colours of images that are scaled.")
@click.option("--dimensions", type=int, help="Numbers per item, if the embedding lets you choose.")
@click.option("--model", help="Network for text-encoder or image-encoder.")
@click.option("--seed", type=int, help="Random seed of vae.")
@click.option(
    "--set",
    "settings",
    metavar="NAME=VALUE",
    multiple=True,
    help="Any other parameter of the embedding; repeatable.",
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
    """Turn items into vectors that can be compared; without SOURCE, list the embeddings.

    SOURCE is a data set's name, a .npy file, a .npz file with an array X, a .csv, .tsv, .jsonl or
    .parquet file with texts or paths of images, or a folder of images, which are read in the order
    of their paths. Results are cached, and interrupted work resumes where it stopped.

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

    from poise.cli.progress import progress_bar
    from poise.data.embeddings.choosing import suited
    from poise.data.embeddings.registry import AUTO, make, write_array
    from poise.data.sources import read_items
    from poise.files import write_whole

    parameters = {key: value for key, value in options.items() if value is not None}
    parameters |= dict(map(parse_setting, settings))
    if name != AUTO:
        make(name, parameters)  # a slip costs no reading
    check_output(output)
    with progress_bar(f"Reading {source}"):
        items = read_items(source, column, size, colour)
    if name == AUTO:
        name, why = suited(items)
        click.echo(f"{name}: {why}", err=True)
    with progress_bar(name) as begin:
        X = poise.embed(items, name, progress=begin(name), **parameters)
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
    from poise.errors import InputError
    from poise.files import write_whole

    if output.suffix != ".npy":
        raise InputError(f"{output} does not end in .npy: that is what is written")
    if output.is_dir():
        raise InputError(f"{output} is a folder: give another file with -o")
    probe = output.with_name(output.name + ".try")
    write_whole(probe, lambda file: None)
    probe.unlink()
