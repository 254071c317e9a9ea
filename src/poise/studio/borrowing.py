"""Opening a project for reading alone, as ``poise export`` and ``poise predict`` do."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from poise.errors import InputError
from poise.progress import Begin
from poise.studio.log.store import EventStore
from poise.studio.opening import Opening
from poise.studio.project import Project
from poise.studio.source import centring, earlier
from poise.studio.source.project_files import ABOUT
from poise.studio.source.source import Source

#: Files of a project beside its log: they can be made again.
MADE = (ABOUT, "items.npz", "features.npy", centring.FILE, earlier.FILE, "graph.npz")


@contextmanager
def borrowed(folder: Path, begin: Begin) -> Iterator[Project]:
    """Open a project for reading, for the length of a `with` block.

    Nothing in its folder is written: it may be read-only, or belong to a running server.
    """
    log = folder / "events.db"
    if not log.is_file():
        raise InputError(f"{folder} is not a project of poise label: it has no events.db")
    with TemporaryDirectory(prefix="poise-") as temporary:
        copy = Path(temporary)
        for name in MADE:  # a file that has to be made anew replaces the link, not the file
            if (folder / name).exists():
                (copy / name).symlink_to((folder / name).resolve())
        source = replace(Source.of_project(folder), folder=copy)
        opened = Opening(source, EventStore.copy_of(log)).open(begin)
        try:
            yield opened
        finally:
            opened.close()
