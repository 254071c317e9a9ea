"""Answers in the log of the labelling app, on disk before the learner uses them."""

from pathlib import Path
from typing import Self

from poise.distributed.learner import DistributedLearner
from poise.errors import InputError, WrongGraphError
from poise.studio.log.events import Event
from poise.studio.log.state import fold
from poise.studio.log.store import EventStore

#: File beside the log with the fingerprint of the graph that the answers are about.
GRAPH_FILE = "graph.txt"


class Answers:
    """The log of a project, and a learner with the answers in it.

    Items are named by their nodes; the fingerprint makes sure that the graph is the same.

    Parameters
    ----------
    project : folder, created if it is missing
    """

    def __init__(self, project: Path, learner: DistributedLearner) -> None:
        self.learner = learner
        self.path = project / "events.db"
        self.store = EventStore(self.path)
        fingerprint, beside = learner.partition.fingerprint, project / GRAPH_FILE
        if not beside.exists():
            beside.write_text(fingerprint + "\n", encoding="ascii")
        written = beside.read_text(encoding="ascii").strip()
        if written != fingerprint:
            self.store.close()
            raise WrongGraphError(
                f"the answers in {str(project)!r} are about another graph ({written[:12]}, this is "
                f"{fingerprint[:12]}): give another folder for the answers"
            )
        learner.remember_where(str(self.path))
        self.state = fold(self.store.events())
        self._begin()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.store.close()

    def question(self) -> int:
        """The item to ask about: the pending one, or a new one."""
        if self.learner.pending:
            return self.learner.pending[0]
        (node,) = self.learner.ask().tolist()
        self._write(Event("ask", {"item": str(node), "purpose": "question"}))
        return int(node)

    def tell(self, node: int, name: str) -> None:
        """Write an answer to the log, then tell the learner."""
        made = Event("class", {"name": name}) if self.state.known.find(name) is None else None
        answer = Event("label", {"items": [str(node)], "label": name, "via": "question"})
        self._write(*([made] if made else []), answer)
        self.learner.tell(node, name)

    def set_aside(self, node: int, *, for_good: bool = False) -> None:
        """Skip an item for now, or exclude it for good."""
        self._write(Event("unsure" if for_good else "skip", {"items": [str(node)]}))
        (self.learner.exclude if for_good else self.learner.skip)(node)

    def undo(self) -> str:
        """Undo the last answer, also one of an earlier session; a description, empty if none."""
        last = self.state.undoable("")
        if last is None:
            return ""
        undone = next(event for event in self.state.done if event.seq == last)
        self._write(Event("undo", {"event": last}))
        self._begin()
        return f"{undone.kind} of item {', '.join(undone.items)}"

    def _begin(self) -> None:
        """Start the learner with the answers of the log."""
        state = self.state
        self.learner.start({}, tuple(state.known.in_order_of_making()))
        if state.labels:
            labels = [answer.label for answer in state.labels.values()]
            # Told, not passed at the start: tau falls with the number of answers.
            self.learner.tell([_node(item) for item in state.labels], labels)
        for items, method in (
            (state.unsure, self.learner.exclude),
            (state.skipped, self.learner.skip),
        ):
            free = sorted(_node(item) for item in items if item not in state.labels)
            if free:
                method(free)

    def _write(self, *events: Event) -> None:
        self.store.append(*events)
        self.state = fold(self.store.events())


def _node(item: str) -> int:
    try:
        return int(item)
    except ValueError:
        raise InputError(
            f"the log names the item {item!r}, which is not a number: this is the log of another "
            "project"
        ) from None


def read_names(path: Path, n_nodes: int) -> list[str]:
    """The lines of a file, one per item."""
    names = path.read_text(encoding="utf-8").splitlines()
    if len(names) != n_nodes:
        raise InputError(
            f"{path} has {len(names)} lines and the graph {n_nodes} items: "
            "expected one line per item"
        )
    return names
