"""A labelling project: its folder, its items, its log, and who is asked what."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from poise import Graph, embed, knn_graph
from poise.data.embeddings.items import Images
from poise.errors import InputError, PoiseError
from poise.studio.asker import Asker, Question
from poise.studio.catalogue import Catalogue, read_catalogue
from poise.studio.events import Event
from poise.studio.state import apply, check, fold
from poise.studio.store import EventStore

#: Numbers an item from which on principal components are taken.
MANY = 128

#: Keys of classes, in the order in which they are given out.
KEYS = "1234567890"

#: Begins a step: name -> report(done, total).
Begin = Callable[[str], Callable[[int, int], None]]


class Project:
    """Everything that is known, and what to ask next. All methods may be called by any thread."""

    def __init__(self, catalogue: Catalogue, graph: Graph, store: EventStore) -> None:
        self.catalogue, self.graph, self.store = catalogue, graph, store
        self.index = {item: i for i, item in enumerate(catalogue.ids)}
        self._lock = threading.RLock()
        self.state = fold(store.events())
        self._asker = self._new_asker()
        self._questions: dict[str, Question] = {}

    def record(self, event: Event, versions: dict[str, int] | None = None) -> Event:
        """Write an event; when this returns it is on disk and counts.

        A retry of one that is there already changes nothing. `versions` are those of the items as
        the sender saw them.
        """
        with self._lock:
            there = self.store.find(event)
            if there is not None:
                return there
            for item in event.items:
                if item not in self.index:
                    raise InputError(f"there is no item {item}: the source may have changed")
            check(self.state, event, versions)
            (written,) = self.store.append(event)
            self.state = apply(self.state, written, self.store.events)
            self._follow(written)
            return written

    def question(self, annotator: str = "") -> Question | None:
        """What this person is asked now: the same until it is answered, also after a restart."""
        with self._lock:
            held = self._questions.get(annotator)
            item = self.state.open.get(annotator, ("", ""))[0]
            if held is not None and self.catalogue.ids[held.node] == item:
                return held
            if item in self.index:
                self._questions[annotator] = self._asker.again(self.index[item])
                return self._questions[annotator]
            found = self._asker.ask()
            if found is not None:
                self._questions[annotator] = found
                self.record(Event("ask", {"item": self.catalogue.ids[found.node]}, annotator))
            return found

    def undo(self, annotator: str = "", client: str | None = None) -> Event | None:
        """Take back this person's last deed, say which it was, and ask about its item again."""
        with self._lock:
            there = None if client is None else self.store.by_client(client)
            target = self.state.undoable(annotator) if there is None else there.data.get("event")
            if target is None:
                return None
            undone = self.store.events(target - 1)[0]
            if there is None:
                self.record(Event("undo", {"event": target}, annotator, client or uuid4().hex))
                self.record(Event("ask", {"item": undone.items[0]}, annotator))
            return undone

    def predictions(self) -> tuple[list[Any], np.ndarray[Any, Any]]:
        """Class and probability of every item; nothing without labels."""
        return self._asker.predictions()

    def close(self) -> None:
        """Let go of the log and end the thread that solves ahead."""
        self._asker.close()
        self.store.close()

    def _new_asker(self) -> Asker:
        in_order = sorted(self.state.labels, key=lambda item: self.state.version[item])
        labels = {
            self.index[item]: self.state.labels[item].label
            for item in in_order
            if item in self.index
        }
        aside = {
            self.index[item]
            for item in (*self.state.unsure, *self.state.skipped)
            if item in self.index
        }
        return Asker(self.graph, labels, aside)

    def _follow(self, event: Event) -> None:
        """Bring what asks up to date with the state."""
        nodes = [self.index[item] for item in event.items]
        match event.kind:
            case "label":
                for node in nodes:
                    self._asker.tell(node, event.data["label"])
            case "skip" | "unsure" if not self._asker.learner.labels.keys() & set(nodes):
                for node in nodes:
                    self._asker.set_aside(node)
            case "undo" | "clear" | "skip" | "unsure":
                # Rare, and a session is a function of its labels: begin it anew.
                self._asker.close()
                self._asker = self._new_asker()
                self._questions.clear()


def open_project(
    source: str,
    *,
    folder: Path | None = None,
    column: str | None = None,
    embedding: str | None = None,
    k: int = 20,
    classes: tuple[str, ...] = (),
    begin: Begin = lambda step: lambda done, total: None,
) -> Project:
    """Read a source, embed it, join neighbours, and open or begin its log.

    Parameters
    ----------
    folder : where the project is kept; ``NAME.poise`` beside where poise was started by default
    embedding : raw, pca, tfidf, ...; by the kind of the items if not given
    classes : to begin with
    """
    catalogue = read_catalogue(source, column=column, progress=begin("reading"))
    if len(catalogue) < 3:
        raise InputError(f"{source} has {len(catalogue)} items: three or more are needed")
    begin("embedding")
    X = embed(catalogue.items, embedding or _suited(catalogue))
    begin("joining neighbours")
    graph = knn_graph(X, k=min(k, len(catalogue) - 1))
    store = EventStore((folder or Path(f"{catalogue.name}.poise")) / "events.db")
    try:
        project = Project(catalogue, graph, store)
        for name in classes:
            if name not in project.state.classes:
                free = [key for key in KEYS if key not in project.state.classes.values()]
                project.record(Event("class", {"name": name} | ({"key": free[0]} if free else {})))
    except PoiseError:
        store.close()
        raise
    return project


def _suited(catalogue: Catalogue) -> str:
    """An embedding for items of a kind, when nobody said which."""
    if catalogue.kind == "text":
        return "tfidf"
    if isinstance(catalogue.items, Images):
        return "pca"
    return "pca" if np.asarray(catalogue.items[0]).size > MANY else "raw"
