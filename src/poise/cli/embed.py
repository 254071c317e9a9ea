"""``poise embed``: features of items, as an array in a file."""

from pathlib import Path
from typing import Any

import click


@click.command()
@click.argument("source")
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path), help="File to write, .npy."
)
@click.option("--with", "name", default="pca", show_default=True, help="raw, pca or tfidf.")
@click.option("--column", help="Column of a table that holds the texts.")
@click.option("--dimensions", type=int, help="Numbers per item, where the embedding allows it.")
def embed(source: str, output: Path, name: str, column: str | None, dimensions: int | None) -> None:
    """Turn items into rows of numbers whose distances mean something.

    SOURCE is a data set's name, a .npy file, a .npz file with an array X, or a .csv, .tsv or .jsonl
    file with texts. What was computed before is read from the cache.

    \b
    Example:
      poise embed digits -o X.npy
      poise embed reviews.csv --column text --with tfidf -o X.npy
      poise embed images.npy --with pca --dimensions 20 -o X.npy
    """
    import numpy as np

    import poise
    from poise.data.sources import read_items
    from poise.errors import InputError

    if output.suffix != ".npy":
        raise InputError(f"{output} does not end in .npy: that is what is written")
    parameters: dict[str, Any] = {} if dimensions is None else {"dimensions": dimensions}
    poise.embeddings.factory(name)  # an unknown name costs no reading
    X = poise.embed(read_items(source, column), name, **parameters)
    output.parent.mkdir(parents=True, exist_ok=True)
    part = output.with_suffix(".npy.part")
    with part.open("wb") as file:
        np.save(file, X)
    part.replace(output)
    click.echo(f"{output}: {X.shape[0]:,} items x {X.shape[1]} numbers")
    click.echo(f'next: poise.knn_graph(numpy.load("{output}"), k=20)')
