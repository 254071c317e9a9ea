"""Opening a project: read the source, embed it, join neighbours; with progress to look at."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from poise import Graph, embeddings
from poise.data.datasets import datasets
from poise.data.embeddings.choosing import stronger
from poise.data.embeddings.items import Images
from poise.errors import InputError, PoiseError
from poise.linalg.warm_up import warm_up
from poise.studio.arriving import arriving, in_order_of_arrival, shuffled
from poise.studio.catalogue import Catalogue, read_catalogue, source_name
from poise.studio.centring import FILE, read_centre
from poise.studio.events import Event
from poise.studio.exchange import make_class, read, take_in, take_in_known
from poise.studio.preparing import (
    GIVEN,
    Begin,
    Features,
    Report,
    comparison,
    note,
    prepare,
    read_about,
)
from poise.studio.project import Project
from poise.studio.reading import UnreadableError, find_images, shown_file
from poise.studio.store import EventStore

#: A bar on the terminal: name of the first step -> what begins the others.
Bar = Callable[[str], AbstractContextManager[Begin]]

#: Items shown while the rest is prepared, and their longest side; reasons listed for those that
#: could not be read.
FEW, SIDE = 8, 160
REASONS = 100
#: Files of a project beside its log: they can be made again.
MADE = ("project.toml", "items.npz", "features.npy", FILE, "graph.npz")


@dataclass(frozen=True)
class Source:
    """What to label, and how it is read and compared. See ``poise label --help``."""

    name: str
    folder: Path | None = None
    column: str | None = None
    key: str | None = None
    label_column: str | None = None
    use_labels: bool = True
    embedding: str | None = None
    k: int | None = None
    classes: tuple[str, ...] = ()
    labels: Path | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    vectors: str | None = None
    features: Path | None = None
    feature_names: Path | None = None
    metric: str | None = None

    @property
    def place(self) -> Path:
        """The project's folder: ``NAME.poise`` where poise was started, if none was given."""
        if self.folder is not None:
            return self.folder
        return Path(f"{source_name(self.name)}.poise")

    def about(self) -> dict[str, str | int]:
        """What is needed to read the same items again, from wherever that is asked for."""
        path = Path(self.name)
        found: dict[str, str | int] = {
            "path": str(path.resolve()) if path.exists() else self.name,
            "use_labels": int(self.use_labels),
        }
        given = {
            "column": self.column,
            "key": self.key,
            "label_column": self.label_column,
            "vectors": self.vectors,
            "feature_file": None if self.features is None else str(self.features.resolve()),
            "feature_names": None
            if self.feature_names is None
            else str(self.feature_names.resolve()),
        }
        return found | {name: value for name, value in given.items() if value is not None}

    @classmethod
    def of_project(cls, folder: Path) -> "Source":
        """The source of a project that was made before."""
        about = read_about(folder)
        if "path" not in about:
            raise InputError(
                f"{folder / 'project.toml'} does not say what {folder} was made of: "
                "start poise label again with its source"
            )
        return cls(
            str(about["path"]),
            folder,
            about.get("column"),
            about.get("key"),
            about.get("label_column"),
            bool(about.get("use_labels", True)),
            None if about.get("embedding") == GIVEN else about.get("embedding"),
            about.get("k"),
        ).as_before()

    def as_before(self) -> "Source":
        """With the vectors that the project was made with, unless an embedding was asked for."""
        about = read_about(self.place)
        same = about.get("embedding") == GIVEN and about.get("path") == self.about()["path"]
        if not same or self.embedding or self.vectors or self.features:
            return self
        features, names = about.get("feature_file"), about.get("feature_names")
        return replace(
            self,
            vectors=about.get("vectors"),
            features=None if features is None else Path(features),
            feature_names=None if names is None else Path(names),
        )

    def check(self) -> None:
        """Say what can be seen to be wrong before a page opens."""
        path = Path(self.name)
        if not path.exists() and self.name not in datasets and not self.name.startswith("-"):
            known = ", ".join(sorted(datasets))
            if path.suffix or "/" in self.name or "-mod" not in self.name:
                raise InputError(
                    f"there is no {self.name}: give a folder of images, a .csv, .tsv, .jsonl, "
                    f".parquet, .npy or .npz file, or a data set's name ({known})"
                )
        if self.embedding is not None:
            embeddings.factory(self.embedding)  # an unknown name opens no page
        if self.vectors and self.features:
            raise InputError("--vectors and --features both give vectors: leave one out")
        if self.embedding and (self.vectors or self.features):
            raise InputError("--embed makes vectors, and others were given: leave one out")
        if self.feature_names and not self.features:
            raise InputError("--feature-names names the rows of --features X.npy: give that too")
        for file in (self.features, self.feature_names):
            if file is not None and not file.is_file():
                raise InputError(f"there is no file {file}: give the vectors' file again")
        if self.labels is not None and not self.labels.is_file():
            raise InputError(f"there is no file {self.labels} to import labels from")


@dataclass
class Step:
    """One part of the work."""

    name: str
    began: float
    done: int = 0
    total: int = 0
    ended: float | None = None

    def shown(self) -> dict[str, Any]:
        """Share done and seconds left, as far as that is known."""
        share = 1.0 if self.ended else self.done / self.total if self.total else None
        left = None
        if share and not self.ended and share < 1:
            left = (time.monotonic() - self.began) * (1 / share - 1)
        return {"name": self.name, "share": share, "left": left}


class Opening:
    """A project that is opened by a thread of its own.

    Parameters
    ----------
    source : what to label
    store : the log; that of the project's folder by default

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

    def __init__(self, source: Source, store: EventStore | None = None) -> None:
        self.source = source
        self._store = store
        self._begin: Begin = lambda name: lambda done, total: None
        self.steps: list[Step] = []
        self.glimpses: list[tuple[str, bytes]] = []
        self.catalogue: Catalogue | None = None
        self.project: Project | None = None
        self.error: Exception | None = None
        self.ended = False
        self.trouble = ""
        self._closing = False
        self._total = 0

    def start(self, bar: Bar | None = None, then: Callable[[], None] = lambda: None) -> None:
        """Begin; `then` is called when it has ended, well or not.

        `bar` shows the steps on the terminal as long as it lasts.
        """

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

    def open(self, begin: Begin | None = None, *, early: bool = False) -> Project:
        """The project, when everything is there.

        With `early`, `project` is set as soon as there is enough to ask about; the rest joins it.
        """
        source = self.source.as_before()
        if begin is not None:
            self._begin = begin
        catalogue, arrived = None, None
        # Labels of a file may be of any item, and what was prepared before is there at once.
        if early and source.labels is None and not (source.place / "features.npy").exists():
            names = _images_of(source)
            if not names:
                catalogue = self._read(source)
            arrived = self._arrive(source, catalogue, names)
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
        )
        self.begin("ready")
        if arrived is not None:
            catalogue, features, graph = in_order_of_arrival(catalogue, features, graph, arrived[0])
        project = self._let_in(source, catalogue, features, graph)
        project.centre = read_centre(source.place)
        self.steps[-1].ended = time.monotonic()
        return project

    def close(self) -> None:
        """End it: nothing more is read, and the project is let go of."""
        self._closing = True
        if self.project is not None:
            self.project.close()

    def _read(self, source: Source, names: list[str] | None = None) -> Catalogue:
        """The items of the source; with `names`, these images of a folder."""
        quiet = names is not None  # a part of another step
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
            progress=(lambda done, total: None) if quiet else self.begin("reading"),
            seen=self._see,
            names=names,
        )

    def _arrive(
        self, source: Source, catalogue: Catalogue | None, names: list[str]
    ) -> tuple[Catalogue, Features] | None:
        """Let items in a part at a time; what is in when that is no longer worth it.

        Parameters
        ----------
        catalogue : all items, if they are read already
        names : of the images of a folder, if they are not
        """
        items = Images(tuple(Path(source.name) / name for name in names))
        compared = comparison(
            items if catalogue is None else catalogue.items,
            read_about(source.place),
            embedding=source.embedding,
            k=source.k,
            metric=source.metric,
            given=catalogue is not None and catalogue.vectors is not None,
        )
        if not compared.is_itemwise:
            return None
        total = len(names) if catalogue is None else len(catalogue)
        order = shuffled(total).tolist()

        def take(m: int) -> Catalogue:
            if catalogue is not None:
                return catalogue.only(order[:m])
            return self._read(source, [names[i] for i in order[:m]])

        arrived = None
        for part in arriving(take, total, compared, self.begin("embedding")):
            self._total = total
            if arrived is None:
                note(source.place, compared, source.about())
            self._let_in(source, part.catalogue, part.features, part.graph)
            arrived = part.catalogue, part.rows
        return arrived

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
            name = str(about.get("embedding", ""))
            compared = f"Items are compared by {name}: {about.get('why', '')}. "
            compared += f"{stronger(name)}." if stronger(name) else ""
            project = Project(catalogue, features, graph, store, compared=compared.strip())
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

    def begin(self, name: str) -> Report:
        """A step, on the terminal and on the page."""
        report = self._begin(name)
        now = time.monotonic()
        if self.steps:
            self.steps[-1].ended = now
        step = Step(name, now)
        self.steps.append(step)

        def progress(done: int, total: int) -> None:
            if self._closing:
                raise PoiseError("poise is ending")
            step.done, step.total = done, total
            report(done, total)

        return progress

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
            "error": None if self.error is None else str(self.error),
        }


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


def _images_of(source: Source) -> list[str]:
    """Names of the images of a folder, if items are compared by what poise makes of them."""
    path = Path(source.name)
    if not path.is_dir() or source.features is not None:
        return []
    return find_images(path.resolve())[0]
