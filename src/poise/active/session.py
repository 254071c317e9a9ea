"""The history of a labelling session as events, and the state that follows from them.

Events are the only thing a session needs to keep: the state is their fold, undo removes the last
one that a person caused, and a saved session is the list itself. Nothing here computes scores.
"""

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from poise.active.state import SKIP_ANSWERS, Event, State
from poise.errors import InputError, LabelError, NodeIndexError, PoolExhausted
from poise.models.labels import Label, as_label, as_node, check_classes

__all__ = ["SKIP_ANSWERS", "Session"]


class Session:
    """Events with their state; checks its input, and undoes without limit."""

    def __init__(
        self,
        n_nodes: int,
        initial: Mapping[Any, Any],
        classes: Iterable[Any] = (),
        *,
        anticipate: bool = True,
    ) -> None:
        self.n_nodes, self.anticipate = n_nodes, anticipate
        self.initial = _as_initial(initial, n_nodes)
        self.known = _as_known(classes)
        check_classes([*self.known, *self.initial.values()])
        self.events: list[Event] = []
        #: Replaced at every change, never changed itself.
        self.state = self._replay()

    def copy(self) -> "Session":
        """An independent copy."""
        twin = copy(self)
        twin.events = list(self.events)
        return twin

    def grow(self, n_nodes: int) -> None:
        """Continue with more nodes, which are numbered after the old ones."""
        self.n_nodes = n_nodes
        self.state = replace(self.state, n_nodes=n_nodes)

    def _replay(self) -> State:
        state = State(
            self.n_nodes,
            self.anticipate,
            labels=dict(self.initial),
            constrained=dict.fromkeys(sorted(self.initial)),
            n_initial=len(self.initial),
        )
        for label in (*self.known, *self.initial.values()):
            state.classes.setdefault(label, len(state.classes))
        for event in self.events:
            state.apply(event)
        return state

    def _add(self, event: Event) -> None:
        state = self.state.copy()
        state.apply(event)
        self.events.append(event)
        self.state = state

    def ask(self, node: int, guess: tuple[float, ...]) -> None:
        """Open a question; the guess counts as far as its classes still exist."""
        self._add(Event("ask", (node,), guess=_fitted(guess, len(self.state.classes))))

    def numbers(self, nodes: Any) -> list[int]:
        """Nodes as their numbers, each once."""
        return list(dict.fromkeys(as_node(node, self.n_nodes) for node in _sequence(nodes)))

    def askable(self, nodes: Any) -> list[int]:
        """Nodes that can be asked about, each once."""
        names, state = self.numbers(nodes), self.state
        for node in names:
            if node in state.labels or node in state.pending or node in state.excluded:
                raise NodeIndexError(
                    f"node {node} is labelled, pending or excluded: it cannot be asked about"
                )
        return names

    def nothing_left(self) -> PoolExhausted:
        """The error for a question when no node may be asked."""
        state = self.state
        return PoolExhausted(
            f"there is nothing left to ask: of {self.n_nodes} nodes {len(state.labels)} are "
            f"labelled, {len(state.pending)} pending and {len(state.excluded)} excluded; answer or "
            "release some"
        )

    def tell(self, nodes: Any, labels: Any) -> None:
        """Record answers, all or none. Repeating an answer changes nothing."""
        state = self.state
        new: dict[int, Label] = {}
        for node, label in self._pairs(nodes, labels):
            earlier = new.get(node, state.labels.get(node, label))
            if earlier != label or type(earlier) is not type(label):
                raise LabelError(
                    f"node {node} is labelled {earlier!r} already, and now {label!r}: "
                    "to change an answer, call relabel"
                )
            if node in state.excluded:
                raise LabelError(f"node {node} is excluded: release it first")
            if node not in state.labels:
                new[node] = label
        check_classes([*state.classes, *new.values()])
        if new:
            self._add(Event("tell", tuple(new), tuple(new.values())))

    def relabel(self, nodes: Any, labels: Any) -> None:
        """Change answers that were given before, all or none."""
        changed: dict[int, Label] = {}
        for node, label in self._pairs(nodes, labels):
            if node not in self.state.labels:
                raise LabelError(f"node {node} has no label to change: call tell")
            changed[node] = label
        check_classes([*self.state.classes, *changed.values()])
        if any(self.state.labels[node] != label for node, label in changed.items()):
            self._add(Event("relabel", tuple(changed), tuple(changed.values())))

    def set_aside(self, kind: Literal["skip", "exclude", "release"], nodes: Any) -> None:
        """Skip, exclude or release nodes; a labelled one cannot be."""
        names, state = tuple(self.numbers(nodes)), self.state
        for node in names:
            if node in state.labels:
                raise NodeIndexError(f"node {node} is labelled: {kind} is for unlabelled nodes")
            if kind == "release" and not (
                node in state.pending or node in state.skipped or node in state.excluded
            ):
                raise NodeIndexError(
                    f"node {node} is not pending, skipped or excluded: there is nothing to release"
                )
        if names:
            self._add(Event(kind, names))

    def undo(self) -> Event:
        """Undo the last thing a person did.

        Questions asked since then stay open, unless their nodes are excluded again.
        """
        for position in range(len(self.events) - 1, -1, -1):
            if self.events[position].kind != "ask":
                undone, *later = self.events[position:]
                self.events = self.events[:position]
                self.state = self._replay()
                for question in later:
                    # Asked again, without a guess of the class that was removed with its answer.
                    if question.nodes[0] not in self.state.excluded:
                        self.ask(question.nodes[0], question.guess)
                return undone
        raise InputError("there is nothing to undo: no answer has been given yet")

    def _pairs(self, nodes: Any, labels: Any) -> Iterator[tuple[int, Label]]:
        names = _sequence(nodes)
        if _is_single(labels) and len(names) != 1:
            raise LabelError(f"{len(names)} nodes need a list of as many classes, got {labels!r}")
        alone = _is_single(nodes) and not isinstance(labels, np.ndarray)
        classes = [labels] if alone else _sequence(labels)
        if len(names) != len(classes):
            raise LabelError(
                f"{len(names)} nodes and {len(classes)} classes: give one class per node"
            )
        for node, label in zip(names, classes, strict=True):
            yield as_node(node, self.n_nodes), as_label(label)


def _as_initial(initial: Any, n_nodes: int) -> dict[int, Label]:
    if not isinstance(initial, Mapping):
        remedy = (
            "labels.to_dict()"
            if hasattr(initial, "to_dict")
            else "dict(labels) for pairs, {i: y[i] for i in labelled} for an array"
        )
        kind = type(initial).__name__
        raise LabelError(f"labels come as {kind}: expected {{node: class}}, for example {remedy}")
    return {as_node(node, n_nodes): as_label(label) for node, label in initial.items()}


def _as_known(classes: Any) -> tuple[Label, ...]:
    if _is_single(classes):
        raise LabelError(f"classes are {classes!r}: expected a list, for example ['cat', 'dog']")
    return tuple(map(as_label, classes))


def _fitted(guess: tuple[float, ...], n_classes: int) -> tuple[float, ...]:
    """A guess without the classes that were removed since; empty if none of its classes is left."""
    if len(guess) <= n_classes:
        return guess
    total = sum(guess[:n_classes])
    return tuple(share / total for share in guess[:n_classes]) if total > 0 else ()


def _is_single(value: Any) -> bool:
    """Whether this is a single node or class, valid or not, rather than several."""
    return (
        isinstance(value, str | bytes)
        or getattr(value, "ndim", 1) == 0
        or not isinstance(value, Iterable)
    )


def _sequence(values: Any) -> list[Any]:
    """Nodes or classes as a list, also a single one."""
    if _is_single(values):
        return [values[()] if isinstance(values, np.ndarray) else values]
    return list(values)
