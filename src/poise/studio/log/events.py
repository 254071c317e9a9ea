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
    # A class is made, or gets another key. `for`: the client id of the answer that it is made for,
    # with which it goes if that answer is taken back.
    "class": (frozenset({"name"}), frozenset({"key", "for"})),
    # A class gets another name; its labels become another's; it is deleted and its labels cleared.
    "rename": (frozenset({"name", "to"}), frozenset()),
    "merge": (frozenset({"name", "into"}), frozenset()),
    "remove": (frozenset({"name"}), frozenset()),
    # How classes look: a place in the palette or none, the order of all, a note and example items.
    "colour": (frozenset({"name", "colour"}), frozenset()),
    "order": (frozenset({"names"}), frozenset()),
    "describe": (frozenset({"name"}), frozenset({"note", "examples"})),
    # A question was put to somebody: so that coming back lands on it. With it, where the model
    # stood: how much of the pool is explored, and the share of items whose class had just changed.
    # `left` begins an audit of so many items; 0 ends the one that is running.
    "ask": (frozenset({"item"}), frozenset({"purpose", "explored", "changed", "left"})),
    # Items got a class: one, or many with one key press; with what the model had guessed. What
    # comes from a file says itself by whom and when.
    "label": (frozenset({"items", "label"}), frozenset({"via", "guess", "confidence", "by", "at"})),
    # Labels were taken away.
    "clear": (frozenset({"items"}), frozenset()),
    # Set aside for a while; set aside until somebody looks at it in Review. In an audit, with what
    # the model had guessed.
    "skip": (frozenset({"items"}), frozenset({"via", "guess", "confidence"})),
    "unsure": (frozenset({"items"}), frozenset({"via", "guess", "confidence"})),
    # An earlier event does not count any more.
    "undo": (frozenset({"event"}), frozenset()),
    # How questions are chosen: see `settings.py`.
    "setting": (frozenset({"name", "value"}), frozenset()),
}
#: What the log's first format knew: kinds -> all names that their `data` could hold. Anything else
#: makes it a log of the second format, see docs/decisions/formats.md.
FIRST_FORMAT: dict[str, frozenset[str]] = {
    "class": frozenset({"name", "key"}),
    "ask": frozenset({"item", "purpose", "explored", "changed"}),
    "label": frozenset({"items", "label", "via", "guess", "confidence", "by", "at"}),
    "clear": frozenset({"items"}),
    "skip": frozenset({"items"}),
    "unsure": frozenset({"items"}),
    "undo": frozenset({"event"}),
    "setting": frozenset({"name", "value"}),
}
#: What changes classes; and which of these say something else about the items.
EDITS = frozenset({"rename", "merge", "remove", "colour", "order", "describe"})
RELABELLING = frozenset({"rename", "merge", "remove"})
#: What a person can take back.
UNDOABLE = frozenset({"label", "clear", "skip", "unsure"}) | EDITS
#: How a label came about: by a person, or from a file. "duplicates": the answer to a question, for
#: the item that was asked, the first, and for those that are almost the same.
BY_PERSON = frozenset({"question", "audit", "duplicates", "grid", "map", "review"})
FROM_FILE = frozenset({"import", "source"})
#: Why an item is asked about: chosen by the model, at random, or to look at it again.
PURPOSES = frozenset({"question", "audit", "again"})
#: Letters of a class's name, an annotator's, an item's id, at most; and of a note.
LONGEST, LONGEST_NOTE = 200, 2_000
#: Items that show a class, at most; colours in the palette of the page.
MOST_EXAMPLES, COLOURS = 12, 12
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
        for name in names & {"name", "label", "item", "key", "guess", "at", "for", "to", "into"}:
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
            _distinct("items", "an item's id", self.data["items"])
        if "names" in names:
            _distinct("names", "a class's name", self.data["names"])
        if "examples" in names:
            _distinct("examples", "an item's id", self.data["examples"], range(MOST_EXAMPLES + 1))
        if "note" in names:
            _note(self.data["note"])
        if "colour" in names:
            colour = self.data["colour"]
            if colour is not None and not (type(colour) is int and 0 <= colour < COLOURS):
                raise InputError(f"colour is {colour!r}: expected 0 to {COLOURS - 1}, or nothing")
        if "left" in names and not (type(self.data["left"]) is int and self.data["left"] >= 0):
            raise InputError(f"left is {self.data['left']!r}: expected a number of items")
        if "event" in names and not (type(self.data["event"]) is int and self.data["event"] > 0):
            raise InputError(f"event is {self.data['event']!r}: expected the number of an event")

    @property
    def format(self) -> int:
        """The first format of the log that knows such an event."""
        return 1 if set(self.data) <= FIRST_FORMAT.get(self.kind, frozenset()) else 2

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


def _distinct(name: str, each: str, values: object, allowed: range | None = None) -> None:
    """A list of texts, none of them twice; one or more unless `allowed` says how many."""
    size = len(values) if isinstance(values, list) else -1
    if size < 1 if allowed is None else size not in allowed:
        many = "one or more" if allowed is None else f"{allowed[0]} to {allowed[-1]}"
        raise InputError(f"{name} must be a list of {each.split()[-1]}s, {many}")
    for value in values:  # type: ignore[attr-defined]
        _text(each, value)
    if len(set(values)) < size:  # type: ignore[call-overload]
        raise InputError(f"{name} names one of them twice")


def _note(value: object) -> None:
    if not isinstance(value, str) or len(value) > LONGEST_NOTE:
        raise InputError(f"a note must be text of at most {LONGEST_NOTE} letters")
    if not value.replace("\n", "").translate(JOINERS).isprintable():
        raise InputError("a note holds letters that cannot be printed: type them anew")


def _share(name: str, value: object) -> None:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not 0 <= value <= 1:  # type: ignore[operator]
        raise InputError(f"{name} is {value!r}: expected a number from 0 to 1")
