"""``poise export``: the labels of a project as a file."""

from pathlib import Path

import click

from poise.errors import InputError


@click.command()
@click.argument("project", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    help="File to write: .csv, .jsonl or .parquet.",
)
@click.option("--labelled", is_flag=True, help="Only what people have labelled, no predictions.")
@click.option(
    "--exact",
    is_flag=True,
    help="CSV as it is, without an apostrophe before what a spreadsheet takes for a formula.",
)
def export(project: Path, output: Path, labelled: bool, exact: bool) -> None:
    """Write the class of every item, given or predicted.

    PROJECT is the folder that `poise label` keeps, NAME.poise. The columns are id, source, label,
    by (a person's name, person, source or model), confidence (the model's own) and time.

    \b
    Example:
      poise export digits.poise -o labels.csv
      poise export photos.poise -o labels.parquet --labelled
    """
    from poise.cli.progress import progress_bar

    kind = output.suffix.lower().lstrip(".")
    with progress_bar("Loading") as begin:
        from poise.files import write_bytes
        from poise.studio import exchange
        from poise.studio.borrowing import borrowed

        if kind not in exchange.FORMATS:
            raise InputError(f"{output} must end in .csv, .jsonl or .parquet")
        with borrowed(project, begin) as opened:
            predictions = None if labelled else opened.predictions().result()
            rows = exchange.rows(opened, predictions)
        content = exchange.written(rows, kind, exact=exact)
        write_bytes(output, content)
    click.echo(f"{output}: {len(rows):,} items")
