"""The classes, with everything that people did to them.

A label means the class that had its name at that moment. So every class has a number of its own,
which a label keeps; what the class is called now, or what it was merged into, is looked up here.
That is why a label from between a rename and its undo is not lost.
"""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

from poise.errors import InputError
from poise.studio.log.events import EDITS, MAX_EXAMPLES, N_COLOURS, Event

#: Keys of classes, in the order in which new classes get them.
KEYS = "1234567890"
#: Other classes get codes of two keys, the first of which is one of these, unless a class has it as
#: its own key. And the second keys.
FIRST_KEYS, SECOND_KEYS = "kjh", "1234567890abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Shown:
    """A class as people see it.

    Attributes
    ----------
    key : the letter that gives it; empty for none
    code : the two letters that give a class without a key; empty if none are left
    colour : its number in the palette; None for no colour. No two classes have the same
    note : what belongs to the class, in a person's words
    examples : items that show it
    """

    name: str
    key: str = ""
    code: str = ""
    colour: int | None = None
    note: str = ""
    examples: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Entry:
    name: str
    key: str
    slot: int | None  # which automatic code is its own while it has no key
    colour: int | None
    note: str = ""
    examples: tuple[str, ...] = ()


def free_key(name: str, taken: Collection[str]) -> str:
    """The key of a new class: its name if that is a free digit, else the first free key, if any."""
    free = [key for key in KEYS if key not in taken]
    return name if name in free else next(iter(free), "")


#: What happened to classes: number of the event, what, and the numbers of the classes it names.
_Step = tuple[int, str, tuple[int, ...], dict[str, Any]]


@dataclass
class Classes:
    """All classes after some events. `apply` and the methods below it change it.

    Attributes
    ----------
    steps : what happened, with classes by number; an undo takes its steps out
    past : every name that classes ever had -> their numbers
    answers : number of a class made for an answer -> client id of that answer
    alive : number -> how the class looks, in the order in which they are shown
    gone : number -> the class that it was merged into, or None if it was deleted or never needed
    named : name -> number, of those that are alive
    """

    steps: list[_Step] = field(default_factory=list)
    past: dict[str, tuple[int, ...]] = field(default_factory=dict)
    answers: dict[int, str] = field(default_factory=dict)
    alive: dict[int, _Entry] = field(default_factory=dict)
    gone: dict[int, int | None] = field(default_factory=dict)
    named: dict[str, int] = field(default_factory=dict)

    # What is known ----------------------------------------------------------------------------

    def now(self, number: int) -> int | None:
        """The class itself, or the one that it was merged into; None if it was deleted."""
        current: int | None = number
        while current is not None and current not in self.alive:
            current = self.gone[current]
        return current

    def name(self, number: int | None) -> str | None:
        """The present name of a class; None if it was deleted."""
        current = None if number is None else self.now(number)
        return None if current is None else self.alive[current].name

    def find(self, name: str) -> int | None:
        """The class that a name means: the one that has it now, else the only one that ever had it.

        None if there is no such class, or if several had the name.
        """
        if name in self.named:
            return self.named[name]
        candidates = {self.now(number) for number in self.past.get(name, ())} - {None}
        return candidates.pop() if len(candidates) == 1 else None

    def with_key(self, event: Event, earlier: Event | None) -> Event:
        """The event, with the first free key if it makes a class and names no key.

        Parameters
        ----------
        earlier : an event with the same client id, so that a retry gets the same key
        """
        name = event.data.get("name", "")
        if event.kind != "class" or "key" in event.data:
            return event
        if earlier is not None:
            key = earlier.data.get("key", "")
        else:
            taken = [entry.key for entry in self.alive.values()]
            key = "" if name in self.named else free_key(name, taken)
        return replace(event, data=event.data | {"key": key}) if key else event

    def shown(self) -> list[Shown]:
        """The classes in their order."""
        bound = {entry.key for entry in self.alive.values()}
        first = [letter for letter in FIRST_KEYS if letter not in bound]
        codes = [letter + second for letter in first for second in SECOND_KEYS]
        return [
            Shown(
                entry.name,
                entry.key,
                codes[entry.slot]
                if not entry.key and entry.slot is not None and entry.slot < len(codes)
                else "",
                entry.colour,
                entry.note,
                entry.examples,
            )
            for entry in self.alive.values()
        ]

    def in_order_of_making(self) -> tuple[str, ...]:
        """Their names, the oldest first, whatever order they are shown in."""
        return tuple(self.alive[number].name for number in sorted(self.alive))

    def copy(self) -> "Classes":
        """The same, which can be changed without changing this one."""
        return Classes(**{name: value.copy() for name, value in vars(self).items()})

    # What happens -----------------------------------------------------------------------------

    def check(self, event: Event) -> None:
        """Refuse an event that does not fit the classes as they are."""
        data = event.data
        name = data.get("name")
        if event.kind == "class":
            self._check_key(data["name"], data.get("key"))
            return
        for each in data.get("names", [name]):
            if self.find(each) is None:
                raise InputError(f"there is no class {each!r} any more: look at the list again")
        match event.kind:
            case "rename":
                if data["to"] in self.named:
                    raise InputError(
                        f"a class {data['to']!r} exists already: merge the two, or choose "
                        "another name"
                    )
            case "merge":
                into = self.find(data["into"])
                if into is None:
                    raise InputError(f"there is no class {data['into']!r} to merge into")
                if into == self.find(data["name"]):
                    raise InputError(f"{name!r} and {data['into']!r} are the same class already")

    def apply(self, event: Event) -> None:
        """Apply an event that makes, changes or removes a class."""
        data = event.data
        if event.kind == "class":
            self._class(event)
            return
        named = [data["name"], data.get("into")] if "name" in data else data["names"]
        numbers = tuple(self.meant(name) for name in named if name is not None)
        self._do((event.seq, event.kind, numbers, data))

    def meant(self, name: str) -> int:
        """The class that an event names; a dropped one is brought back, and a missing one is made.

        The sender saw the class, and it existed at that time. An undo that comes earlier in this
        fold has dropped it.
        """
        number = self.find(name)
        if number is not None:
            return number
        dropped = [n for n in self.past.get(name, ()) if n in self.gone]
        if not dropped:
            return self._make(0, name, "")
        self._do((0, "bring back", (dropped[-1],), {"name": name}))
        return dropped[-1]

    def undo(self, seq: int) -> None:
        """Take out the steps of an event; everything after it still counts."""
        self._retrace([step for step in self.steps if step[0] != seq or step[1] not in EDITS])

    def made_for(self, client: str) -> int | None:
        """The class that was made for an answer, unless another class was merged into it."""
        number = next((n for n, answer in self.answers.items() if answer == client), None)
        is_alone = number in self.alive and number not in self.gone.values()
        return number if is_alone else None

    def drop(self, number: int) -> None:
        """Drop a class without labels."""
        self._do((0, "drop", (number,), {}))

    # How --------------------------------------------------------------------------------------

    def _class(self, event: Event) -> None:
        name, key = event.data["name"], event.data.get("key", "")
        if name in self.named:
            if key:
                self._do((event.seq, "key", (self.named[name],), {"key": key}))
            return
        number = self._make(event.seq, name, key)
        if "for" in event.data:
            self.answers[number] = event.data["for"]

    def _make(self, seq: int, name: str, key: str) -> int:
        number = len(self.alive) + len(self.gone)
        self._do((seq, "make", (number,), {"name": name, "key": key}))
        return number

    def _check_key(self, name: str, key: str | None) -> None:
        if not key:
            return
        if len(key) != 1:
            raise InputError(f"the key of {name!r} is {key!r}: expected a single letter")
        for entry in self.alive.values():
            if entry.key == key and entry.name != name:
                raise InputError(f"the key {key!r} is that of {entry.name!r}: choose another key")

    def _do(self, step: _Step) -> None:
        self.steps.append(step)
        self._step(step)

    def _retrace(self, steps: list[_Step]) -> None:
        self.steps, self.alive, self.gone, self.named = steps, {}, {}, {}
        for step in steps:
            self._step(step)

    def _step(self, step: _Step) -> None:
        _, kind, (number, *others), data = step
        # Where an undo has merged two classes, a step changes the class that is left.
        now = number if kind in ("make", "bring back") else self.now(number)
        if now is None or (kind == "drop" and now != number):
            return
        match kind:
            case "make":
                self._add(now, data["name"], data["key"])
            case "bring back":
                if number not in self.alive:
                    self.gone.pop(number, None)
                    self._add(number, data["name"], "")
            case "rename":
                self._name(now, data["to"])
            case "key":
                if all(e.key != data["key"] for e in self.alive.values()):
                    self.alive[now] = replace(self.alive[now], key=data["key"])
            case "merge":
                into = self.now(others[0])
                if into is not None and into != now:
                    self._merge(now, into)
            case "remove" | "drop":
                self._take_away(now, None)
            case "colour":
                self._colour(now, data["colour"])
            case "describe":
                entry = self.alive[now]
                examples = tuple(data.get("examples", entry.examples))
                note = data.get("note", entry.note)
                self.alive[now] = replace(entry, note=note, examples=examples)
            case "order":
                listed = dict.fromkeys(self.now(n) for n in (number, *others))
                first = [n for n in listed if n is not None]
                rest = [n for n in self.alive if n not in listed]
                self.alive = {n: self.alive[n] for n in (*first, *rest)}

    def _add(self, number: int, name: str, key: str) -> None:
        taken = {entry.key for entry in self.alive.values()}
        slots = {entry.slot for entry in self.alive.values()}
        colours = {entry.colour for entry in self.alive.values()}
        key = "" if key in taken else key
        slot = None if key else next(i for i in range(len(slots) + 1) if i not in slots)
        colour = next((i for i in range(N_COLOURS) if i not in colours), None)
        self.alive[number] = _Entry("", key, slot, colour)
        self._name(number, name)

    def _name(self, number: int, name: str) -> None:
        """Name a class; where an undo has led to two classes of that name, they become one."""
        if number not in self.past.get(name, ()):
            self.past[name] = (*self.past.get(name, ()), number)
        other = self.named.get(name, number)
        if other != number:
            self._merge(number, other)
            return
        self.named.pop(self.alive[number].name, None)
        self.named[name] = number
        self.alive[number] = replace(self.alive[number], name=name)

    def _merge(self, number: int, into: int) -> None:
        """Move the note and the examples of a class to the one that it is merged into."""
        lost, kept = self.alive[number], self.alive[into]
        examples = tuple(dict.fromkeys((*kept.examples, *lost.examples)))[:MAX_EXAMPLES]
        self.alive[into] = replace(kept, note=kept.note or lost.note, examples=examples)
        self._take_away(number, into)

    def _take_away(self, number: int, into: int | None) -> None:
        entry = self.alive.pop(number)
        if self.named.get(entry.name) == number:
            del self.named[entry.name]
        self.gone[number] = into

    def _colour(self, number: int, colour: int | None) -> None:
        """Set a colour; the class that had it gets this one's, so that no two are the same."""
        before = self.alive[number].colour
        for other, entry in self.alive.items():
            if colour is not None and entry.colour == colour and other != number:
                self.alive[other] = replace(entry, colour=before)
                break
        self.alive[number] = replace(self.alive[number], colour=colour)
