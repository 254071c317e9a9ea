"""Answers in the log of the labelling app, on disk before the learner uses them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from poise.distributed.app.lines import Nodes
from poise.distributed.learner import DistributedLearner
from poise.errors import InputError, WrongGraphError
from poise.files import write_bytes
from poise.studio.asking.setup import Setup, setup_of
from poise.studio.log.events import Event
from poise.studio.log.state import State, fold
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
        check_graph(project, learner.partition.fingerprint)
        self.store = EventStore(self.path)
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
        setup_at_ranks(self.state, self.learner).learner(None, 0)

    def _write(self, *events: Event) -> None:
        self.store.append(*events)
        self.state = fold(self.store.events())


@dataclass(frozen=True)
class SetupAtRanks(Setup):
    """What the learner at all ranks begins with; how it chooses is set when it is made."""

    at: DistributedLearner | None = None

    def learner(self, graph: Any, seed: int, *, anticipate: bool = True) -> Any:
        """The learner at all ranks, begun again with these labels."""
        assert self.at is not None
        self.at.start({}, self.classes)
        if self.labels:
            # Told, not passed at the start: tau falls with the number of answers.
            self.at.tell(list(self.labels), list(self.labels.values()))
        for method, nodes in ((self.at.exclude, self.excluded), (self.at.skip, self.skipped)):
            free = sorted(nodes - self.labels.keys())
            if free:
                method(free)
        return self.at


def setup_at_ranks(state: State, learner: DistributedLearner) -> SetupAtRanks:
    """The answers of a log, for the learner."""
    nodes = Nodes(learner.partition.n_nodes)
    for item in (*state.labels, *state.unsure, *state.skipped):
        if item not in nodes:
            raise InputError(
                f"the log names the item {item!r}, which is no node of this graph: this is the log "
                "of another project"
            )
    return SetupAtRanks(**vars(setup_of(state, nodes)), at=learner)


def check_graph(project: Path, fingerprint: str) -> None:
    """Refuse a project whose answers are about another graph; a new one notes the graph."""
    beside = project / GRAPH_FILE
    if not beside.exists():
        write_bytes(beside, f"{fingerprint}\n".encode())
    written = beside.read_text(encoding="ascii").strip()
    if written != fingerprint:
        raise WrongGraphError(
            f"the answers in {str(project)!r} are about another graph ({written[:12]}, this is "
            f"{fingerprint[:12]}): give another folder for the answers"
        )
