"""``poise embed``: write the features of items to a file."""

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
    help="Embedding to use; auto picks one that suits the items, as the app does.",
)
@click.option(
    "--column", help="Table column with texts or image paths; title,body joins two text columns."
)
@click.option(
    "--size", type=int, help="Pixels per side of scaled images.  [default: 64; 32 for pca]"
)
@click.option("--colour", is_flag=True, help="Keep colours when images are scaled.")
@click.option(
    "--dimensions", type=int, help="Number of dimensions, if the embedding lets you choose."
)
@click.option("--model", help="Network used by text-encoder or image-encoder.")
@click.option("--seed", type=int, help="Random seed for vae.")
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
    """Turn items into vectors, or list the embeddings.

    SOURCE is the name of a data set, a .npy file, a .npz file with an array X, a .csv, .tsv, .jsonl
    or .parquet table with texts or image paths, or a folder of images (read in order of their
    paths). Without SOURCE, the embeddings are listed. Results are cached, and interrupted work
    resumes where it stopped.

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
        for known_name, description in listing.items():
            click.echo(f"{known_name:{width}}  {description}")
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
        make(name, parameters)  # reports a mistake before anything is read
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
    """Split ``NAME=VALUE``; the value becomes a number, a truth value or text."""
    from poise.errors import InputError

    name, equals, value = setting.partition("=")
    if not name or not equals:
        raise InputError(f"--set {setting}: expected NAME=VALUE, such as --set epochs=50")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


def check_output(output: Path) -> None:
    """Fail before the work starts if the file cannot be written."""
    from poise.errors import InputError
    from poise.files import write_whole

    if output.suffix != ".npy":
        raise InputError(f"{output} must end in .npy")
    if output.is_dir():
        raise InputError(f"{output} is a folder: give a file name with -o")
    probe = output.with_name(output.name + ".try")
    write_whole(probe, lambda file: None)
    probe.unlink()
