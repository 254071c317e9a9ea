"""``poise backup``: a copy of a project's answers."""

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
    help="File to write, such as answers.db.",
)
def backup(project: Path, output: Path) -> None:
    """Copy the answers of a project, also while people label.

    PROJECT is the folder that `poise label` keeps, NAME.poise. The copy holds every answer that was
    saved, in one file. To go back to it, end `poise label` and put the file into the project's
    folder as events.db.

    \b
    Example:
      poise backup photos.poise -o photos-2024-05-01.db
    """
    from poise.studio.log.store import EventStore

    log = project / "events.db"
    if not log.is_file():
        raise InputError(f"{project} is not a project of poise label: it has no events.db")
    if output.is_dir() or (output.exists() and output.samefile(log)):
        raise InputError(f"{output} is not a file to write a copy to: give another name")
    store = EventStore.copy_of(log)
    try:
        count = store.back_up(output)
    finally:
        store.close()
    click.echo(f"{output}: {count:,} events")
