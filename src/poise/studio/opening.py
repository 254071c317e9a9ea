"""Opening a project: read the source, embed it, join neighbours; with progress to look at."""

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from poise import embeddings
from poise.data.datasets import datasets
from poise.errors import InputError, PoiseError
from poise.linalg.warm_up import warm_up
from poise.studio.catalogue import Catalogue, read_catalogue, source_name
from poise.studio.events import Event
from poise.studio.exchange import make_class, read, take_in, take_in_known
from poise.studio.preparing import GIVEN, Begin, prepare, read_about
from poise.studio.project import Project
from poise.studio.reading import UnreadableError, shown_file
from poise.studio.store import EventStore

#: A bar on the terminal: name of the first step -> what begins the others.
Bar = Callable[[str], AbstractContextManager[Begin]]

#: Items shown while the rest is prepared, and their longest side; reasons listed for those that
#: could not be read.
FEW, SIDE = 8, 160
REASONS = 100


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

    Attributes
    ----------
    steps : what was begun so far
    glimpses : media types and bytes of the first pictures, as they are read
    catalogue : the items, once they are read
    project, error : how it ended
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self._begin: Begin = lambda name: lambda done, total: None
        self.steps: list[Step] = []
        self.glimpses: list[tuple[str, bytes]] = []
        self.catalogue: Catalogue | None = None
        self.project: Project | None = None
        self.error: Exception | None = None

    def start(self, bar: Bar | None = None, then: Callable[[], None] = lambda: None) -> None:
        """Begin; `then` is called when it has ended, well or not.

        `bar` shows the steps on the terminal as long as it lasts.
        """

        def work() -> None:
            try:
                if bar is None:
                    self.project = self.open()
                else:
                    with bar("Loading") as begin:
                        self.project = self.open(begin)
            except Exception as error:
                self.error = error
            then()

        threading.Thread(target=work, name="poise-opening", daemon=True).start()
        # The second question needs the solver: compiled while the items are read.
        threading.Thread(target=warm_up, name="poise-warm-up", daemon=True).start()

    def open(self, begin: Begin | None = None) -> Project:
        """The project, when everything is there."""
        source = self.source.as_before()
        if begin is not None:
            self._begin = begin
        catalogue = read_catalogue(
            source.name,
            column=source.column,
            key=source.key,
            label_column=source.label_column,
            use_labels=source.use_labels,
            vectors=source.vectors,
            features=source.features,
            feature_names=source.feature_names,
            remembered=source.place / "items.npz",
            progress=self.begin("reading"),
            seen=self._see,
        )
        self.catalogue = catalogue
        features, graph = prepare(
            catalogue,
            source.place,
            embedding=source.embedding,
            k=source.k,
            begin=self.begin,
            metric=source.metric,
            about=source.about(),
        )
        self.begin("ready")
        store = EventStore(source.place / "events.db")
        try:
            about = read_about(source.place)
            compared = f"{about.get('embedding', '')}: {about.get('why', '')}"
            project = Project(catalogue, features, graph, store, compared=compared)
        except PoiseError:
            store.close()
            raise
        try:
            self._begin_log(project)
        except PoiseError:
            project.close()
            raise
        self.steps[-1].ended = time.monotonic()
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

    def begin(self, name: str) -> Callable[[int, int], None]:
        """A step, on the terminal and on the page."""
        report = self._begin(name)
        now = time.monotonic()
        if self.steps:
            self.steps[-1].ended = now
        step = Step(name, now)
        self.steps.append(step)

        def progress(done: int, total: int) -> None:
            step.done, step.total = done, total
            report(done, total)

        return progress

    def _see(self, content: bytes) -> None:
        if len(self.glimpses) < FEW:
            with suppress(UnreadableError):
                self.glimpses.append(shown_file(content, SIDE))

    def shown(self) -> dict[str, Any]:
        """What the page shows meanwhile."""
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
