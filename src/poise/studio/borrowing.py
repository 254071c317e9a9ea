"""Opening a project for reading alone, as ``poise export`` and ``poise predict`` do."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from poise.errors import InputError
from poise.progress import Begin
from poise.studio.exchange import known_labels
from poise.studio.log.state import State, apply, fold
from poise.studio.log.store import EventStore
from poise.studio.opening import Opening
from poise.studio.project import Project
from poise.studio.source.catalogue import Catalogue
from poise.studio.source.project_files import FILES
from poise.studio.source.source import Source

#: The log of a project.
LOG = "events.db"


@dataclass(frozen=True)
class LabelledItems:
    """Items and their labels, without what they are compared by."""

    catalogue: Catalogue
    state: State


@contextmanager
def borrowed(folder: Path, begin: Begin) -> Iterator[Project]:
    """Open a project for reading, for the length of a `with` block.

    Nothing in its folder is written: it may be read-only, or belong to a running server.
    """
    with borrowed_source(folder) as source:
        opened = Opening(source, EventStore.copy_of(folder / LOG)).open(begin)
        try:
            yield opened
        finally:
            opened.close()


def borrowed_state(folder: Path) -> State:
    """The state of a project, from its log alone."""
    check_log(folder)
    store = EventStore.copy_of(folder / LOG)
    try:
        return fold(store.events())
    finally:
        store.close()


def borrowed_labels(folder: Path, begin: Begin) -> LabelledItems:
    """The items and the labels of a project; needs no features and no graph."""
    with borrowed_source(folder) as source:
        state = borrowed_state(folder)
        catalogue = source.read(begin("reading"), lambda content: None, None, None)
    items = LabelledItems(catalogue, state)
    for event in known_labels(items):
        state = apply(state, replace(event, seq=state.last + 1), list)
    return replace(items, state=state)


@contextmanager
def borrowed_source(folder: Path) -> Iterator[Source]:
    """The source of a project, with a folder beside it in which files may be made again."""
    check_log(folder)
    with TemporaryDirectory(prefix="poise-") as temporary:
        copy = Path(temporary)
        for name in FILES:  # a file that has to be made anew replaces the link, not the file
            if (folder / name).exists():
                (copy / name).symlink_to((folder / name).resolve())
        yield replace(Source.of_project(folder), folder=copy)


def check_log(folder: Path) -> None:
    """Refuse a folder that is no project."""
    """Refuse a folder that is no project."""
    if not (folder / LOG).is_file():
        raise InputError(f"{folder} is not a poise project: it has no {LOG}")
