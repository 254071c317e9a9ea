"""``poise dataset``: what data sets there are, and one of them in detail."""

import json
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from poise.data.datasets import Dataset


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def dataset(name: str | None, as_json: bool) -> None:
    """List data sets, or fetch and describe one.

    Files are looked for in the folder that the variable POISE_DATA names, then in the cache folder;
    what is missing is downloaded once, and an interrupted download goes on where it stopped. Add
    -modK to a name for its clusters modulo K as classes.

    \b
    Example:
      poise dataset
      poise dataset digits
      poise dataset mnist-mod3 --json
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
        about = describe(poise.load_dataset(name, report=begin(f"fetching {name}")))
    if as_json:
        click.echo(json.dumps(about, indent=2))
        return
    for key, value in about.items():
        if value not in ("", None):
            click.echo(f"{key:10} {value:,}" if isinstance(value, int) else f"{key:10} {value}")


def describe(found: "Dataset") -> dict[str, Any]:
    """What there is to say about a data set, as JSON can hold it."""
    n, d = found.X.shape
    return {
        "name": found.name,
        "points": n,
        "features": d,
        "clusters": found.n_clusters,
        "classes": found.n_classes,
        "image": None if found.shape is None else f"{found.shape[0]} x {found.shape[1]}",
        "source": found.source,
        "licence": found.licence,
        "note": found.note,
    }
