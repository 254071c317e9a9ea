"""``poise predict``: a labelled project applied to new items."""

from pathlib import Path
from typing import Any

import click

from poise.errors import InputError


@click.command()
@click.argument("project", type=click.Path(path_type=Path))
@click.argument("source")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    help="File to write: .csv, .jsonl or .parquet.",
)
@click.option("--column", help="Column of a table that holds the texts or the paths of images.")
@click.option("--key", help="Column of a table whose values name the items.")
@click.option("--vectors", help="Column of a table that holds vectors of your own.")
@click.option(
    "--features", type=click.Path(path_type=Path), help="Vectors of your own for a folder, .npy."
)
def predict(project: Path, source: str, output: Path, **options: Any) -> None:
    """Say which class new items belong to, without adding them to the project.

    PROJECT is the folder that `poise label` keeps, NAME.poise; SOURCE is what `poise label` takes,
    with items of the same kind. The columns are id, source, label, probability (empty until there
    is evidence for one) and near: whether anything like the item was labelled.

    \b
    Example:
      poise predict photos.poise new-photos/ -o new.csv
      poise predict reviews.poise more.csv --column text -o new.parquet
    """
    from poise.cli.progress import progress_bar

    kind = output.suffix.lower().lstrip(".")
    with progress_bar("Loading") as begin:
        from poise.data.folders import write_whole
        from poise.studio import exchange
        from poise.studio.catalogue import read_catalogue
        from poise.studio.opening import borrowed
        from poise.studio.predicting import FIELDS, predict_new
        from poise.studio.preparing import read_about

        if kind not in exchange.FORMATS:
            raise InputError(f"{output} must end in .csv, .jsonl or .parquet")
        new = read_catalogue(source, use_labels=False, progress=begin("reading"), **options)
        with borrowed(project, begin) as opened:
            name = str(read_about(project)["embedding"])
            rows = predict_new(opened, name, new, begin("embedding new items"))
        content = exchange.written(rows, kind, FIELDS)
        write_whole(output, lambda file: file.write(content))
    click.echo(f"{output}: {len(rows):,} items, {sum(row[-1] for row in rows):,} with a label near")
