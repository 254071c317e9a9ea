"""What happened in a labelling session, and where it stands: events and their fold."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from poise.arrays import Bools, Floats
from poise.models.harmonic import Model, Problem
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
    nodes : to which nodes
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
    """Where a session stands after some events.

    Only a new state, or a `copy` that nobody else has seen, is changed: whoever holds a state can
    go on reading it while others move on.

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
    n_given : labels given at the start
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
    n_given: int = 0
    n_asked: int = 0

    @property
    def n_answers(self) -> int:
        return len(self.labels) - self.n_given

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
        """Move on by one event that has been checked."""
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

    def problem(self, model: Model, *, with_pending: bool = True) -> "Question":
        """The columns to solve for: one per class, one per node that has its own.

        Without `anticipate` nobody waits for an answer, and open questions need no columns of
        their own: their guesses are heights in the columns of the classes, and one more column
        stands for how uncertain they are.
        """
        if not self.pending:
            with_pending = True  # the same nodes either way: solve one problem, not two
        own = self.own if with_pending else self.own_before
        expected = with_pending and bool(self.pending) and not self.anticipate
        alone = set(own)
        members: dict[int, dict[int, float]] = {}
        for node, label in self.labels.items():
            if node not in alone:
                members.setdefault(self.classes[label], {})[node] = 1.0
        if not expected:
            codes = sorted(members)
            sources = [tuple(sorted(members[code])) for code in codes] + [(node,) for node in own]
            return Question(model.problem(tuple(sources)), tuple(codes), own)
        doubt: dict[int, float] = {}
        for node in self.pending:
            guess = self.guess(node)
            for code in np.flatnonzero(guess):
                members.setdefault(int(code), {})[node] = float(guess[code])
            doubt[node] = max(1.0 - float(guess @ guess), 0.0) ** 0.5
        codes = sorted(members)
        columns = [dict(sorted(members[code].items())) for code in codes] + [doubt]
        problem = model.problem(
            tuple(tuple(column) for column in columns),
            tuple(tuple(column.values()) for column in columns),
        )
        return Question(problem, tuple(codes), (), expected=True)

    def guess(self, node: int) -> Floats:
        """(C,) probabilities of the classes at an open question.

        The shares of the classes among the labels where nothing was guessed.
        """
        guess = np.zeros(len(self.classes))
        guess[: len(self.pending[node])] = self.pending[node]
        return guess if self.pending[node] else self.class_shares()


@dataclass(frozen=True)
class Question:
    """A `Problem` and what its columns stand for.

    First the classes, then the single nodes; or, if `expected`, the classes in expectation and
    one column for how uncertain the open questions are.
    """

    problem: Problem
    codes: tuple[int, ...]
    own: tuple[int, ...]
    expected: bool = False


def unexpected(
    events: Iterable[Event], labels: Mapping[int, Label], classes: tuple[Label, ...]
) -> list[bool]:
    """For each label, in order, whether the model expected another class when it was asked.

    What nobody guessed, such as the first answer, was not expected.
    """
    guesses: dict[int, Label] = {}
    for event in events:
        if event.kind == "ask" and event.guess:
            best = int(np.argmax(event.guess))
            if best < len(classes):
                guesses[event.nodes[0]] = classes[best]
    return [guesses.get(node) != label for node, label in labels.items()]
