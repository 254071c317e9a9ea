"""``poise export``: the labels of a project as a file."""

from pathlib import Path

import click

from poise.cli.options import file_option, project_argument
from poise.errors import InputError


@click.command()
@project_argument
@file_option("File to write: .csv, .jsonl or .parquet.")
@click.option("--labelled", is_flag=True, help="Only labelled items, no predictions.")
@click.option(
    "--exact",
    is_flag=True,
    help="In CSV, put no apostrophe before texts that a spreadsheet takes for a formula.",
)
def export(project: Path, output: Path, labelled: bool, exact: bool) -> None:
    """Write the label of every item, given or predicted.

    PROJECT is the folder that `poise label` makes, NAME.poise. The columns are id, source, label,
    by (a person's name, person, source or model), confidence (of a prediction), time, assistant and
    assistant_label (the program that answered, and its answer).

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
        from poise.studio.borrowing import borrowed, borrowed_labels

        if kind not in exchange.FORMATS:
            raise InputError(f"{output} must end in .csv, .jsonl or .parquet")
        if labelled:
            rows = exchange.rows(borrowed_labels(project, begin), None)
        else:
            with borrowed(project, begin) as opened:
                rows = exchange.rows(opened, opened.predictions().result())
        content = exchange.written(rows, kind, exact=exact)
        write_bytes(output, content)
    click.echo(f"{output}: {len(rows):,} items")
