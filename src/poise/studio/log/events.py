"""Events of a labelling project: the only part of it that cannot be computed again.

Items are named by stable ids, never by position, so that adding or removing files shifts nothing.
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
    # A class gets another name; its labels go to another class; it is deleted with its labels.
    "rename": (frozenset({"name", "to"}), frozenset()),
    "merge": (frozenset({"name", "into"}), frozenset()),
    "remove": (frozenset({"name"}), frozenset()),
    # How classes look: a colour of the palette or none, the order of all, a note and example items.
    "colour": (frozenset({"name", "colour"}), frozenset()),
    "order": (frozenset({"names"}), frozenset()),
    "describe": (frozenset({"name"}), frozenset({"note", "examples"})),
    # Somebody was asked a question, which is shown again after a restart. With it, the progress at
    # that moment: how much is explored, and the share of items whose predicted class had changed.
    # `left` begins an audit of so many items; 0 ends the one that is running. `of`: the assistant
    # whose answers the audit judges, instead of the model's predictions.
    "ask": (frozenset({"item"}), frozenset({"purpose", "explored", "changed", "left", "of"})),
    # Items got a label: one item, or many at once; with the model's guess. Labels from a file bring
    # their own author and time.
    "label": (
        frozenset({"items", "label"}),
        frozenset({"via", "guess", "confidence", "by", "at", "of"}),
    ),
    # Labels were taken away.
    "clear": (frozenset({"items"}), frozenset()),
    # Set aside for a while; set aside until somebody looks at it in Review. In an audit, with the
    # model's guess.
    "skip": (frozenset({"items"}), frozenset({"via", "guess", "confidence", "of"})),
    "unsure": (frozenset({"items"}), frozenset({"via", "guess", "confidence", "of"})),
    # An earlier event no longer counts.
    "undo": (frozenset({"event"}), frozenset()),
    # How questions are chosen: see `settings.py`.
    "setting": (frozenset({"name", "value"}), frozenset()),
    # A program answers: its name, and how many of its answers people judge before they count.
    "assistant": (frozenset({"name", "audit"}), frozenset()),
    # Its answer about one item; without a class, it does not know. This is no label.
    "assist": (frozenset({"item", "by"}), frozenset({"label", "confidence"})),
    # All its answers so far no longer count.
    "discard": (frozenset({"name"}), frozenset()),
}
#: What earlier formats of the log knew: kinds -> all names that their `data` could hold. Any other
#: event makes it a log of a later format, see docs/decisions/formats.md.
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
SECOND_FORMAT = FIRST_FORMAT | {
    "class": frozenset({"name", "key", "for"}),
    "rename": frozenset({"name", "to"}),
    "merge": frozenset({"name", "into"}),
    "remove": frozenset({"name"}),
    "colour": frozenset({"name", "colour"}),
    "order": frozenset({"names"}),
    "describe": frozenset({"name", "note", "examples"}),
    "ask": frozenset({"item", "purpose", "explored", "changed", "left"}),
    "skip": frozenset({"items", "via", "guess", "confidence"}),
    "unsure": frozenset({"items", "via", "guess", "confidence"}),
}
EARLIER_FORMATS = (FIRST_FORMAT, SECOND_FORMAT)
#: Changes of classes; and those of them that change the labels of items.
EDITS = frozenset({"rename", "merge", "remove", "colour", "order", "describe"})
RELABELLING = frozenset({"rename", "merge", "remove"})
#: Events that can be undone.
UNDOABLE = frozenset({"label", "clear", "skip", "unsure", "discard"}) | EDITS
#: Where a label comes from: a person, or a file. "duplicates": the answer to a question, for the
#: item that was asked about, which comes first, and for its near-duplicates.
BY_PERSON = frozenset({"question", "audit", "duplicates", "grid", "map", "review"})
FROM_FILE = frozenset({"import", "source"})
#: Why an item is asked about: chosen by the model, at random, or to look at it again.
PURPOSES = frozenset({"question", "audit", "again"})
#: Most characters of a class's name, an annotator's name or an item's id; and of a note.
MAX_CHARACTERS, MAX_NOTE_CHARACTERS = 200, 2_000
#: Most examples of a class; colours in the palette of the page.
MAX_EXAMPLES, N_COLOURS = 12, 12
#: Names in `data` that hold a short text.
TEXTS = frozenset({"name", "label", "item", "key", "guess", "at", "for", "to", "into", "of"})
#: Invisible characters that names need: joiners in emoji and in Persian.
JOINERS = {0x200C: None, 0x200D: None}


@dataclass(frozen=True)
class Event:
    """One event.

    Attributes
    ----------
    kind : see `KINDS`
    data : what happened, in JSON's types
    annotator : who did it; empty where there is only one person
    client : an id that the sender chooses and repeats with a retry, so that nothing counts twice
    time : when, in UTC
    seq : its number in the log, from 1; 0 before it is written
    """

    kind: str
    data: dict[str, Any]
    annotator: str = ""
    client: str = field(default_factory=lambda: uuid4().hex)
    time: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="milliseconds"))
    seq: int = 0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"kind is {self.kind!r}: expected one of {', '.join(KINDS)}")
        needed, allowed = KINDS[self.kind]
        names = set(self.data)
        if not needed <= names <= needed | allowed:
            raise InputError(
                f"an event {self.kind!r} has {', '.join(sorted(names)) or 'nothing'}: expected "
                f"{', '.join(sorted(needed))}"
            )
        for name, value in (("client", self.client), ("annotator", self.annotator)):
            _text(name, value, empty=name == "annotator")
        for name in names & TEXTS:
            _text(name, self.data[name])
        if "by" in names:
            _text("by", self.data["by"], empty=self.kind == "label")
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
            _distinct("examples", "an item's id", self.data["examples"], range(MAX_EXAMPLES + 1))
        if "note" in names:
            _note(self.data["note"])
        if "colour" in names:
            colour = self.data["colour"]
            if colour is not None and not (type(colour) is int and 0 <= colour < N_COLOURS):
                raise InputError(f"colour is {colour!r}: expected 0 to {N_COLOURS - 1}, or null")
        for name in names & {"left", "audit"}:
            if not (type(self.data[name]) is int and self.data[name] >= 0):
                raise InputError(f"{name} is {self.data[name]!r}: expected a number of items")
        if "event" in names and not (type(self.data["event"]) is int and self.data["event"] > 0):
            raise InputError(f"event is {self.data['event']!r}: expected the number of an event")

    @property
    def format(self) -> int:
        """The first format of the log that has such an event."""
        knows = [set(self.data) <= known.get(self.kind, set()) for known in EARLIER_FORMATS]
        return knows.index(True) + 1 if any(knows) else len(knows) + 1

    @property
    def items(self) -> list[str]:
        """The items that it changes."""
        return list(self.data.get("items", ()))


def check_name(name: str) -> str:
    """The name of an annotator or an assistant; words for other sources of labels are refused."""
    _text("the name", name)
    if name.lower() in ("model", "person", "source"):
        raise InputError(f"{name!r} has another meaning in exported files: choose another name")
    return name


def check_client(client: object) -> str:
    """The id of a request, which its sender chooses."""
    _text("client", client)
    return str(client)


def _text(name: str, value: object, *, empty: bool = False) -> None:
    good = isinstance(value, str) and len(value) <= MAX_CHARACTERS
    good = good and (empty or str(value).translate(JOINERS).strip() != "")
    if not good or not str(value).translate(JOINERS).isprintable():
        shown = repr(value)[:60]
        limit = f"1 to {MAX_CHARACTERS} printable characters"
        raise InputError(f"{name} is {shown}: expected text of {limit}")


def _distinct(name: str, each: str, values: object, allowed: range | None = None) -> None:
    """Refuse what is no list of distinct texts; one or more unless `allowed` says how many."""
    size = len(values) if isinstance(values, list) else -1
    if size < 1 if allowed is None else size not in allowed:
        many = "one or more" if allowed is None else f"{allowed[0]} to {allowed[-1]}"
        raise InputError(f"{name} must be a list of {each.split()[-1]}s, {many}")
    for value in values:  # type: ignore[attr-defined]
        _text(each, value)
    if len(set(values)) < size:  # type: ignore[call-overload]
        raise InputError(f"{name} contains the same text twice")


def _note(value: object) -> None:
    if not isinstance(value, str) or len(value) > MAX_NOTE_CHARACTERS:
        raise InputError(f"a note must be text of at most {MAX_NOTE_CHARACTERS} characters")
    if not value.replace("\n", "").translate(JOINERS).isprintable():
        raise InputError("a note contains characters that cannot be printed: type it again")


def _share(name: str, value: object) -> None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= 1:  # type: ignore[operator]
        raise InputError(f"{name} is {value!r}: expected a number from 0 to 1")
