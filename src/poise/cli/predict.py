"""``poise predict``: a labelled project applied to new items."""

from pathlib import Path
from typing import Any

import click

from poise.errors import InputError

#: Items left out that are named.
NAMED = 5


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
@click.option(
    "--column",
    help="Column of a table with the texts or the paths of images.  [default: the project's]",
)
@click.option("--key", help="Column of a table whose values name the items.")
@click.option(
    "--vectors",
    help="Column of a table that holds vectors of your own.  [default: the project's]",
)
@click.option(
    "--features", type=click.Path(path_type=Path), help="Vectors of your own for a folder, .npy."
)
@click.option(
    "--feature-names",
    type=click.Path(path_type=Path),
    help="CSV file whose first column names the image of each row of --features.",
)
def predict(project: Path, source: str, output: Path, **options: Any) -> None:
    """Say which class new items belong to, without adding them to the project.

    PROJECT is the folder that `poise label` keeps, NAME.poise; SOURCE is what `poise label` takes,
    with items of the same kind. The columns are id, source, label, probability (empty until there
    is evidence for one) and near: whether anything like the item was labelled. Items that cannot be
    read are left out, and named.

    \b
    Example:
      poise predict photos.poise new-photos/ -o new.csv
      poise predict reviews.poise more.csv --column text -o new.parquet
    """
    from poise.cli.progress import progress_bar

    kind = output.suffix.lower().lstrip(".")
    with progress_bar("Loading") as begin:
        from poise.files import write_bytes
        from poise.studio import exchange
        from poise.studio.borrowing import borrowed
        from poise.studio.predicting import FIELDS, predict_new, read_new
        from poise.studio.source.project_files import read_about

        if kind not in exchange.FORMATS:
            raise InputError(f"{output} must end in .csv, .jsonl or .parquet")
        with borrowed(project, begin) as opened:
            about = read_about(project)
            new = read_new(source, about, begin("reading new items"), **options)
            name = str(about["embedding"])
            rows = predict_new(opened, name, new, begin("embedding new items"))
        content = exchange.written(rows, kind, FIELDS)
        write_bytes(output, content)
    if new.unreadable:
        named = "; ".join(f"{name}: {why}" for name, why in new.unreadable[:NAMED])
        more = "; ..." if len(new.unreadable) > NAMED else ""
        click.echo(f"left out: {len(new.unreadable):,} ({named}{more})", err=True)
    click.echo(f"{output}: {len(rows):,} items, {sum(row[-1] for row in rows):,} with a label near")
