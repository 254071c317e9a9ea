"""``poise export``: a project as a table, or as files of another tool."""

from pathlib import Path

import click

from poise.cli.options import file_option, project_argument

#: Repeated here, so that ``--help`` imports nothing; a test compares them.
FORMATS = (
    "csv",
    "jsonl",
    "parquet",
    "folders",
    "huggingface",
    "fiftyone",
    "cleanlab",
    "label-studio",
)
WAYS = ("copy", "link", "list")


@click.command()
@project_argument
@file_option("File or folder to write.")
@click.option(
    "--format",
    "named",
    type=click.Choice(FORMATS),
    help="Format.  [default: by the ending of the file]",
)
@click.option("--labelled", is_flag=True, help="Only labelled items, no predictions.")
@click.option(
    "--how",
    type=click.Choice(WAYS),
    default="copy",
    show_default=True,
    help="With folders: copy the files, link to them, or write a list of moves as CSV.",
)
@click.option(
    "--overwrite", is_flag=True, help="Replace an earlier export; tables are always replaced."
)
@click.option(
    "--exact",
    is_flag=True,
    help="In CSV, put no apostrophe before texts that a spreadsheet takes for a formula.",
)
def export(
    project: Path,
    output: Path,
    named: str | None,
    labelled: bool,
    how: str,
    overwrite: bool,
    exact: bool,
) -> None:
    """Write the label of every item, given or predicted.

    PROJECT is the folder that `poise label` makes, NAME.poise. A table has the columns id, source,
    label, by (a person's name, person, source or model), confidence (of a prediction), time,
    assistant and assistant_label (the program that answered, and its answer). Other formats: a
    folder per class, Hugging Face datasets, FiftyOne, cleanlab (arrays), and Label Studio (tasks as
    .json, with its configuration as .xml beside them).

    \b
    Example:
      poise export digits.poise -o labels.csv
      poise export photos.poise -o labels.parquet --labelled
      poise export photos.poise -o sorted --format folders --how link
      poise export photos.poise -o dataset --format huggingface
      poise export photos.poise -o tasks.json
    """
    from poise.cli.progress import progress_bar

    with progress_bar("Loading") as begin:
        from poise.integrations.exports.formats import Wanted, format_of
        from poise.integrations.exports.formats import export as write
        from poise.studio.borrowing import borrow

        kind = format_of(output, named)
        wanted = Wanted(output, kind, labelled, how, exact, overwrite)
        wanted.check()
        count = write(borrow(project, begin), wanted)
    click.echo(f"{output}: {count:,} items")
