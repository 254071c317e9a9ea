"""``poise backup``: back up a project's answers."""

from pathlib import Path

import click

from poise.cli.options import file_option
from poise.errors import InputError


@click.command()
@click.argument("project", type=click.Path(path_type=Path))
@file_option("File to write, such as answers.db.")
def backup(project: Path, output: Path) -> None:
    """Back up the answers of a project.

    This is safe while people are labelling. PROJECT is the folder created by `poise label`,
    NAME.poise. The backup is one file with every saved answer. To restore it, stop `poise label`
    and copy the file into the project folder as events.db.

    \b
    Example:
      poise backup photos.poise -o photos-2024-05-01.db
    """
    from poise.studio.log.store import EventStore

    log = project / "events.db"
    if not log.is_file():
        raise InputError(f"{project} is not a poise project: it has no events.db")
    if output.is_dir() or (output.exists() and output.samefile(log)):
        raise InputError(f"{output} is a folder or the project's own log: give another name")
    store = EventStore.copy_of(log)
    try:
        count = store.back_up(output)
    finally:
        store.close()
    click.echo(f"{output}: {count:,} events")
