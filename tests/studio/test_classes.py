"""Classes are renamed, merged and deleted; labels follow, whatever is undone and when."""

import csv
import io
from dataclasses import replace

import pytest
from crowds import answer, asked, make_project
from hypothesis import given
from hypothesis import strategies as st
from test_state import label, made, numbered

from poise.errors import InputError
from poise.studio import exchange
from poise.studio.asking.progress import progress
from poise.studio.log.events import Event
from poise.studio.log.state import apply, check, fold

NAMES = ["cat", "dog", "bird", "fish"]
ITEMS = [f"i{n}" for n in range(5)]


def rename(name, to, who=""):
    return Event("rename", {"name": name, "to": to}, who)


def merge(name, into, who=""):
    return Event("merge", {"name": name, "into": into}, who)


def remove(name, who=""):
    return Event("remove", {"name": name}, who)


class Log:
    """Events that are checked and applied one by one, as a project does."""

    def __init__(self, *events):
        self.events, self.state = [], fold([])
        for event in events:
            self.add(event)

    def add(self, event):
        check(self.state, event)
        self.events.append(replace(event, seq=len(self.events) + 1))
        self.state = apply(self.state, self.events[-1], lambda: self.events)
        return self

    def undo(self, who=""):
        return self.add(Event("undo", {"event": self.state.undoable(who)}, who))

    @property
    def labels(self):
        return {item: given.label for item, given in self.state.labels.items()}


# What people do ---------------------------------------------------------------------------------


def test_labels_votes_guesses_and_actions_follow_a_rename():
    told = label("cat", "i0", via="audit", guess="cat")
    log = Log(*made("cat", "dog"), told, label("dog", "i1"), rename("cat", "feline"))
    assert list(log.state.classes) == ["feline", "dog"]
    assert log.labels == {"i0": "feline", "i1": "dog"}
    assert log.state.votes["i0"][""].label == "feline"
    assert [event.data.get("label") for event in log.state.done] == ["feline", "dog", None]
    assert log.state.done[0].data["guess"] == "feline"
    assert progress(log.state, None)["audit"]["right"] == 1
    log.undo()
    assert log.labels == {"i0": "cat", "i1": "dog"}
    assert list(log.state.classes) == ["cat", "dog"]


def test_a_merge_moves_labels_and_its_undo_moves_back_those_and_no_others():
    log = Log(
        *made("cat", "dog"), label("cat", "i0"), label("dog", "i1"), merge("cat", "dog", "ann")
    )
    assert log.labels == {"i0": "dog", "i1": "dog"}
    assert list(log.state.classes) == ["dog"]
    log.add(label("dog", "i2"))
    log.undo("ann")
    assert log.labels == {"i0": "cat", "i1": "dog", "i2": "dog"}


def test_a_deleted_class_takes_its_labels_with_it_and_brings_them_back():
    log = Log(
        *made("cat", "dog"), label("cat", "i0", "i1"), label("dog", "i2"), remove("cat", "ann")
    )
    assert log.labels == {"i2": "dog"}
    with pytest.raises(InputError, match="no class 'cat'"):
        check(log.state, label("cat", "i3"))
    log.add(label("dog", "i1"))  # answered again meanwhile: that stays
    log.undo("ann")
    assert log.labels == {"i0": "cat", "i1": "dog", "i2": "dog"}


def test_votes_are_counted_by_the_present_classes():
    overlap = Event("setting", {"name": "overlap", "value": 3})
    votes = [label(name, "i0", who=who) for name, who in (("cat", "a"), ("tom", "b"), ("dog", "c"))]
    log = Log(*made("cat", "tom", "dog"), overlap, *votes)
    assert log.labels == {"i0": "dog"}
    log.add(merge("tom", "cat", "ann"))
    assert log.labels == {"i0": "cat"}
    log.add(remove("cat", "ann"))
    assert log.labels == {"i0": "dog"}
    assert list(log.state.votes["i0"]) == ["c"]


def test_an_answer_by_an_earlier_name_means_the_class():
    log = Log(*made("cat", "dog"), rename("cat", "feline"), merge("dog", "feline"))
    log.add(label("cat", "i0")).add(label("dog", "i1"))
    assert log.labels == {"i0": "feline", "i1": "feline"}
    assert log.events[-1].data["label"] == "dog", "the log keeps what was sent"
    log.add(Event("class", {"name": "cat"})).add(label("cat", "i2"))
    assert log.labels == {"i0": "feline", "i1": "feline", "i2": "cat"}


def test_an_answer_by_a_name_that_was_undone_means_the_class_too():
    log = Log(*made("cat"), rename("cat", "feline", "ann"), label("feline", "i0"))
    log.undo("ann")
    assert log.labels == {"i0": "cat"}
    log.add(label("feline", "i1"))
    assert log.labels == {"i0": "cat", "i1": "cat"}


def test_two_classes_with_one_name_after_an_undo_are_merged():
    log = Log(*made("cat", "dog"), label("cat", "i0"), merge("cat", "dog", "ann"))
    log.add(Event("class", {"name": "cat"})).add(label("cat", "i1"))
    log.undo("ann")
    assert list(log.state.classes) == ["cat", "dog"]
    assert log.labels == {"i0": "cat", "i1": "cat"}


def test_a_class_made_by_a_typing_mistake_goes_with_its_answer():
    typo = Event("class", {"name": "catt", "key": "2", "for": "the answer"})
    told = replace(label("catt", "i0"), client="the answer")
    log = Log(*made("cat"), typo, told)
    assert list(log.state.classes) == ["cat", "catt"]
    log.undo()
    assert list(log.state.classes) == ["cat"]
    assert log.labels == {}
    log.add(Event("class", {"name": "dog", "key": "2"}))
    assert log.state.classes == {"cat": "", "dog": "2"}


def test_a_class_that_something_else_uses_stays():
    typo = Event("class", {"name": "new", "for": "the answer"}, "ann")
    told = replace(label("new", "i0", who="ann"), client="the answer")
    log = Log(*made("cat"), typo, told, label("new", "i1", who="bo"))
    log.undo("ann")
    assert list(log.state.classes) == ["cat", "new"]
    log.add(label("new", "i2", who="bo"))
    log.undo("bo").undo("bo")
    assert list(log.state.classes) == ["cat"]


def test_a_class_that_others_were_merged_into_stays():
    new = Event("class", {"name": "new", "for": "the answer"}, "ann")
    told = replace(label("new", "i0", who="ann"), client="the answer")
    log = Log(*made("cat"), new, told, merge("cat", "new"))
    log.undo("ann")
    assert list(log.state.classes) == ["new"]
    log = Log(*made("cat"), rename("cat", "dog"), replace(new, data=new.data | {"name": "cat"}))
    log.add(replace(label("cat", "i0", who="ann"), client="the answer")).undo().undo("ann")
    assert list(log.state.classes) == ["cat"]


def test_no_two_classes_have_the_same_colour():
    log = Log(*made(*"abcdefghijklmn"))
    colours = [one.colour for one in log.state.known.shown()]
    assert colours == [*range(12), None, None]
    log.add(Event("colour", {"name": "n", "colour": 3}))
    by_name = {one.name: one.colour for one in log.state.known.shown()}
    assert (by_name["n"], by_name["d"]) == (3, None)
    log.undo().add(remove("a")).add(Event("class", {"name": "new"}))
    assert log.state.known.shown()[-1].colour == 0


def test_codes_begin_with_a_letter_that_is_no_key():
    keyed = [Event("class", {"name": key, "key": key}) for key in "1234567890"]
    log = Log(*keyed, *made("x", "y", "z"))
    assert [one.code for one in log.state.known.shown()] == [""] * 10 + ["k1", "k2", "k3"]
    log.add(remove("y"))
    assert [one.code for one in log.state.known.shown()][10:] == ["k1", "k3"], "others keep theirs"
    log.add(Event("class", {"name": "z", "key": "k"}))
    assert [(one.key, one.code) for one in log.state.known.shown()][10:] == [("", "j1"), ("k", "")]
    many = Log(*made(*map(str, range(500))))
    codes = [one.code for one in many.state.known.shown() if one.code]
    assert len(codes) == len(set(codes)) == 108
    assert not {code[0] for code in codes} & set("1234567890nusxgdlamvec/?")


def test_order_and_description():
    log = Log(*made("a", "b", "c"), Event("order", {"names": ["c", "a"]}, "ann"))
    assert list(log.state.classes) == ["c", "a", "b"]
    assert log.state.known.in_order_of_making() == ("a", "b", "c"), "the model sees no new order"
    log.add(Event("describe", {"name": "a", "note": "all\nof it", "examples": ["i1"]}))
    log.add(Event("describe", {"name": "a", "examples": ["i2"]}))
    log.add(merge("a", "b"))
    b = next(one for one in log.state.known.shown() if one.name == "b")
    assert (b.note, b.examples) == ("all\nof it", ("i2",)), "what was said is not lost"
    log.undo("ann")
    assert list(log.state.classes) == ["b", "c"]


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (rename("cat", "dog"), "merge the two"),
        (rename("cow", "ox"), "no class 'cow'"),
        (merge("cat", "cow"), "no class 'cow'"),
        (merge("cat", "cat"), "the same class already"),
        (remove("cow"), "no class 'cow'"),
        (Event("order", {"names": ["cat", "cow"]}), "no class 'cow'"),
    ],
)
def test_impossible_changes_of_classes_are_refused(event, message):
    with pytest.raises(InputError, match=message):
        check(fold(numbered(*made("cat", "dog"))), event)


@pytest.mark.parametrize(
    ("kind", "data", "message"),
    [
        ("rename", {"name": "a", "to": " "}, "expected text"),
        ("colour", {"name": "a", "colour": 12}, "0 to 11"),
        ("colour", {"name": "a", "colour": "red"}, "0 to 11"),
        ("order", {"names": ["a", "a"]}, "twice"),
        ("order", {"names": []}, "list of names, one or more"),
        ("describe", {"name": "a", "examples": [str(n) for n in range(13)]}, "0 to 12"),
        ("describe", {"name": "a", "note": "x" * 2001}, "at most 2000"),
        ("describe", {"name": "a", "note": "\x07"}, "cannot be printed"),
    ],
)
def test_malformed_changes_of_classes_are_refused(kind, data, message):
    with pytest.raises(InputError, match=message):
        Event(kind, data)


# Anything, in any order -------------------------------------------------------------------------

names, people = st.sampled_from(NAMES), st.sampled_from(["", "ann"])
edits = st.one_of(
    st.builds(rename, names, names, people),
    st.builds(merge, names, names, people),
    st.builds(remove, names, people),
    st.builds(
        lambda n, c, w: Event("colour", {"name": n, "colour": c}, w),
        names,
        st.integers(0, 11),
        people,
    ),
    st.builds(lambda n: Event("order", {"names": n}), st.lists(names, min_size=1, unique=True)),
)
answers = st.builds(lambda n, i, w: label(n, i, who=w), names, st.sampled_from(ITEMS), people)
typed = st.builds(lambda n, i, w: ("new", n, i, w), names, st.sampled_from(ITEMS), people)
choices = st.lists(
    st.one_of(edits, answers, typed, people.map(lambda who: ("undo", who))), max_size=40
)


def told(choices):
    """The log of what fits of some choices, and the state that came of it one by one."""
    log = Log(*made("cat", "dog"))
    for choice in choices:
        events = [choice]
        if isinstance(choice, tuple) and choice[0] == "undo":
            target = log.state.undoable(choice[1])
            events = [] if target is None else [Event("undo", {"event": target}, choice[1])]
        elif isinstance(choice, tuple):
            answer = label(choice[1], choice[2], who=choice[3])
            making = {"name": choice[1], "for": answer.client}
            events = [Event("class", making, choice[3]), answer]
        for event in events:
            try:
                log.add(event)
            except InputError:
                break
    return log


@given(choices)
def test_apply_equals_fold_while_classes_change(choices):
    log = told(choices)
    assert fold(log.events) == log.state


@given(choices)
def test_every_label_is_of_an_existing_class(choices):
    state = told(choices).state
    assert {given.label for given in state.labels.values()} <= state.classes.keys()
    assert len(set(state.classes)) == len(state.known.alive)
    colours = [one.colour for one in state.known.shown() if one.colour is not None]
    assert len(colours) == len(set(colours))


@given(choices)
def test_undoing_everything_brings_back_the_first_classes(choices):
    log = told(choices)
    while log.state.done:
        log.undo(log.state.done[-1].annotator)
    assert log.labels == {}
    kept = {e.data["name"] for e in log.events if e.kind == "class"}
    assert {"cat", "dog"} <= log.state.classes.keys() <= kept


# In a project -----------------------------------------------------------------------------------


def exported(project):
    found = exchange.written(exchange.rows(project, project.predictions().result()), "csv")
    return list(csv.DictReader(io.StringIO(found.decode())))


def test_questions_predictions_and_exports_follow(project):
    for _ in range(6):
        answer(project, asked(project))
    project.record(rename("left", "west"))
    question = project.wait("", 30)
    assert question.guess in ("west", "right")
    assert {row["label"] for row in exported(project)} == {"west", "right"}
    answer(project, asked(project), label="left")  # by a page that has not heard of it
    assert "west" in {given.label for given in project.state.labels.values()}
    project.record(remove("west"))
    assert {row["label"] for row in exported(project)} == {"right"}
    assert project.wait("", 30) is not None
    project.undo()
    assert {row["label"] for row in exported(project)} == {"west", "right"}


def test_changes_and_their_undo_survive_a_restart(tmp_path):
    project = make_project(tmp_path)
    for name in ("left", "right"):
        project.record(Event("class", {"name": name}))
    for _ in range(3):
        answer(project, asked(project))
    project.record(rename("left", "west"))
    project.record(merge("west", "right"))
    state = project.state
    project.close()
    project = make_project(tmp_path)
    assert project.state.labels == state.labels
    assert project.undo().kind == "merge"
    assert project.undo().kind == "rename"
    assert list(project.state.classes) == ["left", "right"]
    assert project.undo().kind == "label"
    project.close()


def test_classes_from_the_command_line_stay_renamed_and_deleted(project):
    project.record(rename("left", "west"))
    project.record(remove("right"))
    for name in ("left", "right"):
        exchange.make_class(project, name)
    assert list(project.state.classes) == ["west"]
    found = exchange.take_in(project, [{"id": "item1", "label": "left"}])
    assert found.imported == 1
    assert project.state.labels["item1"].label == "west"


def test_examples_must_be_items(project):
    with pytest.raises(InputError, match="no item nowhere"):
        project.record(Event("describe", {"name": "left", "examples": ["nowhere"]}))
