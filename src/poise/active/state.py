"""Events of a labelling session, and the state that follows from them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from poise.arrays import Bools, Floats
from poise.models.labels import Label

Kind = Literal["ask", "tell", "relabel", "skip", "exclude", "release"]
#: A skipped node may be asked again after this many further answers.
SKIP_ANSWERS = 20


@dataclass(frozen=True)
class Event:
    """One thing that happened.

    Attributes
    ----------
    kind : what happened
    nodes : the nodes concerned
    labels : with "tell" and "relabel", the class of each node
    guess : with "ask", the model's class probabilities at the node at that moment, in the order
        of the classes then known; empty if the acquisition function used no scores
    """

    kind: Kind
    nodes: tuple[int, ...]
    labels: tuple[Label, ...] = ()
    guess: tuple[float, ...] = ()


@dataclass
class State:
    """The state of a session after some events.

    Only a new state, or a `copy` that no other thread has seen, is changed: a thread that holds a
    state can go on reading it.

    Attributes
    ----------
    labels : node -> class, in the order of the answers
    classes : all classes so far; a new one is added at the end, so columns never move
    pending : node asked and not answered -> guessed probabilities
    own : nodes that have a column of their own: those pending when the set of constrained nodes
        last changed. An answered one stays until the next change, so that its answer is an
        addition of columns, not a solve, and comes out the same whether or not it was prepared.
    anticipate : False leaves no answered node a column of its own
    own_before : the same for the labelled nodes alone, while questions are open
    skipped : node -> number of answers at which it may be asked again
    excluded : nodes never asked
    constrained : labelled and pending nodes, in the order in which they became so
    n_initial : labels given at the start
    n_asked : questions so far, the counter of the random streams
    """

    n_nodes: int
    anticipate: bool = True
    labels: dict[int, Label] = field(default_factory=dict)
    classes: dict[Label, int] = field(default_factory=dict)
    pending: dict[int, tuple[float, ...]] = field(default_factory=dict)
    own: tuple[int, ...] = ()
    own_before: tuple[int, ...] = ()
    skipped: dict[int, int] = field(default_factory=dict)
    excluded: dict[int, None] = field(default_factory=dict)
    constrained: dict[int, None] = field(default_factory=dict)
    n_initial: int = 0
    n_asked: int = 0

    @property
    def n_answers(self) -> int:
        return len(self.labels) - self.n_initial

    def candidates(self) -> Bools:
        """(n,) mask of the nodes that may be asked; skipped ones only when nothing else is left."""
        allowed = np.ones(self.n_nodes, dtype=bool)
        for group in (self.labels, self.pending, self.excluded):
            allowed[list(group)] = False
        postponed = [node for node, until in self.skipped.items() if until > self.n_answers]
        now = allowed.copy()
        now[postponed] = False
        return now if now.any() else allowed

    def copy(self) -> "State":
        """The same state, which can be changed without changing this one."""
        return replace(
            self,
            labels=dict(self.labels),
            classes=dict(self.classes),
            pending=dict(self.pending),
            skipped=dict(self.skipped),
            excluded=dict(self.excluded),
            constrained=dict(self.constrained),
        )

    def class_shares(self) -> Floats:
        """(C,) share of each class among the labels; zeros where there are none."""
        codes = [self.classes[label] for label in self.labels.values()]
        counts = np.bincount(np.array(codes, dtype=np.int64), minlength=len(self.classes))
        return np.asarray(counts / max(len(codes), 1))

    def apply(self, event: Event) -> None:
        """Apply one event that has been checked."""
        before = tuple(self.constrained)
        match event.kind:
            case "ask":
                if not self.pending:
                    self.own_before = self.own
                self.pending[event.nodes[0]] = event.guess
                self.n_asked += 1
            case "tell" | "relabel":
                for node, label in zip(event.nodes, event.labels, strict=True):
                    self.labels[node] = label
                    self.classes.setdefault(label, len(self.classes))
                    self.pending.pop(node, None)
                    self.skipped.pop(node, None)
                self.own_before = ()
            case "skip":
                for node in event.nodes:
                    self.pending.pop(node, None)
                    self.skipped[node] = self.n_answers + SKIP_ANSWERS
            case "exclude":
                for node in event.nodes:
                    self.pending.pop(node, None)
                    self.excluded[node] = None
            case "release":
                for node in event.nodes:
                    self.pending.pop(node, None)
                    self.skipped.pop(node, None)
                    self.excluded.pop(node, None)
        held = self.labels.keys() | self.pending.keys()
        self.constrained = dict.fromkeys(n for n in (*before, *event.nodes) if n in held)
        if not self.anticipate or tuple(self.constrained) != before:
            self.own = tuple(self.pending)

    def guess(self, node: int) -> Floats:
        """(C,) probabilities of the classes at an open question.

        The shares of the classes among the labels where nothing was guessed.
        """
        guess = np.zeros(len(self.classes))
        guess[: len(self.pending[node])] = self.pending[node]
        return guess if self.pending[node] else self.class_shares()


def unexpected(
    events: Iterable[Event], labels: Mapping[int, Label], classes: tuple[Label, ...]
) -> list[bool]:
    """For each label, in order, whether the model expected another class when it was asked.

    Answers without a guess, such as the first one, count as unexpected.
    """
    guesses: dict[int, Label] = {}
    for event in events:
        if event.kind == "ask" and event.guess:
            best = int(np.argmax(event.guess))
            if best < len(classes):
                guesses[event.nodes[0]] = classes[best]
    return [guesses.get(node) != label for node, label in labels.items()]
