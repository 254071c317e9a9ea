"""Opening a project: read the source, embed it, join neighbours, and show the progress."""

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from poise import Graph
from poise.active.warm_up import warm_up
from poise.data.embeddings.items import Images
from poise.data.image_cache import ImageCache
from poise.data.image_reading import Encode
from poise.data.images import UnreadableError
from poise.data.showing import shown_file
from poise.errors import PoiseError
from poise.progress import Begin, Progress, no_steps, shifted
from poise.studio.exchange import make_class, read_file, take_in, take_in_known
from poise.studio.log.events import Event
from poise.studio.log.store import EventStore
from poise.studio.project import Project
from poise.studio.source.arriving import Part, arriving, in_order_of_arrival, joining, plan_arrival
from poise.studio.source.catalogue import Catalogue
from poise.studio.source.centring import read_centre
from poise.studio.source.comparing import comparison_sentence
from poise.studio.source.preparing import Features, encoder, note_comparison, prepare
from poise.studio.source.project_files import IMAGES_FILE, read_about
from poise.studio.source.source import Source as Source
from poise.studio.source.steps import Step

#: A progress bar on the terminal: name of the first step -> what begins the others.
Bar = Callable[[str], AbstractContextManager[Begin]]

#: Items shown while the rest is prepared, and their longest side in pixels.
GLIMPSES, GLIMPSE_SIDE = 8, 160
#: Reasons listed for items that could not be read.
LISTED_REASONS = 100


class Opening:
    """A project that a thread of its own opens.

    Parameters
    ----------
    source : what to label
    store : the log; that of the project's folder by default
    tell : called with a sentence before a step that takes long
    read_labels : reads the rows of the file to import

    Attributes
    ----------
    steps : the steps begun so far
    glimpses : media types and bytes of the first images, as they are read
    catalogue : the items, once they are read; a part of them while they arrive
    project : set once questions can be asked
    error : why there will be no project
    ended : whether all items have arrived, or no more will
    trouble : why no more items will arrive, if questions can be asked nevertheless
    """

    #: Parts of the app that this project does not have, see `web/routes.py`.
    lacks: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        source: Source,
        store: EventStore | None = None,
        tell: Callable[[str], None] = lambda line: None,
        read_labels: Callable[[Path], list[dict[str, Any]]] = read_file,
    ) -> None:
        self.source, self._tell, self._read_labels = source, tell, read_labels
        self._store = store
        self._begin: Begin = no_steps
        self.steps: list[Step] = []
        self.glimpses: list[tuple[str, bytes]] = []
        self.catalogue: Catalogue | None = None
        self.project: Project | None = None
        self.error: Exception | None = None
        self.ended, self.trouble = False, ""
        self._closing, self._total = False, 0
        self._encode: Encode | None = None
        self._again: Callable[[], None] = lambda: None

    def start(self, bar: Bar | None = None, then: Callable[[], None] = lambda: None) -> None:
        """Open the project in a thread, with the steps on a progress bar.

        `then` is called at the end, whether it succeeded or not.
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
        """Try again after an error whose cause is gone, such as a full disk."""
        if self.error is not None:
            self.error, self.ended, self.steps, self.glimpses = None, False, [], []
            self._again()

    def open(self, begin: Begin | None = None, *, early: bool = False) -> Project:
        """Open the project and return it when all items are in.

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
        # Labels from a file may belong to any item.
        if early and source.labels is None:
            if not names:
                catalogue = self._read(source)
            contents = _remembered(source.project_folder, root, names)
            first, arrived = self._arrive(source, catalogue, names, contents, files)
        if catalogue is None:
            catalogue = self._read(source)
        self.catalogue = catalogue
        features, graph = prepare(
            catalogue,
            source.project_folder,
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
        project = self._add(source, catalogue, features, graph)
        project.centre = read_centre(source.project_folder)
        self.steps[-1].ended = time.monotonic()
        return project

    def close(self) -> None:
        """Stop reading, and close the project."""
        self._closing = True
        if self.project is not None:
            self.project.close()

    def _read(
        self, source: Source, names: list[str] | None = None, progress: Progress | None = None
    ) -> Catalogue:
        """The items of the source; with `names`, these images alone, as a part of a step."""
        if progress is None:
            progress = self.begin("reading" if self._encode is None else "embedding")
        return source.read(progress, self._see, names, self._encode)

    def _encoder(self, source: Source, files: Images) -> Encode | None:
        """Embeds image files as they are read; None if nothing does."""
        if not len(files):
            return None
        compared = source.comparison(files)
        return encoder(compared.embedding) if compared.is_itemwise else None

    def _arrive(
        self,
        source: Source,
        catalogue: Catalogue | None,
        names: list[str],
        contents: list[str],
        files: Images,
    ) -> tuple[Catalogue | None, tuple[Catalogue, Features] | None]:
        """Add items in parts, starting with those that the project had before.

        Parameters
        ----------
        catalogue : all items, if they are read already
        names, contents, files : of the images, if they are not

        Returns
        -------
        first : the items that have arrived, in the order of their nodes; None if there are none yet
        arrived : those of them that are new, and their rows
        """
        if catalogue is None:
            compared = source.comparison(files)
        else:
            compared = source.comparison(catalogue.items, catalogue.vectors is not None)
        if catalogue is not None:
            contents = list(catalogue.contents)
        arrival = plan_arrival(source.project_folder, contents, compared)
        if arrival is None:
            return None, None
        total, order = len(contents), arrival.order

        def take(m: int) -> Catalogue:
            chosen = order[:m].tolist()
            if catalogue is not None:
                return catalogue.only(chosen)
            return self._read(source, [names[i] for i in chosen], shifted(progress, 0, total))

        progress = self.begin("embedding")
        first, arrived = None, None
        if arrival.earlier is None or arrival.graph is None:
            for part in arriving(take, total, compared, progress):
                self._total = total
                if first is None:
                    note_comparison(source.project_folder, compared, source.about())
                self._add(source, part.catalogue, part.features, part.graph)
                first, arrived = part.catalogue, (part.catalogue, part.rows)
            return first, arrived
        n_old = arrival.graph.n_nodes
        features = np.asarray(arrival.graph.features)
        first = take(n_old)
        if len(first) < n_old:
            return None, None  # files vanished in this very moment
        self._total = total
        self._add(source, first, features, arrival.graph)
        begun = Part(first, features, arrival.graph, features[:0], n_old)
        for part in joining(take, total, begun, compared, arrival.earlier.uncentred, progress):
            self._add(source, part.catalogue, part.features, part.graph)
            first = part.catalogue
            arrived = first.only(range(n_old, len(first))), part.rows
        return first, arrived

    def _add(
        self, source: Source, catalogue: Catalogue, features: Features, graph: Graph
    ) -> Project:
        """Make the project from these items, or grow it to them."""
        if self.project is not None:
            self.catalogue = catalogue
            self.project.grow(catalogue, features, graph)
            take_in_known(self.project)
            return self.project
        compared = comparison_sentence(read_about(source.project_folder))
        store = self._store or EventStore(source.project_folder / "events.db")
        try:
            project = Project(catalogue, features, graph, store, compared=compared)
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
            counts = take_in(project, self._read_labels(self.source.labels))
            self._tell(counts.sentence(self.source.labels.name))
        for name, value in self.source.settings.items():
            if project.state.settings[name] != value:
                project.record(Event("setting", {"name": name, "value": value}))

    def begin(self, name: str) -> Progress:
        """Begin a step, on the terminal and on the page."""
        show = self._begin(name)
        now = time.monotonic()
        if self.steps:
            self.steps[-1].ended = now
        step = Step(name, now)
        self.steps.append(step)

        def advance(done: int, total: int) -> None:
            if self._closing:
                raise PoiseError("poise is shutting down")
            step.before = done if step.before is None else step.before
            step.done, step.total = done, total
            show(done, total)

        return advance

    def _expect(self, line: str, seconds: float) -> None:
        if self.steps:
            self.steps[-1].expected = seconds
        self._tell(line)

    def _see(self, content: bytes) -> None:
        if len(self.glimpses) < GLIMPSES:
            with suppress(UnreadableError):
                self.glimpses.append(shown_file(content, GLIMPSE_SIDE))

    def coming(self) -> dict[str, Any] | None:
        """What the page says about items that are still to come; None if all are in."""
        if self.trouble:
            return {"total": self._total, "left": None, "trouble": self.trouble}
        if self.ended or self._total == 0:
            return None
        left = next(
            (s.shown()["left"] for s in reversed(self.steps) if s.name == "embedding"), None
        )
        return {"total": self._total, "left": left, "trouble": ""}

    def ending(self) -> dict[str, Any]:
        """What the page must know of a server that may end by itself; nothing of others."""
        return {}

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
                "few": list(catalogue.ids[:GLIMPSES]),
                "unreadable": len(catalogue.unreadable),
                "reasons": [
                    f"{name}: {why}" for name, why in catalogue.unreadable[:LISTED_REASONS]
                ],
            },
            "error": None if self.error is None else _in_words(self.error),
        }


def _in_words(error: Exception) -> str:
    if isinstance(error, PoiseError):
        return str(error)
    return f"{type(error).__name__}: {error}. This is a mistake in poise: please report it"


def _remembered(folder: Path, root: Path, names: list[str]) -> list[str]:
    """Hashes of the contents of image files that did not change; empty for the others."""
    cache = ImageCache.load(folder / IMAGES_FILE)
    files = [cache.unchanged(root, name) for name in names]
    return ["" if file is None else file.id for file in files]
