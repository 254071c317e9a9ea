"""Whose turn it is: who is present, and which item a person should see before a new one."""

import time
from collections import Counter
from collections.abc import Container, Iterable, Mapping
from datetime import UTC, datetime, timedelta

import numpy as np

from poise.studio.log.answers import Open
from poise.studio.log.state import State

#: How long a question waits for somebody who went away before another person gets it.
PATIENCE = timedelta(minutes=10)


class Turns:
    """Who is present, and whose question waits.

    Attributes
    ----------
    patience : how long an abandoned question waits
    left : annotator -> the item of a question left to look at something else
    """

    def __init__(self, patience: timedelta) -> None:
        self.patience = patience
        self.left: dict[str, str] = {}
        # When people were last heard of, in seconds of a clock that only goes forward.
        self._seen: dict[str, float] = {}

    def meet(self, annotator: str, state: State) -> int:
        """Note that somebody is present; returns how many people are."""
        now, patience = time.monotonic(), self.patience.total_seconds()
        self._seen[annotator] = now
        self._seen = {who: at for who, at in self._seen.items() if now - at < patience}
        return len(self._seen.keys() | self._present(state).keys())

    def leave(self, state: State, annotator: str) -> None:
        """Note that this person leaves the open question to look at something else."""
        held = state.open.get(annotator)
        if held is not None and held.purpose == "question":
            self.left[annotator] = held.item

    def waiting_item(self, state: State, annotator: str, known: Container[str]) -> str | None:
        """An item that this person should see before a new one; `known` are those of the source."""
        return waiting_item(state, annotator, self._present(state), self.left.get(annotator), known)

    def _present(self, state: State) -> dict[str, Open]:
        """The questions of people who are present."""
        oldest = (datetime.now(UTC) - self.patience).isoformat(timespec="milliseconds")
        return {who: held for who, held in state.open.items() if held.time >= oldest}


def waiting_item(
    state: State,
    annotator: str,
    present: Mapping[str, Open],
    left: str | None,
    known: Container[str],
) -> str | None:
    """An item that this person should see before a new one.

    The question that was left to look at something else; one that somebody has abandoned; one
    that several people are to be asked about.

    Parameters
    ----------
    present : the questions of people who are present
    left : the item of the question that this person left
    known : the items that the source still holds
    """
    busy = {held.item for who, held in present.items() if who != annotator}
    settled = (state.labels, state.unsure, state.skipped, busy)
    only = state.settings["only"]
    allowed = only is None or left in only
    if left is not None and allowed and not any(left in group for group in settled):
        return left
    for who, held in state.open.items():
        if who != annotator and who not in present and held.item in known:
            return held.item
    wanted = state.settings["overlap"]
    if wanted > 1:
        asked = Counter(held.item for who, held in present.items() if who != annotator)
        for item, votes in state.votes.items():
            few = len(votes) + asked[item] < wanted
            if few and annotator not in votes and item in known:
                return item
    return None


def held_alone(state: State, annotator: str) -> str | None:
    """The item of this person's open question, unless somebody else is asked about it too."""
    held = state.open.get(annotator)
    others = {asked.item for who, asked in state.open.items() if who != annotator}
    return None if held is None or held.item in others else held.item


def unanswered(state: State, annotator: str, items: Iterable[str]) -> list[str]:
    """Those of some near-duplicates that wait for a label and are nobody else's question.

    None where several people are to answer each item.
    """
    if state.settings["overlap"] > 1:
        return []
    busy = {held.item for who, held in state.open.items() if who != annotator}
    aside = (state.labels, state.unsure, busy)
    return [item for item in items if not any(item in group for group in aside)]


def item_to_audit(
    state: State, annotator: str, nodes: Mapping[str, int], of: str = ""
) -> str | None:
    """One that this person's audit drew before and that has no answer, else a new one.

    No item is drawn twice, not even if it was skipped: that would ask about the easy ones.

    Parameters
    ----------
    nodes : item -> its node, for all items in their order
    of : the assistant whose answers a new audit judges; empty for the model's predictions
    """
    running = state.audits.get(annotator)
    for item in () if running is None else running.drawn:
        if item in nodes:
            return item
    of = of if running is None else running.of
    # The guess about an item that somebody is asked about now has been seen.
    busy = {asked.item for asked in state.open.values()}
    judged = {item for e in state.done if e.data.get("via") == "audit" for item in e.items}
    aside = state.labels.keys() | state.unsure.keys() | busy | judged
    pool = [item for item in nodes if item not in aside]
    if of:
        answers, name = state.assistants.answers, state.known.name
        mine = {item for item, each in answers.items() if each.by == of and name(each.number)}
        pool = [item for item in pool if item in mine]
    if not pool:
        return None
    rng = np.random.default_rng([state.last, len(state.labels)])
    return pool[int(rng.integers(len(pool)))]
