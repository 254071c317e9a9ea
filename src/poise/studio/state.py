"""Where a labelling project stands: a pure fold over its events."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from poise.errors import InputError
from poise.studio.events import UNDOABLE, Event


@dataclass(frozen=True)
class Labelled:
    """The class of an item, who said so, when, and how."""

    label: str
    annotator: str
    time: str
    via: str = "question"


@dataclass(frozen=True)
class State:
    """A project after some events. Do not change its dictionaries: `apply` makes new ones.

    Attributes
    ----------
    classes : names in the order in which they were made -> key, empty for none
    labels : item -> its class
    unsure, skipped : items set aside -> number of the event that did it
    open : annotator -> the item that is asked, with its purpose
    settings : name -> value
    version : item -> number of the last event that changed it, 0 at first
    done : numbers of the events that can be taken back, with their annotators, oldest first
    last : number of the last event
    """

    classes: dict[str, str] = field(default_factory=dict)
    labels: dict[str, Labelled] = field(default_factory=dict)
    unsure: dict[str, int] = field(default_factory=dict)
    skipped: dict[str, int] = field(default_factory=dict)
    open: dict[str, tuple[str, str]] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    version: dict[str, int] = field(default_factory=dict)
    done: tuple[tuple[int, str], ...] = ()
    last: int = 0

    def undoable(self, annotator: str) -> int | None:
        """The last event that this person can take back."""
        return next((seq for seq, who in reversed(self.done) if who == annotator), None)


def fold(events: Iterable[Event]) -> State:
    """The state after events in their order; those that an undo names do not count."""
    listed = list(events)
    undone = {event.data["event"] for event in listed if event.kind == "undo"}
    items = {event.seq: event.items for event in listed if event.seq in undone}
    state = State()
    for event in listed:
        if event.seq in undone:
            continue
        state = _apply(state, event)
        if event.kind == "undo":
            # Whoever saw its items as they were must look again.
            changed = dict.fromkeys(items.get(event.data["event"], ()), event.seq)
            state = replace(state, version=state.version | changed)
    return state


def apply(state: State, event: Event, log: Callable[[], Iterable[Event]]) -> State:
    """The state after one more event; `log` gives all events, this one included.

    The same as `fold` of all events, which are read for an undo alone.
    """
    return fold(log()) if event.kind == "undo" else _apply(state, event)


def check(state: State, event: Event, versions: dict[str, int] | None = None) -> None:
    """Refuse an event that does not fit the state.

    Parameters
    ----------
    versions : item -> the version that its sender saw. An item that somebody changed since is not
        overwritten.
    """
    match event.kind:
        case "label" if event.data["label"] not in state.classes:
            raise InputError(f"there is no class {event.data['label']!r}: make it first")
        case "class" if event.data.get("key"):
            key, name = event.data["key"], event.data["name"]
            if len(key) != 1:
                raise InputError(f"the key of {name!r} is {key!r}: expected a single letter")
            other = next((n for n, k in state.classes.items() if k == key and n != name), None)
            if other is not None:
                raise InputError(f"the key {key!r} is that of {other!r}: choose another")
        case "undo" if event.data["event"] not in dict(state.done):
            raise InputError(f"event {event.data['event']} cannot be undone, or is undone already")
    for item, seen in (versions or {}).items():
        if state.version.get(item, 0) != seen:
            raise StaleError(f"{item} was changed elsewhere in the meantime: look at it again")


class StaleError(InputError):
    """An answer to what is no longer so."""


def _apply(state: State, event: Event) -> State:
    data = event.data
    items = event.items
    changes: dict[str, Any] = {"last": event.seq}
    if items:
        changes["version"] = state.version | dict.fromkeys(items, event.seq)
    if event.kind in UNDOABLE:
        changes["done"] = (*state.done, (event.seq, event.annotator))
        # Whatever is done with an item, it waits no longer, and nobody is asked about it.
        changes["open"] = {who: what for who, what in state.open.items() if what[0] not in items}
        for name in ("labels", "unsure", "skipped"):
            held = getattr(state, name)
            changes[name] = {item: value for item, value in held.items() if item not in items}
    match event.kind:
        case "class":
            key = data.get("key", state.classes.get(data["name"], ""))
            changes["classes"] = state.classes | {data["name"]: key}
        case "ask":
            asked = (data["item"], data.get("purpose", "question"))
            changes["open"] = state.open | {event.annotator: asked}
        case "label":
            found = Labelled(
                data["label"], event.annotator, event.time, data.get("via", "question")
            )
            changes["labels"] |= dict.fromkeys(items, found)
        case "skip" | "unsure":
            name = "skipped" if event.kind == "skip" else "unsure"
            changes[name] |= dict.fromkeys(items, event.seq)
        case "setting":
            changes["settings"] = state.settings | {data["name"]: data["value"]}
    return replace(state, **changes)
