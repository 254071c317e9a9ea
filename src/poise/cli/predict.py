"""``poise predict``: predict the class of new items from a labelled project."""

from pathlib import Path
from typing import Any

import click

from poise.cli.options import file_option
from poise.errors import InputError

#: Number of unreadable items listed by name.
LISTED_ITEMS = 5


@click.command()
@click.argument("project", type=click.Path(path_type=Path))
@click.argument("source")
@file_option("File to write: .csv, .jsonl or .parquet.")
@click.option(
    "--column",
    help="Table column with texts or image paths.  [default: the project's]",
)
@click.option("--key", help="Table column that identifies each item.")
@click.option(
    "--vectors",
    help="Table column with your own vectors.  [default: the project's]",
)
@click.option(
    "--features", type=click.Path(path_type=Path), help="Your own vectors for a folder: .npy file."
)
@click.option(
    "--feature-names",
    type=click.Path(path_type=Path),
    help="CSV file whose first column names the image for each row of --features.",
)
def predict(project: Path, source: str, output: Path, **options: Any) -> None:
    """Predict the class of new items.

    The items are not added to the project. PROJECT is the folder created by `poise label`,
    NAME.poise. SOURCE is anything that `poise label` accepts, with the same kind of items. The
    output has the columns id, source, label, probability (empty until there are enough labels to
    estimate it) and near (whether a similar item has been labelled). Items that cannot be read are
    left out and listed.

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
        named = "; ".join(f"{name}: {why}" for name, why in new.unreadable[:LISTED_ITEMS])
        more = "; ..." if len(new.unreadable) > LISTED_ITEMS else ""
        click.echo(f"left out: {len(new.unreadable):,} ({named}{more})", err=True)
    click.echo(
        f"{output}: {len(rows):,} items, {sum(row[-1] for row in rows):,} near a labelled item"
    )
