"""Opening a project for reading alone, as ``poise export`` and ``poise predict`` do."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from poise import Graph, Learner
from poise.data.image_cache import SIDE
from poise.data.images import UnreadableError, square
from poise.errors import InputError
from poise.progress import Begin
from poise.studio.asking.predictions import (
    Predictions,
    predict,
    predicting_learner,
    surprising_answers,
)
from poise.studio.asking.setup import Setup, setup_of
from poise.studio.exchange import known_labels
from poise.studio.log.state import State, apply, fold
from poise.studio.log.store import EventStore
from poise.studio.opening import Opening
from poise.studio.project import Project
from poise.studio.source.catalogue import Catalogue
from poise.studio.source.preparing import Features, encoder, prepare
from poise.studio.source.project_files import FILES
from poise.studio.source.source import Source

#: The log of a project.
LOG = "events.db"


@dataclass(frozen=True, eq=False)
class Borrowed:
    """A project at the moment when it was opened. The rest is computed when it is first read.

    Attributes
    ----------
    folder : of the project; nothing in it is written
    begin : begins a step of the work
    """

    folder: Path
    catalogue: Catalogue
    state: State
    begin: Begin

    @cached_property
    def compared(self) -> tuple[Features, Graph]:
        """What items are compared by, and their graph: the saved ones, or made anew elsewhere."""
        with borrowed_source(self.folder) as source:
            return prepare(
                self.catalogue,
                source.project_folder,
                embedding=source.embedding,
                k=source.k,
                metric=source.metric,
                about=source.about(),
                begin=self.begin,
            )

    @cached_property
    def setup(self) -> Setup:
        """What a learner begins with."""
        return setup_of(self.state, self.catalogue.nodes)

    @cached_property
    def learner(self) -> Learner:
        """The learner that predicts."""
        return predicting_learner(self.compared[1], self.setup)

    @cached_property
    def predictions(self) -> Predictions | None:
        """The class of every item; None without labels."""
        if not self.setup.labels:
            return None
        surprising = surprising_answers(self.state, self.catalogue.nodes)
        graph = self.compared[1]
        self.begin("predicting")
        return predict(graph, self.setup, surprising)


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


def borrow(folder: Path, begin: Begin) -> Borrowed:
    """The items and the labels of a project now; needs no features and no graph.

    Its folder may be read-only, or belong to a running server.
    """
    with borrowed_source(folder) as source:
        state = borrowed_state(folder)
        # Files that an encoder read as they came have no small copies, and need none now.
        encode = _reasons if encoder(source.embedding or "") else None
        catalogue = source.read(begin("reading"), lambda content: None, None, encode)
    items = Borrowed(folder, catalogue, state, begin)
    for event in known_labels(items):
        state = apply(state, replace(event, seq=state.last + 1), list)
    return replace(items, state=state)


def _reasons(contents: Sequence[bytes]) -> list[str]:
    """Why images cannot be read; empty for those that can."""
    reasons = []
    for content in contents:
        try:
            square(content, SIDE)
            reasons.append("")
        except UnreadableError as error:
            reasons.append(str(error))
    return reasons


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
