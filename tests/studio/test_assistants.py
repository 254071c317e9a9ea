"""Answers of assistants: never labels, judged before they count, discarded as one group."""

import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from crowds import answer, make_project, truth
from sklearn.datasets import load_digits

import poise
from poise.active.accuracy import exact_interval
from poise.errors import InputError
from poise.studio import assisting
from poise.studio.asking.assistants import counted_answers, items_to_answer, standing
from poise.studio.asking.predictions import predict
from poise.studio.asking.progress import audited
from poise.studio.asking.setup import setup_of
from poise.studio.exchange import rows
from poise.studio.log.agreement import agreement
from poise.studio.log.events import Event
from poise.studio.log.state import fold
from poise.studio.log.store import EventStore
from poise.studio.source.catalogue import Catalogue

FIXTURES = Path(__file__).parents[1] / "fixtures"
NAME = "small-model"


@pytest.fixture
def assisted(project):
    """Two labels by a person, and an assistant that is right about every even item."""
    answer(project, "item0")
    answer(project, "item59")
    assisting.introduce(project, NAME, 10)
    for item in items_to_answer(project.state, NAME, project.catalogue.ids)[:40]:
        assisting.take(project, NAME, item, said(item))
    return project


def said(item):
    right = truth(item)
    other = {"left": "right", "right": "left"}[right]
    return right if int(item.removeprefix("item")) % 2 == 0 else other


def judge(project, n, label=truth, annotator=""):
    """A person judges n answers; returns their items."""
    judged = []
    for _ in range(n):
        item = assisting.judge(project, annotator, NAME)
        data = {"items": [item], "label": label(item), "via": "audit", "of": NAME}
        project.record(Event("label", data, annotator))
        judged.append(item)
    return judged


def test_answers_are_no_labels(assisted):
    state = assisted.state
    assert set(state.labels) == {"item0", "item59"}
    assert len(state.assistants.answers) == 40
    assert agreement(state.votes) is None
    assert audited(state) is None
    assert state.undoable("") is not None
    assert assisted.undo().items == ["item59"], "undo is for what people did"
    assert counted_answers(assisted.state, assisted.nodes) == {}


def test_a_persons_label_wins_whatever_the_order(assisted):
    item = next(i for i in assisted.state.assistants.answers if said(i) != truth(i))
    version = {item: assisted.state.version.get(item, 0)}
    written = Event("label", {"items": [item], "label": truth(item)})
    assisted.record(written, version)  # the page saw the item before the assistant answered
    assert assisted.state.labels[item].label == truth(item)
    before = next(i for i in assisted.catalogue.ids if assisting.is_open(assisted.state, i))
    answer(assisted, before)
    assert not assisting.take(assisted, NAME, before, "left")
    assert assisted.state.labels[before].by == "person"


def test_an_item_is_answered_once(assisted):
    item = next(iter(assisted.state.assistants.answers))
    assert not assisting.take(assisted, NAME, item, "left")
    assert not assisting.take(assisted, NAME, item, None)
    assisting.introduce(assisted, "other", 10)
    assert item not in items_to_answer(assisted.state, "other", assisted.catalogue.ids)
    passed = items_to_answer(assisted.state, NAME, assisted.catalogue.ids)[0]
    assert assisting.take(assisted, NAME, passed, None)
    assert passed not in items_to_answer(assisted.state, NAME, assisted.catalogue.ids)
    assert passed in items_to_answer(assisted.state, "other", assisted.catalogue.ids)
    assert assisting.take(assisted, "other", passed, "left")
    assert standing(assisted.state, NAME).answered == 40


def test_refusals_say_why(assisted):
    ids = items_to_answer(assisted.state, NAME, assisted.catalogue.ids)
    with pytest.raises(InputError, match="there is no class 'nope'"):
        assisting.take(assisted, NAME, ids[0], "nope")
    with pytest.raises(InputError, match="no assistant 'nobody'"):
        assisting.take(assisted, "nobody", ids[0], "left")
    with pytest.raises(InputError, match="no item"):
        assisting.take(assisted, NAME, "item99", "left")
    with pytest.raises(InputError, match="another meaning"):
        assisting.introduce(assisted, "model", 10)
    with pytest.raises(InputError, match="confidence"):
        assisting.take(assisted, NAME, ids[0], "left", 1.5)
    with pytest.raises(InputError, match="no assistant 'nobody'"):
        assisted.record(Event("discard", {"name": "nobody"}))
    assert assisting.take(assisted, NAME, ids[0], "new", may_name=True)
    assert "new" in assisted.state.classes


def test_people_judge_a_random_sample_and_the_interval_is_exact(assisted):
    assert standing(assisted.state, NAME).interval is None
    items = judge(assisted, 10)
    assert len(set(items)) == 10
    assert set(items) <= assisted.state.assistants.answers.keys()
    right = sum(said(item) == truth(item) for item in items)
    now = standing(assisted.state, NAME)
    assert (now.judged, now.right, now.unknown) == (10, right, 0)
    assert now.interval == exact_interval(right, 10)
    assert audited(assisted.state) is None, "that is about the predictions"
    assert not assisted.state.audits
    corrected = items[0]
    label = {"left": "right", "right": "left"}[assisted.state.labels[corrected].label]
    assisted.record(Event("label", {"items": [corrected], "label": label, "via": "review"}))
    change = 1 if said(corrected) == label else -1
    assert standing(assisted.state, NAME).right == right + change


def test_an_item_set_aside_is_unknown(assisted):
    judge(assisted, 8)
    for kind in ("skip", "unsure"):
        item = assisting.judge(assisted, "", NAME)
        assisted.record(Event(kind, {"items": [item], "via": "audit", "of": NAME}))
    now = standing(assisted.state, NAME)
    assert (now.judged, now.unknown) == (10, 2)
    low, high = exact_interval(now.right, 10)[0], exact_interval(now.right + 2, 10)[1]
    assert now.interval == (low, high)


def test_undo_shows_the_item_again_and_judges_it_again(assisted):
    item = judge(assisted, 3)[-1]
    assisted.undo()
    held = assisted.state.open[""]
    assert (held.item, held.purpose) == (item, "audit")
    assert assisted.state.audits[""].of == NAME
    assert standing(assisted.state, NAME).judged == 2


def right_everywhere(project, n_judged):
    assisting.introduce(project, NAME, 10)
    for item in items_to_answer(project.state, NAME, project.catalogue.ids):
        assisting.take(project, NAME, item, truth(item))
    return judge(project, n_judged)


def test_nothing_spreads_before_the_audit_is_done(project):
    answer(project, "item0")
    answer(project, "item59")
    right_everywhere(project, 9)
    assert counted_answers(project.state, project.nodes) == {}
    judge(project, 1)
    counted = counted_answers(project.state, project.nodes)
    assert len(counted) == 60 - len(project.state.labels)
    assert standing(project.state, NAME).weight == 11.0, "(10 + 1) to (0 + 1)"
    found = project.predictions().result()
    names = [found.classes[code] for code in found.codes]
    assert names == [truth(item) for item in project.catalogue.ids]


def test_too_few_right_answers_never_count(project):
    answer(project, "item0")
    answer(project, "item59")
    assisting.introduce(project, NAME, 10)
    for number, item in enumerate(items_to_answer(project.state, NAME, project.catalogue.ids)):
        wrong = {"left": "right", "right": "left"}[truth(item)]
        assisting.take(project, NAME, item, truth(item) if number % 2 else wrong)
    judge(project, 20)
    now = standing(project.state, NAME)
    assert now.interval[0] < 0.5
    assert not now.spreads
    assert "do not count" in now.sentence
    assert counted_answers(project.state, project.nodes) == {}


def test_renaming_and_merging_classes_keeps_answers_right(assisted):
    judge(assisted, 10)
    before = standing(assisted.state, NAME)
    assisted.record(Event("rename", {"name": "left", "to": "west"}))
    assert standing(assisted.state, NAME) == before
    assisted.record(Event("merge", {"name": "right", "into": "west"}))
    assert standing(assisted.state, NAME).right == 10, "there is one class now"
    assisted.undo()
    assert standing(assisted.state, NAME) == before


def test_all_answers_are_discarded_as_one_and_come_back(assisted):
    judge(assisted, 10)
    before, labels = standing(assisted.state, NAME), dict(assisted.state.labels)
    assisted.record(Event("discard", {"name": NAME}))
    gone = standing(assisted.state, NAME)
    assert (gone.answered, gone.judged, gone.interval) == (0, 0, None)
    assert dict(assisted.state.labels) == labels, "what people said while judging stays"
    assert len(items_to_answer(assisted.state, NAME, assisted.catalogue.ids)) == 60 - len(labels)
    assert assisted.undo().kind == "discard"
    assert standing(assisted.state, NAME) == before


def test_the_log_gives_the_same_state_again(assisted):
    judge(assisted, 10)
    assisted.record(Event("discard", {"name": NAME}))
    assisting.take(assisted, NAME, "item7", "left", 0.5)
    again = fold(assisted.store.events())
    assert dict(again.assistants.answers) == dict(assisted.state.assistants.answers)
    assert again.assistants.audits == assisted.state.assistants.audits
    assert standing(again, NAME) == standing(assisted.state, NAME)


def test_exported_files_say_who_answered(assisted):
    table = {row[0]: row for row in rows(assisted, assisted.predictions().result())}
    answered = next(iter(assisted.state.assistants.answers))
    assert table[answered][3] == "model"
    assert table[answered][-2:] == (NAME, said(answered))
    assert table["item0"][3:] == ("person", None, table["item0"][5], None, None)
    (judged,) = judge(assisted, 1)
    table = {row[0]: row for row in rows(assisted, None)}
    assert table[judged][2:4] == (truth(judged), "person")
    assert table[judged][-2:] == (NAME, said(judged))


# Formats ----------------------------------------------------------------------------------------


def version(path):
    connection = sqlite3.connect(path)
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    connection.close()
    return found


def test_a_log_of_format_2_opens_and_keeps_its_format(tmp_path):
    path = Path(shutil.copy(FIXTURES / "log-2.db", tmp_path / "events.db"))
    store = EventStore(path)
    state = fold(store.events())
    assert list(state.classes) == ["dog", "feline"]
    assert {item: given.label for item, given in state.labels.items()} == {
        "i0": "dog",
        "i1": "feline",
        "i2": "feline",
        "i3": "dog",
        "i4": "feline",
    }
    assert state.audits["ann"].left == 1
    store.append(Event("label", {"items": ["i9"], "label": "dog"}))
    assert version(path) == 2
    store.append(Event("assistant", {"name": NAME, "audit": 20}))
    store.close()
    assert version(path) == 3
    assert version(tmp_path / "events-format-2.db") == 2


def test_a_log_of_format_3_opens_with_its_answers():
    store = EventStore.copy_of(FIXTURES / "log-3.db")
    state = fold(store.events())
    store.close()
    assert state.assistants.audits == {"ask.sh": 10, "other": 20}
    stated = {
        item: (each.by, state.known.name(each.number), each.confidence)
        for item, each in state.assistants.answers.items()
    }
    assert stated == {"i1": ("ask.sh", "feline", 0.75), "i2": ("ask.sh", None, None)}
    found = standing(state, "ask.sh")
    assert (found.judged, found.right) == (1, 1)


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("assistant", {"name": NAME, "audit": 20}),
        ("assist", {"item": "i0", "by": NAME}),
        ("discard", {"name": NAME}),
        ("ask", {"item": "i0", "of": NAME}),
        ("label", {"items": ["i0"], "label": "cat", "via": "audit", "of": NAME}),
        ("skip", {"items": ["i0"], "of": NAME}),
    ],
)
def test_what_assistants_brought_needs_format_3(kind, data):
    assert Event(kind, data).format == 3


@pytest.mark.parametrize(
    "data",
    [
        {"item": "i0", "by": ""},
        {"item": "", "by": NAME},
        {"item": "i0", "by": NAME, "confidence": 2},
        {"item": "i0", "by": NAME, "label": ""},
    ],
)
def test_odd_answers_are_refused(data):
    with pytest.raises(InputError):
        Event("assist", data)


# What they are worth ----------------------------------------------------------------------------


def digits_project(folder):
    X, y = load_digits(return_X_y=True)
    ids = tuple(f"d{i}" for i in range(len(X)))
    catalogue, graph = Catalogue("digits", "vector", ids, X), poise.knn_graph(X, k=10)
    store = EventStore(folder / "events.db")
    events = [Event("class", {"name": str(digit)}) for digit in range(10)]
    rng = np.random.default_rng(0)
    labelled = rng.choice(len(X), 20, replace=False)
    events += [Event("label", {"items": [ids[i]], "label": str(y[i])}) for i in labelled]
    store.append(*events)
    return store, catalogue, graph, y


def accuracy(state, catalogue, graph, y):
    found = predict(graph, setup_of(state, catalogue.nodes), {})
    free = [node for node, item in enumerate(catalogue.ids) if item not in state.labels]
    names = np.array(found.classes)[found.codes[free]]
    return float((names == y[free].astype(str)).mean())


@pytest.mark.parametrize(("right", "spreads"), [(0.9, True), (0.3, False)])
def test_a_good_assistant_helps_and_a_bad_one_does_no_harm(tmp_path, right, spreads):
    store, catalogue, graph, y = digits_project(tmp_path)
    rng = np.random.default_rng(1)
    events = [Event("assistant", {"name": NAME, "audit": 20})]
    asked = items_to_answer(fold(store.events()), NAME, catalogue.ids)[:400]
    for item in asked:
        truly = int(y[catalogue.nodes[item]])
        given = truly if rng.random() < right else (truly + rng.integers(1, 10)) % 10
        events.append(Event("assist", {"item": item, "by": NAME, "label": str(given)}))
    for item in rng.choice(asked, 20, replace=False):
        data = {"items": [str(item)], "label": str(y[catalogue.nodes[item]]), "via": "audit"}
        events.append(Event("label", data | {"of": NAME}))
    store.append(*events)
    with_answers = fold(store.events())
    now = standing(with_answers, NAME)
    assert now.spreads is spreads
    low, high = now.interval
    assert low <= right <= high
    store.append(Event("discard", {"name": NAME}))
    alone = accuracy(fold(store.events()), catalogue, graph, y)
    assisted = accuracy(with_answers, catalogue, graph, y)
    store.close()
    if spreads:
        assert assisted > alone + 0.02
    else:
        assert assisted == alone


def test_answers_may_name_a_class_that_no_person_has_given(tmp_path):
    store, catalogue, graph, y = digits_project(tmp_path)
    events = [Event("class", {"name": "other"}), Event("assistant", {"name": NAME, "audit": 10})]
    asked = items_to_answer(fold(store.events()), NAME, catalogue.ids)[:200]
    named = {
        item: "other" if y[catalogue.nodes[item]] == 7 else str(y[catalogue.nodes[item]])
        for item in asked
    }
    events += [Event("assist", {"item": i, "by": NAME, "label": named[i]}) for i in asked]
    some = [item for item in asked if named[item] != "other"][:10]
    for item in some:
        data = {"items": [item], "label": named[item], "via": "audit", "of": NAME}
        events.append(Event("label", data))
    store.append(*events)
    state = fold(store.events())
    store.close()
    assert standing(state, NAME).spreads
    found = predict(graph, setup_of(state, catalogue.nodes), {})
    nodes = [catalogue.nodes[item] for item in asked if named[item] == "other"]
    assert (np.array(found.classes)[found.codes[nodes]] == "other").mean() > 0.5


def test_projects_without_counting_answers_predict_as_before(project):
    answer(project, "item0")
    answer(project, "item59")
    before = project.predictions().result()
    assisting.introduce(project, NAME, 10)
    for item in items_to_answer(project.state, NAME, project.catalogue.ids):
        assisting.take(project, NAME, item, truth(item))
    assert project.predictions().result() is before, "they need not be computed again"


def test_making_a_project_again_keeps_answers(tmp_path):
    project = make_project(tmp_path)
    for name in ("left", "right"):
        project.record(Event("class", {"name": name}))
    assisting.introduce(project, NAME, 10)
    assisting.take(project, NAME, "item5", "left", 0.9)
    project.close()
    again = make_project(tmp_path)
    assert again.state.assistants.answers["item5"].confidence == 0.9
    again.close()
