"""The state of a project is a pure function of its events."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.errors import InputError
from poise.studio.log.events import Event
from poise.studio.log.state import StaleError, State, apply, check, fold

ITEMS = [f"i{n}" for n in range(5)]


def numbered(*events):
    return [
        Event(e.kind, e.data, e.annotator, e.client, e.time, seq) for seq, e in enumerate(events, 1)
    ]


def label(name, *items, who="", **more):
    return Event("label", {"items": list(items), "label": name} | more, who)


def made(*names):
    return [Event("class", {"name": name}) for name in names]


some_items = st.lists(st.sampled_from(ITEMS), min_size=1, max_size=3, unique=True)
people = st.sampled_from(["", "ann"])
events = st.one_of(
    st.builds(lambda i, c, w: label(c, *i, who=w), some_items, st.sampled_from("ab"), people),
    st.builds(
        lambda k, i, w: Event(k, {"items": i}, w),
        st.sampled_from(["skip", "unsure", "clear"]),
        some_items,
        people,
    ),
    st.builds(lambda i, w: Event("ask", {"item": i}, w), st.sampled_from(ITEMS), people),
    people.map(lambda who: ("undo", who)),
)


def written(choices):
    """The events of choices, undos of what each person can undo."""
    log = numbered(*made("a", "b"))
    state = fold(log)
    for choice in choices:
        if isinstance(choice, tuple):
            target = state.undoable(choice[1])
            if target is None:
                continue
            choice = Event("undo", {"event": target}, choice[1])
        event = Event(choice.kind, choice.data, choice.annotator, seq=len(log) + 1)
        check(state, event)
        log.append(event)
        state = apply(state, event, lambda: log)
    return log, state


@given(st.lists(events, max_size=30))
def test_apply_equals_fold(choices):
    log, state = written(choices)
    assert fold(log) == state
    assert state.last == len(log)


@given(st.lists(events, max_size=30))
def test_an_item_is_in_one_place_at_most(choices):
    _, state = written(choices)
    for item in ITEMS:
        assert sum(item in place for place in (state.labels, state.unsure, state.skipped)) <= 1


@given(st.lists(events, max_size=30))
def test_undoing_everything_leaves_nothing(choices):
    log, state = written(choices)
    while state.done:
        seq, who = state.done[-1].seq, state.done[-1].annotator
        event = Event("undo", {"event": seq}, who, seq=len(log) + 1)
        log.append(event)
        state = apply(state, event, lambda: log)
    assert (state.labels, state.unsure, state.skipped) == ({}, {}, {})
    assert list(state.classes) == ["a", "b"]


def test_undo_brings_back_what_was_there_before():
    log = numbered(*made("cat", "dog"), label("cat", "i0", "i1"), label("dog", "i0"))
    state = fold(log)
    assert {item: found.label for item, found in state.labels.items()} == {"i0": "dog", "i1": "cat"}
    log.append(Event("undo", {"event": 4}, seq=5))
    state = apply(state, log[-1], lambda: log)
    assert {found.label for found in state.labels.values()} == {"cat"}
    assert state.undoable("") == 3


def test_people_undo_their_own_events():
    state = fold(
        numbered(*made("cat"), label("cat", "i0", who="ann"), label("cat", "i1", who="bo"))
    )
    assert state.undoable("ann") == 2
    assert state.undoable("bo") == 3
    assert state.undoable("nobody") is None


def test_a_label_closes_the_question():
    log = numbered(*made("cat"), Event("ask", {"item": "i0"}, "ann"), label("cat", "i0", who="bo"))
    assert fold(log[:2]).open["ann"].item == "i0"
    assert fold(log).open == {}


def test_a_change_by_others_is_not_overwritten():
    log = numbered(*made("cat"), label("cat", "i0"))
    state = fold(log)
    late = label("cat", "i0")
    with pytest.raises(StaleError, match="changed elsewhere"):
        check(state, late, {"i0": 0})
    check(state, late, {"i0": 2})
    log.append(Event("undo", {"event": 2}, seq=3))
    undone = apply(state, log[-1], lambda: log)
    with pytest.raises(StaleError):
        check(undone, late, {"i0": 2})


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (label("bird", "i0"), "no class 'bird'"),
        (Event("class", {"name": "dog", "key": "c"}), "is that of 'cat'"),
        (Event("class", {"name": "dog", "key": "cd"}), "a single letter"),
        (Event("undo", {"event": 1}), "cannot be undone"),
        (Event("undo", {"event": 77}), "cannot be undone"),
    ],
)
def test_events_that_do_not_fit_are_refused(event, message):
    state = fold(numbered(Event("class", {"name": "cat", "key": "c"})))
    with pytest.raises(InputError, match=message):
        check(state, event)


@pytest.mark.parametrize(
    ("kind", "data", "message"),
    [
        ("explode", {}, "expected one of"),
        ("label", {"items": ["a"]}, "expected items, label"),
        ("label", {"items": [], "label": "x"}, "one or more"),
        ("label", {"items": "abc", "label": "x"}, "list of ids"),
        ("label", {"items": ["a", "a"], "label": "x"}, "twice"),
        ("label", {"items": ["a"], "label": ""}, "expected text"),
        ("label", {"items": ["a"], "label": "x" * 201}, "expected text"),
        ("label", {"items": ["a"], "label": "a\nb"}, "printable"),
        ("label", {"items": [3], "label": "x"}, "an item's id"),
        ("class", {"name": "x", "colour": "red"}, "expected name"),
        ("undo", {"event": True}, "number of an event"),
        ("undo", {"event": -1}, "number of an event"),
    ],
)
def test_malformed_events_are_refused(kind, data, message):
    with pytest.raises(InputError, match=message):
        Event(kind, data)


def test_an_empty_log():
    assert fold([]) == State()
