"""``poise dataset``: list data sets, or describe one."""

import json
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import click

from poise.cli.options import json_option

if TYPE_CHECKING:
    from poise.data.datasets import Dataset

#: Length of the excerpt from the first text.
EXCERPT_CHARACTERS = 80


@click.command()
@click.argument("name", required=False)
@click.option(
    "--embedding", default="raw", help="Embedding to describe.  [default: raw, or tfidf for texts]"
)
@json_option("text")
def dataset(name: str | None, embedding: str, as_json: bool) -> None:
    """List data sets, or download and describe one.

    Files are read from the folder named by the environment variable POISE_DATA, or else from the
    cache folder. Missing files are downloaded once, and an interrupted download resumes where it
    stopped. Add -modK to a name to use its clusters modulo K as classes. An embedding is read from
    NAME_EMBEDDING.npz in these folders, or computed once (see `poise embed`).

    \b
    Example:
      poise dataset
      poise dataset digits
      poise dataset mnist-mod3 --json
      poise dataset banking77 --embedding text-encoder
    """
    import poise
    from poise.cli.progress import progress_bar

    if name is None:
        listing = poise.datasets()
        if as_json:
            click.echo(json.dumps(listing, indent=2))
            return
        width = max(map(len, listing))
        for known_name, description in listing.items():
            click.echo(f"{known_name:{width}}  {description}")
        click.echo("\nDownload and describe one: poise dataset digits")
        return
    with progress_bar(name) as begin:
        progress = begin(f"fetching {name}")
        about = describe(poise.load_dataset(name, embedding=embedding, progress=progress))
    if as_json:
        click.echo(json.dumps(about, indent=2))
        return
    for key, value in about.items():
        if value not in ("", None):
            click.echo(f"{key:10} {value:,}" if isinstance(value, int) else f"{key:10} {value}")


def describe(data_set: "Dataset") -> dict[str, Any]:
    """A summary of a data set as JSON can hold it; `text` is the start of the first text."""
    import numpy as np

    n, d = data_set.X.shape
    sizes = np.unique_counts(data_set.classes).counts
    return {
        "name": data_set.name,
        "points": n,
        "features": d,
        "clusters": data_set.n_clusters,
        "classes": data_set.n_classes,
        "sizes": f"{sizes.min():,} to {sizes.max():,} points per class",
        "image": None if data_set.shape is None else " x ".join(map(str, data_set.shape)),
        "text": None
        if data_set.texts is None
        else shorten(data_set.texts[0], EXCERPT_CHARACTERS, placeholder=" ..."),
        "source": data_set.source,
        "licence": data_set.licence,
        "note": data_set.note,
    }
