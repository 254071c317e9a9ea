"""The state of a labelling project: a pure fold over its events."""

from collections import Counter
from collections.abc import Callable, Iterable, MutableMapping
from dataclasses import dataclass, field, replace
from typing import Any

from poise.errors import InputError
from poise.studio.log.answers import Audit, Labelled, Open
from poise.studio.log.assistants import Assistants
from poise.studio.log.classes import Classes
from poise.studio.log.events import EDITS, RELABELLING, UNDOABLE, Event
from poise.studio.log.settings import DEFAULTS, EARLIER, check_setting
from poise.studio.log.shared import SharedDict, SharedList

#: An event that can be undone, with the numbers of its class and of the model's guess, or None.
Action = tuple[Event, int | None, int | None]
#: Number of labelled items, share explored and share changed, at a question.
Standing = tuple[int, float, float]
#: Parts of a state with an entry for each item, and with one for each event.
BY_ITEM = frozenset({"answers", "votes", "labels", "unsure", "skipped", "version"})
BY_EVENT = frozenset({"actions", "done", "course"})


@dataclass
class State:
    """A project after some events. Only `fold` and `apply` change one, and only their own.

    Attributes
    ----------
    known : the classes, with everything that happened to them
    classes : their names in the order in which they are shown -> key, empty for none
    answers : item -> annotator -> the label by this person; the last one is the newest
    votes : the same with the present names of classes, without deleted classes
    labels : item -> its label: that of most votes, the newest of them if there are several
    unsure : item set aside -> number of the event that did it
    skipped : item set aside for a while -> number of labelled items at that moment
    open : annotator -> the question that this person was asked
    audits : annotator -> the audit that is running
    assistants : programs that answer, and their answers, which are no labels
    settings : see `settings.py`
    version : item -> number of the last event that changed it, 0 at first
    actions : what can be undone, the oldest first
    done : their events, with the present names of classes
    course : where the model stood at every question
    last : number of the last event
    """

    known: Classes = field(default_factory=Classes)
    classes: dict[str, str] = field(default_factory=dict)
    answers: MutableMapping[str, dict[str, Labelled]] = field(default_factory=dict)
    votes: MutableMapping[str, dict[str, Labelled]] = field(default_factory=dict)
    labels: MutableMapping[str, Labelled] = field(default_factory=dict)
    unsure: MutableMapping[str, int] = field(default_factory=dict)
    skipped: MutableMapping[str, int] = field(default_factory=dict)
    open: dict[str, Open] = field(default_factory=dict)
    audits: dict[str, Audit] = field(default_factory=dict)
    assistants: Assistants = field(default_factory=Assistants)
    settings: dict[str, Any] = field(
        default_factory=lambda: DEFAULTS | {"acquisition": EARLIER},
    )
    version: MutableMapping[str, int] = field(default_factory=dict)
    actions: list[Action] | SharedList[Action] = field(default_factory=list)
    done: list[Event] | SharedList[Event] = field(default_factory=list)
    course: list[Standing] | SharedList[Standing] = field(default_factory=list)
    last: int = 0

    def undoable(self, annotator: str) -> int | None:
        """The last event that this person can undo."""
        return next((e.seq for e in reversed(self.done) if e.annotator == annotator), None)

    @property
    def blind(self) -> frozenset[str]:
        """Items that somebody audits now: their predictions must not be shown anywhere."""
        return frozenset(item for audit in self.audits.values() for item in audit.drawn)

    def copy(self) -> "State":
        """The same state, which can be changed without changing this one.

        What grows with the items or the events is shared: see `shared.py`.
        """
        copies: dict[str, Any] = {}
        for name, value in vars(self).items():
            if name in BY_ITEM and isinstance(value, dict):
                copies[name] = SharedDict(value)
            elif name in BY_EVENT and isinstance(value, list):
                copies[name] = SharedList(value.copy())
            elif name != "last":
                copies[name] = value.copy()
        return replace(self, **copies)


def fold(events: Iterable[Event]) -> State:
    """The state after all events in their order; undone events do not count."""
    log = list(events)
    targets = {event.data["event"] for event in log if event.kind == "undo"}
    undone = {event.seq: event for event in log if event.seq in targets}
    state = State()
    for event in log:
        # A change of a class counts until it is undone: people used its new name in their answers.
        if event.seq in undone and event.kind not in EDITS:
            continue
        _advance(state, event)
        if event.kind == "undo" and event.data["event"] in undone:
            _undo(state, undone[event.data["event"]], event.seq)
    return state


def _undo(state: State, undone: Event, seq: int) -> None:
    if undone.kind in EDITS:
        state.actions = [action for action in state.actions if action[0].seq != undone.seq]
        state.known.undo(undone.seq)
        _name_anew(state)
        return
    # A page that shows its items as they were must be told.
    state.version.update(dict.fromkeys(undone.items, seq))
    made = state.known.made_for(undone.client)
    if made is not None and not _is_used(state, made):
        state.known.drop(made)
        _name_anew(state)


def _is_used(state: State, number: int) -> bool:
    now, answers = state.known.now, state.answers.values()
    return any(now(vote.number) == number for votes in answers for vote in votes.values())


def apply(state: State, event: Event, log: Callable[[], Iterable[Event]]) -> State:
    """The state after one more event: the same as `fold` of all events.

    `log` returns them, this one included; it is called for an undo only.
    """
    if event.kind == "undo":
        return fold(log())
    after = state.copy()
    _advance(after, event)
    return after


def check(state: State, event: Event, versions: dict[str, int] | None = None) -> None:
    """Refuse an event that does not fit the state.

    Parameters
    ----------
    versions : item -> the version that the sender saw. An item that has changed since is not
        overwritten.
    """
    match event.kind:
        case "label" | "assist" if not _has_its_class(state, event):
            raise InputError(f"there is no class {event.data['label']!r}: create it first")
        case "assist" | "discard":
            state.assistants.check(event)
        case kind if kind == "class" or kind in EDITS:
            state.known.check(event)
        case "undo" if event.data["event"] not in {done.seq for done in state.done}:
            raise InputError(f"event {event.data['event']} cannot be undone, or was undone already")
        case "setting":
            check_setting(event.data["name"], event.data["value"])
    for item, seen in (versions or {}).items():
        if state.version.get(item, 0) != seen:
            raise StaleError(f"{item} was changed elsewhere in the meantime: look at it again")


def _has_its_class(state: State, event: Event) -> bool:
    """Whether the class that an answer names exists; an assistant's answer may name none."""
    return "label" not in event.data or state.known.find(event.data["label"]) is not None


class StaleError(InputError):
    """An answer about an item that has changed since it was shown."""


def _advance(state: State, event: Event) -> None:
    data, items = event.data, event.items
    state.last = event.seq
    state.version.update(dict.fromkeys(items, event.seq))
    if event.kind in UNDOABLE:
        state.actions.append(_action(state, event))
        state.done.append(_with_present_names(state, state.actions[-1]))
        # An item that something is done with is no longer this person's open question; nor
        # anybody's, unless several people are to answer it.
        changed, several = set(items), state.settings["overlap"] > 1
        for who in [who for who, asked in state.open.items() if asked.item in changed]:
            if who == event.annotator or not several:
                del state.open[who]
        for item in items:
            state.unsure.pop(item, None)
            state.skipped.pop(item, None)
        _judge(state, event)
    match event.kind:
        case kind if kind == "class" or kind in EDITS:
            state.known.apply(event)
            if kind in RELABELLING:
                _name_anew(state)
            state.classes = {shown.name: shown.key for shown in state.known.shown()}
        case "ask":
            _ask(state, event)
        case "label":
            _label(state, event)
        case "clear" | "skip" | "unsure":
            for item in items:
                for group in (state.answers, state.votes, state.labels):
                    group.pop(item, None)
            if event.kind == "skip":
                state.skipped.update(dict.fromkeys(items, len(state.labels)))
            elif event.kind == "unsure":
                state.unsure.update(dict.fromkeys(items, event.seq))
        case "assistant" | "assist" | "discard":
            label = data.get("label")
            number = None if label is None else state.known.meant(label)
            state.assistants.apply(event, number)
        case "setting":
            state.settings[data["name"]] = data["value"]
            if data["name"] == "only" and data["value"] is not None:
                _keep_open(state, set(data["value"]))


def _judge(state: State, event: Event) -> None:
    """End the audit of the event's items, whatever is done with them."""
    changed = set(event.items)
    for who, audit in list(state.audits.items()):
        drawn = tuple(item for item in audit.drawn if item not in changed)
        answered = len(audit.drawn) - len(drawn) if who == event.annotator else 0
        state.audits[who] = replace(audit, left=audit.left - answered, drawn=drawn)
        if state.audits[who].left <= 0:
            del state.audits[who]


def _keep_open(state: State, allowed: set[str]) -> None:
    """Close the model's questions about items that may no longer be asked about."""
    for who, asked in list(state.open.items()):
        if asked.purpose == "question" and asked.item not in allowed:
            del state.open[who]


def _ask(state: State, event: Event) -> None:
    data = event.data
    if state.settings["overlap"] == 1:
        # The person who had this question before was away for too long.
        for who in [who for who, asked in state.open.items() if asked.item == data["item"]]:
            del state.open[who]
    who, purpose = event.annotator, data.get("purpose", "question")
    state.open[who] = Open(data["item"], purpose, event.time)
    if "left" in data:
        state.audits.pop(who, None)
    if purpose == "audit":
        audit = state.audits.get(who, Audit(data.get("left", 1), of=data.get("of", "")))
        drawn = dict.fromkeys((*audit.drawn, data["item"]))
        state.audits[who] = replace(audit, drawn=tuple(drawn))
    if "explored" in data:
        state.course.append((len(state.labels), data["explored"], data.get("changed", 0.0)))


def _label(state: State, event: Event) -> None:
    data = event.data
    via = data.get("via", "question")
    by, at = data.get("by", event.annotator), data.get("at", event.time)
    _, number, _ = state.actions[-1]
    assert number is not None
    vote = Labelled(state.known.name(number) or data["label"], by, at, via, number)
    if vote.label not in state.classes:  # the class had been dropped
        _name_anew(state)
    for item in event.items:
        # Answers of several people are kept side by side; a correction replaces them all.
        together = state.settings["overlap"] > 1 and via in ("question", "audit")
        earlier = state.answers.get(item, {}) if together else {}
        others = {who: other for who, other in earlier.items() if who != by}
        state.answers[item] = others | {by: vote} if others else {by: vote}
        _decide(state, item)


def _decide(state: State, item: str) -> None:
    """The votes on an item with the present names of classes, and the class with most of them."""
    votes = {}
    for who, vote in state.answers[item].items():
        name = state.known.name(vote.number)
        if name is not None:
            votes[who] = vote if name == vote.label else replace(vote, label=name)
    if not votes:
        state.votes.pop(item, None)
        state.labels.pop(item, None)
        return
    state.votes[item] = votes
    if len(votes) == 1:  # the usual case, and the quick one
        (state.labels[item],) = votes.values()
        return
    counts = Counter(vote.label for vote in votes.values())
    most = max(counts.values())
    state.labels[item] = next(v for v in reversed(votes.values()) if counts[v.label] == most)


def _name_anew(state: State) -> None:
    """Update everything that names a class, after classes changed."""
    state.classes = {shown.name: shown.key for shown in state.known.shown()}
    state.votes, state.labels = {}, {}
    for item in state.answers:
        _decide(state, item)
    state.done = [_with_present_names(state, action) for action in state.actions]


def _action(state: State, event: Event) -> Action:
    if event.kind != "label":
        return event, None, None
    number = state.known.meant(event.data["label"])
    guess = event.data.get("guess")
    return event, number, None if guess is None else state.known.find(guess)


def _with_present_names(state: State, action: Action) -> Event:
    """An action's event with the present names; without its guess if its class was deleted."""
    event, number, guess = action
    if event.kind != "label":
        return event
    label, guessed = state.known.name(number), state.known.name(guess)
    if label == event.data["label"] and guessed == event.data.get("guess"):
        return event
    changed = {} if label is None else {"label": label}
    if label is not None and guessed is not None:
        changed["guess"] = guessed
    data = {k: v for k, v in event.data.items() if k != "guess" or label is not None} | changed
    return event if data == event.data else replace(event, data=data)
