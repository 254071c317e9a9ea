"""``poise label``: the labelling app."""

from pathlib import Path

import click

from poise.errors import InputError


@click.command()
@click.argument("source")
@click.option("--classes", default="", help="Names of classes, with commas between them.")
@click.option("--column", help="Column of a table that holds the texts.")
@click.option("--embed", "embedding", help="Embedding; by the kind of the items if not given.")
@click.option(
    "--k", type=click.IntRange(1, 500), default=20, show_default=True, help="Neighbours an item."
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Any free one by default.")
@click.option(
    "--project",
    "folder",
    type=click.Path(path_type=Path),
    help="Folder of the project.  [default: NAME.poise]",
)
@click.option("--no-browser", is_flag=True, help="Print the address, and open nothing.")
def label(
    source: str,
    classes: str,
    column: str | None,
    embedding: str | None,
    k: int,
    port: int,
    folder: Path | None,
    no_browser: bool,
) -> None:
    """Label your own data in the browser.

    SOURCE is a folder of images, a .csv, .tsv, .jsonl or .parquet file with a column of texts, a
    .npy or .npz file of vectors, or the name of a data set. Every answer is on disk before the page
    goes on; start the same command again to go on where you stopped.

    \b
    Example:
      poise label digits
      poise label photos/ --classes cat,dog
      poise label reviews.csv --column text --no-browser
    """
    from poise.cli.progress import progress_bar

    names = tuple(name.strip() for name in classes.split(",") if name.strip())
    if len(set(names)) < len(names):
        raise InputError(f"classes names a class twice: {classes}")
    with progress_bar("Loading") as begin:
        from poise.studio.project import open_project
        from poise.studio.serve import serve

        project = open_project(
            source,
            folder=folder,
            column=column,
            embedding=embedding,
            k=k,
            classes=names,
            begin=begin,
        )

    def ready(address: str) -> None:
        click.echo(f"{len(project.catalogue):,} items. Label them at\n\n  {address}\n")
        click.echo("Ctrl-C ends it; nothing is lost.")
        if not no_browser:
            click.launch(address)

    serve(project, port, ready)
