"""A labelling project: its folder, its items, its log, and who is asked what."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from poise import Graph, Learner
from poise.active.session import SKIP_ANSWERS
from poise.errors import InputError
from poise.linalg.turns import TURNS
from poise.studio.asking.asker import NO_ANSWER, Asker, fulfil
from poise.studio.asking.finding import Finder
from poise.studio.asking.layout import eigenmaps, principal_plane
from poise.studio.asking.predictions import Predictions, predict
from poise.studio.asking.progress import AUDIT
from poise.studio.asking.question import NEW_CLASS, Features, Question
from poise.studio.asking.search import TextIndex
from poise.studio.asking.setup import Setup
from poise.studio.asking.suspicion import suspicion
from poise.studio.log.events import BY_PERSON, EDITS, RELABELLING, Event
from poise.studio.log.settings import DEFAULTS
from poise.studio.log.state import Open, State, apply, check, fold
from poise.studio.log.store import EventStore
from poise.studio.source.catalogue import Catalogue
from poise.studio.source.details import other_columns

#: How long a question waits for somebody who went away before another person gets it.
PATIENCE = timedelta(minutes=10)
#: Predictions nobody waits for are renewed after this many times what the last ones took, so that
#: they take little from the questions.
REST = 10.0

T = TypeVar("T")


class Project:
    """Everything that is known, and what to ask next. All methods may be called by any thread.

    Parameters
    ----------
    features : (n, d) what the neighbours were found by
    patience : how long an abandoned question waits
    compared : what items are compared by, why, and what could be tried instead, in sentences
    """

    def __init__(
        self,
        catalogue: Catalogue,
        features: Features,
        graph: Graph,
        store: EventStore,
        *,
        patience: timedelta = PATIENCE,
        compared: str = "",
    ) -> None:
        self.catalogue, self.features, self.graph = catalogue, features, graph
        self.store, self.patience, self.compared = store, patience, compared
        #: What was subtracted from the features; new items are compared without it too.
        self.centre: npt.NDArray[np.float32] | None = None
        self.index = catalogue.nodes
        self.finder = Finder(catalogue, features, graph)
        self.state = _begun(store)
        self.asker = Asker(graph, features, self._setup())
        self.asker.alike = self._alike
        self._lock = threading.RLock()
        self._kept: dict[str, tuple[int, Future[Any]]] = {}
        self._labels_changed = self.state.last
        # The questions that people left to look at something else.
        self._left: dict[str, str] = {}
        # When people were last heard of, in seconds of a clock that only goes forward.
        self._seen: dict[str, float] = {}
        self._codes: tuple[int, npt.NDArray[np.int32]] | None = None
        #: The newest predictions that are there, and of which labels; when they may be renewed.
        self.newest: Predictions | None = None
        self._predicted = self._removed = -1
        self._predicting = threading.Lock()
        self._renewal = 0.0
        for node in self._held():
            self.asker.hold(node)
        self._renew()

    # What happens -----------------------------------------------------------------------------

    def record(self, event: Event, versions: dict[str, int] | None = None) -> Event:
        """Write an event; when this returns it is on disk and counts.

        A retry of one that is there already changes nothing. `versions` are those of the items as
        the sender saw them.
        """
        with self._lock:
            if event.kind == "class":
                event = self.state.known.with_key(event, self.store.by_client(event.client))
            earlier = self.store.find(event)
            if earlier is not None:
                return earlier
            self._check_items(event)
            check(self.state, event, versions)
            before, following = self.state, self._following(event)
            asked = [] if following is None else [self._asking(following, event.annotator)]
            written, *others = self.store.append(event, *asked)
            for one in (written, *others):
                self.state = apply(self.state, one, self.store.events)
            self._tell(written, before)
            if following is not None:
                self.asker.follow(following)
            self._renew()
            return written

    def record_all(self, events: Sequence[Event]) -> None:
        """Write events that are nobody's answers to a question: all of them, or none."""
        with self._lock:
            state = self.state
            for event in events:
                self._check_items(event)
                check(state, event)
                state = apply(state, event, list)
            for written in self.store.append(*events):
                before = self.state
                self.state = apply(before, written, self.store.events)
                self._tell(written, before)
            self._renew()

    def undo(self, annotator: str = "", client: str | None = None) -> Event | None:
        """Take back this person's last deed, say which it was, and ask about its item again."""
        with self._lock:
            there = None if client is None else self.store.by_client(client)
            target = self.state.undoable(annotator) if there is None else there.data.get("event")
            if target is None:
                return None
            undone = next(
                (event for event in self.state.done if event.seq == target),
                self.store.events(target - 1)[0],
            )
            if there is None:
                self.record(Event("undo", {"event": target}, annotator, client or uuid4().hex))
                if undone.items and undone.items[0] in self.index:
                    item, audit = undone.items[0], self.state.audits.get(annotator)
                    audited = audit is not None and item in audit.drawn
                    self.look_at(item, annotator, "audit" if audited else "again")
            return undone

    def look_at(self, item: str, annotator: str = "", purpose: str = "again", **more: int) -> None:
        """Ask this person about a given item, labelled or not; `more` goes into the event."""
        with self._lock:
            if item not in self.index:
                raise InputError(f"there is no item {item}: the source may have changed")
            held = self.state.open.get(annotator)
            if held is not None and held.purpose == "question":
                self._left[annotator] = held.item
            self._let_go(annotator)
            self.record(Event("ask", {"item": item, "purpose": purpose} | more, annotator))
            self.asker.hold(self.index[item])

    def leave(self, annotator: str, seconds: float) -> None:
        """From an item that was looked at again to what was asked before, or to a new question.

        Whoever leaves an item of an audit ends the audit.
        """
        with self._lock:
            held = self.state.open.get(annotator)
            if held is not None and held.purpose == "audit" and held.item in self.index:
                self.look_at(held.item, annotator, "again", left=0)
            elif self._go_on_auditing(annotator):
                return
            waiting = self._waiting_for(annotator)
            if waiting is not None:
                self.look_at(waiting, annotator, "question")
                return
            self._let_go(annotator)
        found = self.asker.wait(self.asker.next, seconds)
        if found is not None:
            with self._lock:
                self._put(found, annotator)

    def audit(self, annotator: str = "", n: int = AUDIT) -> str:
        """Begin an audit of `n` items, drawn uniformly from the unlabelled; the first is returned.

        An audit that is running goes on.
        """
        with self._lock:
            item = self._drawn(annotator)
            if item is None:
                raise InputError("every item has a label or is set aside: nothing is left to audit")
            begin = {} if annotator in self.state.audits else {"left": n}
            self.look_at(item, annotator, "audit", **begin)
            return item

    def grow(self, catalogue: Catalogue, features: Features, graph: Graph) -> None:
        """Go on with other items, usually with more; answers and open questions stay.

        Parameters
        ----------
        features, graph : of the items of `catalogue`, in its order
        """
        with self._lock:
            self.catalogue, self.features, self.graph = catalogue, features, graph
            self.index = catalogue.nodes
            self.finder = Finder(catalogue, features, graph)
            if "words" in self._kept:
                self._kept["words"][1].add_done_callback(_close)
            self._kept.clear()
            self.newest, self._predicted, self._codes = None, -1, None
            self._renewal = 0.0
            self.asker.restart(self._setup(), self._held(), (graph, features))
            self._renew()

    # What is asked ----------------------------------------------------------------------------

    def question(self, annotator: str = "") -> Question | None:
        """What this person is asked now: the same until it is answered, also after a restart.

        None if nothing is ready: see `wait`. Without its reasons as long as they are not known.
        """
        with self._lock:
            self._meet(annotator)
            held = self.state.open.get(annotator)
            if held is not None and held.item in self.index:
                node = self.index[held.item]
                return self.asker.explained(node) or Question(node)
            if self._go_on_auditing(annotator):
                return Question(self.index[self.state.open[annotator].item])
            waiting = self._waiting_for(annotator)
            if waiting is not None:
                self.look_at(waiting, annotator, "question")
                return Question(self.index[waiting])
            found = self.asker.next()
            if found is None:
                return None
            self._put(found, annotator)
            return self.asker.explained(found.node) or Question(found.node)

    def wait(self, annotator: str, seconds: float) -> Question | None:
        """The question with its reasons, as soon as there is one; None if nothing is left to ask.

        What is there after that time is given as it is.
        """

        def ready() -> Question | None:
            found = self.question(annotator)
            if found is None or self.asker.explained(found.node) is None:
                return Question(-1) if self.asker.exhausted and found is None else None
            return found

        # The lock of the project is taken first everywhere, so it is not held while waiting.
        found = self.asker.wait(ready, seconds)
        if found is None:
            return self.question(annotator)
        return None if found.node < 0 else found

    # What is known ----------------------------------------------------------------------------

    def predictions(self) -> "Future[Predictions | None]":
        """The class of every item by the labels so far; None without any.

        `newest` are those that are there already, by the labels of some answers ago at most.
        """
        return self._computed("predictions", lambda: in_background(self._predict))

    def suspicion(self) -> "Future[dict[str, float]]":
        """Item -> probability that its label is wrong, by what the other labels say."""

        def begin() -> "Future[dict[str, float]]":
            labels, ids, graph = self._labels(), self.catalogue.ids, self.graph  # those of now
            return in_background(
                lambda: {ids[node]: share for node, share in suspicion(graph, labels).items()}
            )

        return self._computed("suspicion", begin)

    def learner(self, graph: Graph) -> Learner:
        """A learner that knows the labels so far, on this graph or another of the same items."""
        with self._lock:
            setup = self._setup()
        return setup.learner(graph, 0)

    def layout(self, name: str) -> "Future[npt.NDArray[np.float32]]":
        """(n, 2) places of all items in the plane, from -1 to 1."""
        with self._lock:
            features, graph = self.features, self.graph
            if name not in self._kept:
                self._kept[name] = (
                    0,
                    in_background(
                        lambda: (
                            principal_plane(features)
                            if name == "pca"
                            else eigenmaps(graph, features)
                        )
                    ),
                )
            return self._kept[name][1]

    def words(self) -> "Future[TextIndex]":
        """The words of all items, to be searched; from the first call on."""
        with self._lock:
            if "words" not in self._kept:
                self._kept["words"] = 0, in_background(self.finder.index)
            return self._kept["words"][1]

    def columns(self) -> "Future[dict[str, list[Any]]]":
        """The other columns of the table that the items come from; read when first asked for."""
        with self._lock:
            catalogue = self.catalogue
            if "columns" not in self._kept:
                self._kept["columns"] = 0, in_background(lambda: other_columns(catalogue))
            return self._kept["columns"][1]

    def duplicates(self, item: str, annotator: str = "") -> list[str]:
        """Near-duplicates of an item that wait for a label and are nobody else's question.

        None where several people are to say something about each item.
        """
        state, ids = self.state, self.catalogue.ids
        if state.settings["overlap"] > 1:
            return []
        busy = {held.item for who, held in state.open.items() if who != annotator}
        aside = (state.labels, state.unsure, busy)
        found = [ids[node] for node in self.finder.duplicates(self.index[item])]
        return [other for other in found if not any(other in group for group in aside)]

    def _alike(self, node: int) -> list[int]:
        """Nodes that are answered with one, for what is foreseen of a single person's answers."""
        held = {one.item: who for who, one in self.state.open.items()}
        item = self.catalogue.ids[node]
        return [self.index[other] for other in self.duplicates(item, held.get(item, ""))]

    def has_layout(self, name: str) -> bool:
        """Whether a layout is there; does not begin one."""
        return name in self._kept and self._kept[name][1].done()

    def close(self) -> None:
        """Let go of the log and end the threads; predictions on the way are nobody's."""
        self.asker.close()
        self.store.close()
        if "words" in self._kept:
            self._kept["words"][1].add_done_callback(_close)

    # How --------------------------------------------------------------------------------------

    def _check_items(self, event: Event) -> None:
        for item in (*event.items, *event.data.get("examples", ())):
            if item not in self.index:
                raise InputError(f"there is no item {item}: the source may have changed")

    def _computed(self, name: str, begin: Any) -> "Future[Any]":
        """What follows from the labels, computed once for each state of them."""
        with self._lock:
            version, future = self._kept.get(name, (-1, None))
            if future is None or version != self._labels_changed:
                future = begin()
                self._kept[name] = self._labels_changed, future
            return future

    def _predict(self) -> Predictions | None:
        # One after the other: who waited finds them done, if no label came meanwhile.
        with self._predicting:
            with self._lock:
                version, setup, graph = self._labels_changed, self._setup(), self.graph
                surprising = self._surprising()
            if version == self._predicted:
                return self.newest
            began = time.monotonic()
            with TURNS.in_background():
                found = predict(graph, setup, surprising)
            self._renewal = time.monotonic() + REST * (time.monotonic() - began)
            with self._lock:
                if version >= self._removed and graph is self.graph:
                    self.newest, self._predicted = found, version
                    self.asker.calibration = None if found is None else found.calibration
            return found

    def _renew(self) -> None:
        """Predict anew while people answer, now and then: numbers and advice shall be of today."""
        due = self._labels_changed != self._predicted and time.monotonic() >= self._renewal
        if due and self.state.labels and not self._predicting.locked():
            self.predictions()

    def _surprising(self) -> dict[int, bool]:
        """Nodes that people labelled -> whether the model expected another class.

        Of what was labelled without a question, such as a grid, nothing is expected.
        """
        found: dict[int, bool] = {}
        for event in self.state.done:
            via = event.data.get("via", "question")
            if event.kind != "label" or via not in BY_PERSON:
                continue
            wrong = event.data.get("guess") != event.data["label"]
            for place, item in enumerate(event.items):
                if item in self.index and item in self.state.labels:
                    expected = via in ("question", "audit") or (via == "duplicates" and place == 0)
                    found[self.index[item]] = wrong and expected
        return found

    def _labels(self) -> dict[int, str]:
        """Node -> class, in the order in which they were answered."""
        labels, version = self.state.labels, self.state.version
        in_order = sorted(labels, key=lambda item: version[item])
        return {self.index[item]: labels[item].label for item in in_order if item in self.index}

    def _setup(self) -> Setup:
        state = self.state
        excluded = {self.index[item] for item in state.unsure if item in self.index}
        if state.settings["only"] is not None:
            allowed = {self.index[item] for item in state.settings["only"] if item in self.index}
            excluded |= set(range(len(self.catalogue))) - allowed
        recent = (i for i, at in state.skipped.items() if len(state.labels) - at < SKIP_ANSWERS)
        return Setup(
            self._labels(),
            state.known.in_order_of_making(),
            frozenset(excluded),
            frozenset(self.index[item] for item in recent if item in self.index),
            state.settings["acquisition"],
            state.settings["tau"],
        )

    def _go_on_auditing(self, annotator: str) -> bool:
        """Ask about the next item of this person's audit, if there is one."""
        item = self._drawn(annotator) if annotator in self.state.audits else None
        if item is not None:
            self.look_at(item, annotator, "audit")
        return item is not None

    def _drawn(self, annotator: str) -> str | None:
        """The item to audit: one that was drawn before and has no answer, else a new one.

        No item is drawn twice, also if it was skipped: that would ask about the easy ones.
        """
        state = self.state
        running = state.audits.get(annotator)
        for item in () if running is None else running.drawn:
            if item in self.index:
                return item
        # Of what this person is asked now, the guess has been seen.
        busy = {asked.item for asked in state.open.values()}
        judged = {item for e in state.done if e.data.get("via") == "audit" for item in e.items}
        aside = state.labels.keys() | state.unsure.keys() | busy | judged
        pool = [item for item in self.catalogue.ids if item not in aside]
        if not pool:
            return None
        rng = np.random.default_rng([state.last, len(state.labels)])
        return pool[int(rng.integers(len(pool)))]

    def _held(self) -> list[int]:
        asked = dict.fromkeys(held.item for held in self.state.open.values())
        return [self.index[item] for item in asked if item in self.index]

    def _meet(self, annotator: str) -> None:
        """Somebody is there: as many questions are asked as people are present."""
        now, patience = time.monotonic(), self.patience.total_seconds()
        self._seen[annotator] = now
        self._seen = {who: at for who, at in self._seen.items() if now - at < patience}
        people = len(self._seen.keys() | self._present().keys())
        if (people > 1) != self.asker.demand.several:
            self.asker.restart(self._setup(), self._held(), people=people)
        self.asker.demand.people = people

    def _present(self) -> dict[str, Open]:
        """Questions of people who are there."""
        oldest = (datetime.now(UTC) - self.patience).isoformat(timespec="milliseconds")
        return {who: held for who, held in self.state.open.items() if held.time >= oldest}

    def _waiting_for(self, annotator: str) -> str | None:
        """An item that this person should see before a new one.

        The question that was left to look at something else; one that somebody has abandoned; one
        that several people are to be asked about.
        """
        present, state = self._present(), self.state
        busy = {held.item for who, held in present.items() if who != annotator}
        left = self._left.get(annotator)
        settled = (state.labels, state.unsure, state.skipped, busy)
        only = state.settings["only"]
        allowed = only is None or left in only
        if left is not None and allowed and not any(left in group for group in settled):
            return left
        for who, held in self.state.open.items():
            if who != annotator and who not in present and held.item in self.index:
                return held.item
        wanted = self.state.settings["overlap"]
        if wanted > 1:
            asked = Counter(held.item for who, held in present.items() if who != annotator)
            for item, votes in self.state.votes.items():
                few = len(votes) + asked[item] < wanted
                if few and annotator not in votes and item in self.index:
                    return item
        return None

    def _let_go(self, annotator: str) -> None:
        """The question that this person has goes back to the pool."""
        held = self.state.open.get(annotator)
        others = {asked.item for who, asked in self.state.open.items() if who != annotator}
        if held is not None and held.item in self.index and held.item not in others:
            self.asker.release([self.index[held.item]])

    def _put(self, question: Question, annotator: str) -> None:
        (written,) = self.store.append(self._asking(question, annotator))
        self.state = apply(self.state, written, self.store.events)

    def _asking(self, question: Question, annotator: str) -> Event:
        """The event of a question, with where the model stands."""
        data: dict[str, Any] = {"item": self.catalogue.ids[question.node]}
        if question.explored is not None and question.codes is not None:
            data["explored"] = round(min(question.explored, 1.0), 4)
            same = self._codes is not None and len(self._codes[1]) == len(question.codes)
            if self._codes is not None and same and self._codes[0] < len(self.state.labels) + 1:
                data["changed"] = round(float((question.codes != self._codes[1]).mean()), 6)
            self._codes = len(self.state.labels), question.codes
        return Event("ask", data, annotator)

    def _following(self, event: Event) -> Question | None:
        """The question that follows an answer, if it was foreseen and is this person's to get."""
        held = self.state.open.get(event.annotator)
        if held is None or event.items[:1] != [held.item]:
            return None
        if held.purpose == "audit" or event.annotator in self.state.audits:
            return None
        if event.kind not in ("label", "skip", "unsure") or held.item in self.state.labels:
            return None
        if self.state.settings["overlap"] > 1 or self._waiting_for(event.annotator) is not None:
            return None
        if self.asker.demand.several:  # somebody else may have been asked what was foreseen
            return None
        node, *others = (self.index[item] for item in event.items)
        if event.kind != "label":
            return self.asker.foreseen(node, NO_ANSWER, others)
        label = self.state.known.name(self.state.known.find(event.data["label"])) or ""
        if any(given.label == label for given in self.state.labels.values()):
            return self.asker.foreseen(node, label, others)
        found = self.asker.foreseen(node, NEW_CLASS, others)
        return None if found is None else found.named(label)

    def _tell(self, event: Event, before: State) -> None:
        """Bring what asks up to date with the state."""
        nodes = [self.index[item] for item in event.items]
        labelled = any(item in before.labels for item in event.items)
        relabelled = event.kind == "undo" or event.kind in RELABELLING
        if event.kind not in {"ask", "class"} | (EDITS - RELABELLING):
            self._labels_changed = event.seq
        if relabelled:
            self._codes = None  # its numbers mean other classes now
        if relabelled or labelled:
            # Predictions that knew a label which is gone must not be audited with its item.
            self.newest, self._predicted, self._removed = None, -1, event.seq
            self._renewal = 0.0
        match event.kind:
            case "label":
                by_label: dict[str, list[int]] = {}
                for item in event.items:
                    decided = self.state.labels[item].label
                    by_label.setdefault(decided, []).append(self.index[item])
                for label, some in by_label.items():
                    self.asker.tell(some, label)
            case "skip" if not labelled:
                self.asker.skip(nodes)
            case "unsure" if not labelled:
                self.asker.exclude(nodes)
            case kind if relabelled or kind in ("skip", "unsure", "clear", "setting"):
                # Rare, and a session is a function of its labels: begin it anew.
                keep = event.kind != "setting"
                self.asker.restart(self._setup(), self._held(), keep=keep)


def _begun(store: EventStore) -> State:
    """Where a project stands; a new one writes down how it chooses questions.

    So that it goes on alike when a later version has another default.
    """
    log = store.events()
    state = fold(log)
    named = any(e.kind == "setting" and e.data["name"] == "acquisition" for e in log)
    if named or state.labels:
        return state
    value = DEFAULTS["acquisition"]
    (written,) = store.append(Event("setting", {"name": "acquisition", "value": value}))
    return apply(state, written, store.events)


def _close(future: "Future[TextIndex]") -> None:
    if future.exception() is None:
        future.result().close()


def in_background(work: Callable[[], T]) -> "Future[T]":
    """Done by a thread that nobody waits for at the end."""
    future: Future[T] = Future()
    thread = threading.Thread(
        target=fulfil, args=(future, work), name="poise-background", daemon=True
    )
    thread.start()
    return future
