"""``poise dataset``: what data sets there are, and one of them in detail."""

import json
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from poise.data.datasets import Dataset

#: Letters of a text to show.
SHOWN = 80


@click.command()
@click.argument("name", required=False)
@click.option(
    "--embedding", default="raw", help="Embedding to describe; texts use tfidf if none is given."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def dataset(name: str | None, embedding: str, as_json: bool) -> None:
    """List data sets, or fetch and describe one.

    Files are looked for in the folder that the variable POISE_DATA names, then in the cache folder;
    what is missing is downloaded once, and an interrupted download goes on where it stopped. Add
    -modK to a name for its clusters modulo K as classes. An embedding is read from a file
    NAME_EMBEDDING.npz in these folders, or computed once (see poise embed).

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
        for known, description in listing.items():
            click.echo(f"{known:{width}}  {description}")
        click.echo("\nFetch and describe one: poise dataset digits")
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


def describe(found: "Dataset") -> dict[str, Any]:
    """What there is to say about a data set, as JSON can hold it.

    `text` is how the first one begins.
    """
    import numpy as np

    n, d = found.X.shape
    sizes = np.unique_counts(found.classes).counts
    return {
        "name": found.name,
        "points": n,
        "features": d,
        "clusters": found.n_clusters,
        "classes": found.n_classes,
        "sizes": f"{sizes.min():,} to {sizes.max():,} points a class",
        "image": None if found.shape is None else " x ".join(map(str, found.shape)),
        "text": None if found.texts is None else shorten(found.texts[0], SHOWN, placeholder=" ..."),
        "source": found.source,
        "licence": found.licence,
        "note": found.note,
    }
