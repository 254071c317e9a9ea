"""A labelling project: its items, its log, and who is asked what."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from datetime import timedelta
from typing import Any, ClassVar
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from poise import Graph
from poise.active.warm_up import is_warming_up
from poise.errors import InputError
from poise.studio.asking.asker import Asker
from poise.studio.asking.course import Course
from poise.studio.asking.pace import DEFAULT_PACE, Pace
from poise.studio.asking.predictions import Predictions, surprising_answers
from poise.studio.asking.progress import AUDIT_ITEMS
from poise.studio.asking.question import Features, Question
from poise.studio.asking.setup import Setup, setup_of
from poise.studio.asking.turns import PATIENCE, Turns, held_alone, item_to_audit, unanswered
from poise.studio.asking.updating import (
    changes_predictions,
    foreseen_question,
    renames_labels,
    update_asker,
)
from poise.studio.log.beginning import begin
from poise.studio.log.events import Event
from poise.studio.log.state import State, apply, check
from poise.studio.log.store import EventStore
from poise.studio.results import Labelling, Results
from poise.studio.source.catalogue import Catalogue


class Project:
    """Everything that is known, and what to ask next. All methods may be called by any thread.

    Parameters
    ----------
    features : (n, d) what the neighbours were found by
    patience : how long an abandoned question waits
    compared : what items are compared by, why, and what could be tried instead, in sentences
    pace, is_compiling : as for `Asker`

    Attributes
    ----------
    nodes : item -> its node
    state : where the log stands
    results : what is computed in the background
    turns : who is present, and whose question waits
    centre : what was subtracted from the features, also from those of new items; None for nothing
    """

    #: Where a graph is not in this process, others ask and compute.
    asks: ClassVar[type[Asker]] = Asker
    computes: ClassVar[type[Results]] = Results

    def __init__(
        self,
        catalogue: Catalogue,
        features: Features,
        graph: Graph,
        store: EventStore,
        *,
        patience: timedelta = PATIENCE,
        compared: str = "",
        pace: Pace = DEFAULT_PACE,
        is_compiling: Callable[[], bool] = is_warming_up,
    ) -> None:
        self.catalogue, self.features, self.graph = catalogue, features, graph
        self.nodes, self.store, self.compared = catalogue.nodes, store, compared
        self.centre: npt.NDArray[np.float32] | None = None
        self.state = begin(store)
        self.asker = self.asks(graph, features, self._setup(), pace=pace, is_compiling=is_compiling)
        self.asker.duplicates_of = self._duplicate_nodes
        self._lock = threading.RLock()
        self._labels_changed = self.state.last
        self.turns, self._course = Turns(patience), Course()
        self.results = self.computes(catalogue, features, graph, self._labelling, self._calibrate)
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
            before = self.state
            following = foreseen_question(self.asker, self.turns, before, event, self.nodes)
            asked = [] if following is None else [self._asking(following, event.annotator)]
            written, *others = self.store.append(event, *asked)
            for each in (written, *others):
                self.state = apply(self.state, each, self.store.events)
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
            known = (event for event in reversed(self.state.done) if event.seq == target)
            undone = next(known, None) or self.store.events(target - 1)[0]
            if there is None:
                self.record(Event("undo", {"event": target}, annotator, client or uuid4().hex))
                if undone.items and undone.items[0] in self.nodes:
                    item, audit = undone.items[0], self.state.audits.get(annotator)
                    audited = audit is not None and item in audit.drawn
                    self.look_at(item, annotator, "audit" if audited else "again")
            return undone

    def look_at(self, item: str, annotator: str = "", purpose: str = "again", **more: Any) -> None:
        """Ask this person about a given item, labelled or not; the event gets `more`."""
        with self._lock:
            if item not in self.nodes:
                raise InputError(f"there is no item {item}: the source may have changed")
            self.turns.leave(self.state, annotator)
            self._let_go(annotator)
            self.record(Event("ask", {"item": item, "purpose": purpose} | more, annotator))
            self.asker.hold(self.nodes[item])

    def leave(self, annotator: str, seconds: float) -> None:
        """From an item that was looked at again to what was asked before, or to a new question.

        Whoever leaves an item of an audit ends the audit.
        """
        with self._lock:
            held = self.state.open.get(annotator)
            if held is not None and held.purpose == "audit" and held.item in self.nodes:
                self.look_at(held.item, annotator, "again", left=0)
            elif self._go_on_auditing(annotator):
                return
            waiting = self.turns.waiting_item(self.state, annotator, self.nodes)
            if waiting is not None:
                self.look_at(waiting, annotator, "question")
                return
            self._let_go(annotator)
        found = self.asker.wait(self.asker.next, seconds)
        if found is not None:
            with self._lock:
                self._put(found, annotator)

    def audit(self, annotator: str = "", n: int = AUDIT_ITEMS, **of: str) -> str:
        """Begin an audit of `n` items, drawn uniformly from the unlabelled; the first is returned.

        With ``of=NAME``, from those that an assistant answered. One that is running goes on.
        """
        with self._lock:
            item = item_to_audit(self.state, annotator, self.nodes, **of)
            if item is None:
                raise InputError("every item has a label or is set aside: nothing is left to audit")
            begin = {} if annotator in self.state.audits else {"left": n} | of
            self.look_at(item, annotator, "audit", **begin)
            return item

    def grow(self, catalogue: Catalogue, features: Features, graph: Graph) -> None:
        """Go on with other items, usually with more; answers and open questions stay.

        `features` and `graph` are of the items of `catalogue`, in its order.
        """
        with self._lock:
            self.catalogue, self.features, self.graph = catalogue, features, graph
            self.nodes = catalogue.nodes
            self._course.begin_anew()
            self.results.grow(catalogue, features, graph)
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
            if held is not None and held.item in self.nodes:
                node = self.nodes[held.item]
                return self.asker.explained(node) or Question(node)
            if self._go_on_auditing(annotator):
                return Question(self.nodes[self.state.open[annotator].item])
            waiting = self.turns.waiting_item(self.state, annotator, self.nodes)
            if waiting is not None:
                self.look_at(waiting, annotator, "question")
                return Question(self.nodes[waiting])
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
        """The class of every item by the labels so far; None without any."""
        return self.results.predictions(self._labels_changed)

    def suspicion(self) -> "Future[dict[str, float]]":
        """Item -> probability that its label is wrong, by what the other labels say."""
        return self.results.suspicion(self._labels_changed)

    @property
    def newest(self) -> Predictions | None:
        """The newest predictions that are ready, by the labels of some answers ago at most."""
        return self.results.newest

    def duplicates(self, item: str, annotator: str = "") -> list[str]:
        """Near-duplicates of an item that wait for a label and are nobody else's question."""
        nodes = self.results.finder.duplicates(self.nodes[item])
        return unanswered(self.state, annotator, [self.catalogue.ids[node] for node in nodes])

    def _duplicate_nodes(self, node: int) -> list[int]:
        """The same by nodes, for whoever is asked about one."""
        item = self.catalogue.ids[node]
        holders = {held.item: who for who, held in self.state.open.items()}
        return [self.nodes[other] for other in self.duplicates(item, holders.get(item, ""))]

    def close(self) -> None:
        """Let go of the log and end the threads; predictions on the way are nobody's."""
        self.asker.close()
        self.store.close()
        self.results.close()

    # How --------------------------------------------------------------------------------------

    def _check_items(self, event: Event) -> None:
        for item in (*event.items, *event.data.get("examples", ())):
            if item not in self.nodes:
                raise InputError(f"there is no item {item}: the source may have changed")

    def _setup(self) -> Setup:
        return setup_of(self.state, self.nodes)

    def _labelling(self) -> Labelling:
        with self._lock:
            surprising = surprising_answers(self.state, self.nodes)
            version, ids = self._labels_changed, self.catalogue.ids
            return Labelling(version, self._setup(), surprising, self.graph, ids)

    def _calibrate(self, predictions: Predictions | None) -> None:
        self.asker.calibration = None if predictions is None else predictions.calibration

    def _renew(self) -> None:
        if self.state.labels:
            self.results.renew(self._labels_changed)

    def _go_on_auditing(self, annotator: str) -> bool:
        """Ask about the next item of this person's audit, if there is one."""
        auditing = annotator in self.state.audits
        item = item_to_audit(self.state, annotator, self.nodes) if auditing else None
        if item is not None:
            self.look_at(item, annotator, "audit")
        return item is not None

    def _held(self) -> list[int]:
        asked = dict.fromkeys(held.item for held in self.state.open.values())
        return [self.nodes[item] for item in asked if item in self.nodes]

    def _meet(self, annotator: str) -> None:
        """Somebody is present: as many questions are asked as there are people."""
        people = self.turns.meet(annotator, self.state)
        if (people > 1) != self.asker.demand.several:
            self.asker.restart(self._setup(), self._held(), people=people)
        self.asker.demand.people = people

    def _let_go(self, annotator: str) -> None:
        """The question that this person has goes back to the pool."""
        item = held_alone(self.state, annotator) or ""
        if item in self.nodes:
            self.asker.release([self.nodes[item]])

    def _put(self, question: Question, annotator: str) -> None:
        (written,) = self.store.append(self._asking(question, annotator))
        self.state = apply(self.state, written, self.store.events)

    def _asking(self, question: Question, annotator: str) -> Event:
        """The event of a question, with where the model stands."""
        data = {"item": self.catalogue.ids[question.node]}
        return Event("ask", data | self._course.next(question, len(self.state.labels)), annotator)

    def _tell(self, event: Event, before: State) -> None:
        """Bring the asker and the results up to date with the state."""
        if changes_predictions(event, self.state):
            self._labels_changed = event.seq
        renamed = renames_labels(event)
        if renamed:
            self._course.begin_anew()
        if renamed or any(item in before.labels for item in event.items):
            # Predictions that knew a label which is gone must not be audited with its item.
            self.results.forget_predictions(event.seq)
        update_asker(self.asker, event, before, self.state, self.nodes, self._restart)

    def _restart(self, keep: bool) -> None:
        self.asker.restart(self._setup(), self._held(), keep=keep)
