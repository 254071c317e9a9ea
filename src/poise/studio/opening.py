"""Opening a project: read the source, embed it, join neighbours; with progress to look at."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from poise import Graph
from poise.data.embeddings.choosing import stronger
from poise.data.embeddings.items import Images, Items
from poise.errors import InputError, PoiseError
from poise.linalg.warm_up import warm_up
from poise.progress import Begin, Progress, no_steps, shifted
from poise.studio.exchange import make_class, read, take_in, take_in_known
from poise.studio.log.events import Event
from poise.studio.log.store import EventStore
from poise.studio.project import Project
from poise.studio.source.arriving import (
    STEP,
    Part,
    arriving,
    in_order_of_arrival,
    joining,
    shuffled,
)
from poise.studio.source.catalogue import Catalogue, read_catalogue
from poise.studio.source.centring import FILE as CENTRE
from poise.studio.source.centring import read_centre
from poise.studio.source.earlier import FILE as CONTENTS
from poise.studio.source.earlier import fingerprint, read_earlier
from poise.studio.source.preparing import (
    GIVEN,
    Compared,
    Features,
    comparison,
    encoder,
    note,
    prepare,
    read_about,
)
from poise.studio.source.reading import Encode, Memory, UnreadableError, shown_file
from poise.studio.source.source import Source as Source

#: A bar on the terminal: name of the first step -> what begins the others.
Bar = Callable[[str], AbstractContextManager[Begin]]

#: Items shown while the rest is prepared, and their longest side; reasons listed for those that
#: could not be read.
FEW, SIDE = 8, 160
REASONS = 100
#: Files of a project beside its log: they can be made again.
MADE = ("project.toml", "items.npz", "features.npy", CENTRE, CONTENTS, "graph.npz")


@dataclass
class Step:
    """One part of the work.

    Attributes
    ----------
    before : what was done when it was first heard of: known already, so it took no time
    """

    name: str
    began: float
    done: int = 0
    total: int = 0
    ended: float | None = None
    before: int | None = None
    expected: float | None = None

    def shown(self) -> dict[str, Any]:
        """Share done and seconds left, as far as that is known."""
        share = 1.0 if self.ended else self.done / self.total if self.total else None
        left = None
        new = self.done - (self.before or 0)
        if share and new and not self.ended and share < 1:
            left = (time.monotonic() - self.began) * (self.total - self.done) / new
        elif self.expected is not None and not self.ended:
            left = max(self.expected - (time.monotonic() - self.began), 1.0)
        return {"name": self.name, "share": share, "left": left}


class Opening:
    """A project that is opened by a thread of its own.

    Parameters
    ----------
    source : what to label
    store : the log; that of the project's folder by default
    tell : called with a line about what will take long

    Attributes
    ----------
    steps : what was begun so far
    glimpses : media types and bytes of the first pictures, as they are read
    catalogue : the items, once they are read; a part of them as long as they arrive
    project : once questions can be asked
    error : why that will never be
    ended : whether all items are in, or no more will come
    trouble : why no more will come, if questions can be asked all the same
    """

    def __init__(
        self,
        source: Source,
        store: EventStore | None = None,
        tell: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.source, self._tell = source, tell
        self._store = store
        self._begin: Begin = no_steps
        self.steps: list[Step] = []
        self.glimpses: list[tuple[str, bytes]] = []
        self.catalogue: Catalogue | None = None
        self.project: Project | None = None
        self.error: Exception | None = None
        self.ended = False
        self.trouble = ""
        self._closing = False
        self._total = 0
        self._encode: Encode | None = None
        self._again: Callable[[], None] = lambda: None

    def start(self, bar: Bar | None = None, then: Callable[[], None] = lambda: None) -> None:
        """Begin; `then` is called when it has ended, well or not.

        `bar` shows the steps on the terminal as long as it lasts.
        """
        self._again = lambda: self.start(bar, then)

        def work() -> None:
            try:
                with nullcontext(None) if bar is None else bar("Loading") as begin:
                    self.open(begin, early=True)
            except Exception as error:
                if self.project is None:
                    self.error = error
                else:
                    self.trouble = str(error)
            self.ended = True
            then()

        threading.Thread(target=work, name="poise-opening", daemon=True).start()
        # The second question needs the solver: compiled while the items are read.
        threading.Thread(target=warm_up, name="poise-warm-up", daemon=True).start()

    def start_again(self) -> None:
        """After an error whose cause is gone, such as a full disk."""
        if self.error is not None:
            self.error, self.ended, self.steps, self.glimpses = None, False, [], []
            self._again()

    def open(self, begin: Begin | None = None, *, early: bool = False) -> Project:
        """The project, when everything is there.

        With `early`, `project` is set as soon as there is enough to ask about; the rest joins it.
        """
        source = self.source.as_before()
        if begin is not None:
            self._begin = begin
        root, names = source.images()
        if names:
            self.begin("reading")(len(names), len(names))  # the names; the rest is a step each
        files = Images(tuple(root / name for name in names))
        self._encode = self._encoder(source, files)
        catalogue, first, arrived = None, None, None
        # Labels of a file may be of any item.
        if early and source.labels is None:
            if not names:
                catalogue = self._read(source)
            contents = _remembered(source.place, root, names)
            first, arrived = self._arrive(source, catalogue, names, contents, files)
        if catalogue is None:
            catalogue = self._read(source)
        self.catalogue = catalogue
        features, graph = prepare(
            catalogue,
            source.place,
            embedding=source.embedding,
            k=source.k,
            begin=self.begin,
            metric=source.metric,
            about=source.about(),
            arrived=arrived,
            expect=self._expect,
        )
        self.begin("ready")
        if first is not None:
            catalogue, features, graph = in_order_of_arrival(catalogue, features, graph, first)
        project = self._let_in(source, catalogue, features, graph)
        project.centre = read_centre(source.place)
        self.steps[-1].ended = time.monotonic()
        return project

    def close(self) -> None:
        """End it: nothing more is read, and the project is let go of."""
        self._closing = True
        if self.project is not None:
            self.project.close()

    def _read(
        self, source: Source, names: list[str] | None = None, progress: Progress | None = None
    ) -> Catalogue:
        """The items of the source; with `names`, these images of a folder, as a part of a step."""
        if progress is None:
            progress = self.begin("reading" if self._encode is None else "embedding")
        return read_catalogue(
            source.name,
            column=source.column,
            key=source.key,
            label_column=source.label_column,
            use_labels=source.use_labels,
            vectors=source.vectors,
            features=source.features,
            feature_names=source.feature_names,
            remembered=source.place / "items.npz",
            progress=progress,
            seen=self._see,
            names=names,
            encode=self._encode,
        )

    def _encoder(self, source: Source, files: Images) -> Encode | None:
        """What embeds image files as they are read; None if nothing does."""
        if not len(files):
            return None
        compared = self._comparison(source, files)
        return encoder(compared.embedding) if compared.is_itemwise else None

    def _comparison(self, source: Source, items: Items, given: bool = False) -> Compared:
        return comparison(
            items,
            read_about(source.place),
            embedding=source.embedding,
            k=source.k,
            metric=source.metric,
            given=given,
        )

    def _arrive(
        self,
        source: Source,
        catalogue: Catalogue | None,
        names: list[str],
        contents: list[str],
        files: Images,
    ) -> tuple[Catalogue | None, tuple[Catalogue, Features] | None]:
        """Let items in a part at a time, those that the project had before at once.

        Parameters
        ----------
        catalogue : all items, if they are read already
        names, contents, files : of the images, if they are not

        Returns
        -------
        first : the items that are in, in the order of their nodes; None if there are none yet
        arrived : those of them that are new, and their rows
        """
        nothing = None, None
        given = catalogue is not None and catalogue.vectors is not None
        compared = self._comparison(source, files if catalogue is None else catalogue.items, given)
        if not compared.is_itemwise:
            return nothing
        place, before = source.place, read_about(source.place)
        if catalogue is not None:
            contents = list(catalogue.contents)
        if fingerprint(contents, compared.embedding) == before.get("fingerprint"):
            return nothing  # all is there
        total = len(contents)
        earlier = read_earlier(place, before, compared.embedding, compared.k, compared.metric)
        places = np.full(total, -1) if earlier is None else earlier.places(contents)
        old, new = np.flatnonzero(places >= 0), np.flatnonzero(places < 0)
        old = old[np.argsort(places[old])]
        graph = None if earlier is None else earlier.stayed(places[old])
        if graph is None:
            order = shuffled(total)
        elif len(new) <= STEP:
            return nothing  # they are in before anybody has seen the first question
        else:
            order = np.concatenate([old, new[shuffled(len(new))]])

        def take(m: int) -> Catalogue:
            chosen = order[:m].tolist()
            if catalogue is not None:
                return catalogue.only(chosen)
            return self._read(source, [names[i] for i in chosen], shifted(progress, 0, total))

        progress = self.begin("embedding")
        first, arrived = None, None
        if graph is None or earlier is None:
            for part in arriving(take, total, compared, progress):
                self._total = total
                if first is None:
                    note(place, compared, source.about())
                self._let_in(source, part.catalogue, part.features, part.graph)
                first, arrived = part.catalogue, (part.catalogue, part.rows)
            return first, arrived
        features = np.asarray(graph.features)
        first = take(len(old))
        if len(first) < len(old):
            return nothing  # files went in this very moment
        self._total = total
        self._let_in(source, first, features, graph)
        begun = Part(first, features, graph, features[:0], len(old))
        for part in joining(take, total, begun, compared, earlier.uncentred, progress):
            self._let_in(source, part.catalogue, part.features, part.graph)
            first = part.catalogue
            arrived = first.only(range(len(old), len(first))), part.rows
        return first, arrived

    def _let_in(
        self, source: Source, catalogue: Catalogue, features: Features, graph: Graph
    ) -> Project:
        """Begin with these items, or go on with them."""
        if self.project is not None:
            self.catalogue = catalogue
            self.project.grow(catalogue, features, graph)
            take_in_known(self.project)
            return self.project
        store = self._store or EventStore(source.place / "events.db")
        try:
            about = read_about(source.place)
            project = Project(catalogue, features, graph, store, compared=_compared(about))
        except PoiseError:
            store.close()
            raise
        try:
            self._begin_log(project)
        except PoiseError:
            project.close()
            raise
        self.catalogue, self.project = catalogue, project
        return project

    def _begin_log(self, project: Project) -> None:
        for name in self.source.classes:
            make_class(project, name)
        take_in_known(project)
        if self.source.labels is not None:
            take_in(project, read(self.source.labels.read_bytes(), self.source.labels.name))
        for name, value in self.source.settings.items():
            if project.state.settings[name] != value:
                project.record(Event("setting", {"name": name, "value": value}))

    def begin(self, name: str) -> Progress:
        """A step, on the terminal and on the page."""
        show = self._begin(name)
        now = time.monotonic()
        if self.steps:
            self.steps[-1].ended = now
        step = Step(name, now)
        self.steps.append(step)

        def advance(done: int, total: int) -> None:
            if self._closing:
                raise PoiseError("poise is ending")
            step.before = done if step.before is None else step.before
            step.done, step.total = done, total
            show(done, total)

        return advance

    def _expect(self, line: str, seconds: float) -> None:
        if self.steps:
            self.steps[-1].expected = seconds
        self._tell(line)

    def _see(self, content: bytes) -> None:
        if len(self.glimpses) < FEW:
            with suppress(UnreadableError):
                self.glimpses.append(shown_file(content, SIDE))

    def coming(self) -> dict[str, Any] | None:
        """What the page says of items that are still to come; None if all are in."""
        if self.trouble:
            return {"total": self._total, "left": None, "trouble": self.trouble}
        if self.ended or self._total == 0:
            return None
        left = next(
            (s.shown()["left"] for s in reversed(self.steps) if s.name == "embedding"), None
        )
        return {"total": self._total, "left": left, "trouble": ""}

    def shown(self) -> dict[str, Any]:
        """What the page shows before there is a question."""
        catalogue = self.catalogue
        return {
            "name": Path(self.source.name).name or self.source.name,
            "steps": [step.shown() for step in list(self.steps)],
            "glimpses": len(self.glimpses),
            "found": None
            if catalogue is None
            else {
                "items": len(catalogue),
                "kind": catalogue.kind,
                "few": list(catalogue.ids[:FEW]),
                "unreadable": len(catalogue.unreadable),
                "reasons": [f"{name}: {why}" for name, why in catalogue.unreadable[:REASONS]],
            },
            "error": None if self.error is None else _told(self.error),
        }


def _compared(about: Mapping[str, Any]) -> str:
    """What items are compared by, why, and what could be tried instead, in sentences."""
    name = str(about.get("embedding", ""))
    if name == GIVEN:
        return "Items are compared by the vectors that you gave."
    said = f"Items are compared by {name}: {about.get('why', '')}."
    return f"{said} {stronger(name)}." if stronger(name) else said


def _told(error: Exception) -> str:
    if isinstance(error, PoiseError):
        return str(error)
    return f"{type(error).__name__}: {error}. This is a mistake in poise: please report it"


@contextmanager
def borrowed(folder: Path, begin: Begin) -> Iterator[Project]:
    """A project as it stands, for as long as this lasts; nothing in its folder is written.

    Its folder may be read-only, or that of a running server.
    """
    log = folder / "events.db"
    if not log.is_file():
        raise InputError(f"{folder} is no project of poise label: it has no events.db")
    with TemporaryDirectory(prefix="poise-") as temporary:
        place = Path(temporary)
        for name in MADE:  # what has to be made anew takes the place of the link, not of the file
            if (folder / name).exists():
                (place / name).symlink_to((folder / name).resolve())
        source = replace(Source.of_project(folder), folder=place)
        opened = Opening(source, EventStore.copy_of(log)).open(begin)
        try:
            yield opened
        finally:
            opened.close()


def _remembered(place: Path, root: Path, names: list[str]) -> list[str]:
    """Hashes of what image files hold, as far as they did not change; else empty."""
    memory = Memory.recall(place / "items.npz")
    found = [memory.unchanged(root, name) for name in names]
    return ["" if file is None else file.id for file in found]
