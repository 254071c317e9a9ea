"""What happened in a labelling project, one thing at a time: the only thing that cannot be remade.

Items are named by stable ids, never by position, so that files added or removed shift nothing.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from poise.errors import InputError

#: Kinds of events -> the names that their `data` must hold, and may hold.
KINDS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    # A class is made, or gets another key.
    "class": (frozenset({"name"}), frozenset({"key"})),
    # A question was put to somebody: so that coming back lands on it. With it, where the model
    # stood: how much of the pool is explored, and the share of items whose class had just changed.
    "ask": (frozenset({"item"}), frozenset({"purpose", "explored", "changed"})),
    # Items got a class: one, or many with one key press; with what the model had guessed. What
    # comes from a file says itself by whom and when.
    "label": (frozenset({"items", "label"}), frozenset({"via", "guess", "confidence", "by", "at"})),
    # Labels were taken away.
    "clear": (frozenset({"items"}), frozenset()),
    # Set aside for a while; set aside until somebody looks at it in Review.
    "skip": (frozenset({"items"}), frozenset()),
    "unsure": (frozenset({"items"}), frozenset()),
    # An earlier event does not count any more.
    "undo": (frozenset({"event"}), frozenset()),
    # How questions are chosen: see `settings.py`.
    "setting": (frozenset({"name", "value"}), frozenset()),
}
#: What a person can take back.
UNDOABLE = frozenset({"label", "clear", "skip", "unsure"})
#: How a label came about: by a person, or from a file. "duplicates": the answer to a question, for
#: the item that was asked, the first, and for those that are almost the same.
BY_PERSON = frozenset({"question", "audit", "duplicates", "grid", "map", "review"})
FROM_FILE = frozenset({"import", "source"})
#: Why an item is asked about: chosen by the model, at random, or to look at it again.
PURPOSES = frozenset({"question", "audit", "again"})
#: Letters of a class's name, an annotator's, an item's id, at most.
LONGEST = 200
#: Letters without a shape of their own that names need: joiners in emoji and in Persian.
JOINERS = {0x200C: None, 0x200D: None}


@dataclass(frozen=True)
class Event:
    """One event.

    Attributes
    ----------
    kind : see `KINDS`
    data : what happened, of JSON's types
    annotator : who did it; empty where there is only one person
    client : chosen by whoever sends it, and sent again with a retry, so that nothing counts twice
    time : when, in UTC
    seq : its place in the log, from 1; 0 before it is written
    """

    kind: str
    data: dict[str, Any]
    annotator: str = ""
    client: str = field(default_factory=lambda: uuid4().hex)
    time: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="milliseconds"))
    seq: int = 0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"an event is {self.kind!r}: expected one of {', '.join(KINDS)}")
        needed, allowed = KINDS[self.kind]
        names = set(self.data)
        if not needed <= names <= needed | allowed:
            raise InputError(
                f"an event {self.kind!r} has {', '.join(sorted(names)) or 'nothing'}: expected "
                f"{', '.join(sorted(needed))}"
            )
        for name, value in (("client", self.client), ("annotator", self.annotator)):
            _text(name, value, empty=name == "annotator")
        for name in names & {"name", "label", "item", "key", "guess", "at"}:
            _text(name, self.data[name])
        if "by" in names:
            _text("by", self.data["by"], empty=True)
        for name in names & {"confidence", "explored", "changed"}:
            _share(name, self.data[name])
        for name, known in (("via", BY_PERSON | FROM_FILE), ("purpose", PURPOSES)):
            if name in names and self.data[name] not in known:
                shown = repr(self.data[name])[:60]
                raise InputError(f"{name} is {shown}: expected one of {', '.join(sorted(known))}")
        if "items" in names:
            items = self.data["items"]
            if not isinstance(items, list) or not items:
                raise InputError("items must be a list of ids, one or more")
            for item in items:
                _text("an item's id", item)
            if len(set(items)) < len(items):
                raise InputError("items names an item twice")
        if "event" in names and not (type(self.data["event"]) is int and self.data["event"] > 0):
            raise InputError(f"event is {self.data['event']!r}: expected the number of an event")

    @property
    def items(self) -> list[str]:
        """The items that it changes."""
        return list(self.data.get("items", ()))


def check_name(name: str) -> str:
    """The name of an annotator; some stand for something else where a label says by whom it is."""
    _text("the name", name)
    if name.lower() in ("model", "person", "source"):
        raise InputError(f"{name!r} means something else in what is exported: take another name")
    return name


def check_client(client: object) -> str:
    """The id of a request, chosen by whoever sends it."""
    _text("client", client)
    return str(client)


def _text(name: str, value: object, *, empty: bool = False) -> None:
    good = isinstance(value, str) and len(value) <= LONGEST
    good = good and (empty or str(value).translate(JOINERS).strip() != "")
    if not good or not str(value).translate(JOINERS).isprintable():
        shown = repr(value)[:60]
        raise InputError(f"{name} is {shown}: expected text of 1 to {LONGEST} printable letters")


def _share(name: str, value: object) -> None:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not 0 <= value <= 1:  # type: ignore[operator]
        raise InputError(f"{name} is {value!r}: expected a number from 0 to 1")
