"""Asking, answering, taking back: in one process, over restarts, without losing the place."""

import pytest
from crowds import make_project, truth

from poise.errors import InputError
from poise.studio.events import Event
from poise.studio.state import StaleError


def asked(project):
    question = project.question()
    return None if question is None else project.catalogue.ids[question.node]


def answer(project, item):
    return project.record(Event("label", {"items": [item], "label": truth(item)}))


def test_ten_answers_from_none_get_everything_right(project):
    for _ in range(10):
        answer(project, asked(project))
    guesses, confidences = project.predictions()
    assert guesses == [truth(item) for item in project.catalogue.ids]
    assert confidences.min() > 0.5


def test_the_same_question_until_it_is_answered(project):
    first = asked(project)
    assert asked(project) == first
    answer(project, first)
    assert asked(project) != first


def test_a_restart_lands_on_the_same_question_and_goes_on_alike(tmp_path):
    project = make_project(tmp_path)
    for name in ("left", "right"):
        project.record(Event("class", {"name": name}))
    for _ in range(4):
        answer(project, asked(project))
    open_question = asked(project)
    labels = project.state.labels
    project.close()
    again = make_project(tmp_path)
    assert again.state.labels == labels
    assert asked(again) == open_question
    again.close()


def test_the_question_says_why(project):
    assert project.question().guess is None
    for _ in range(3):
        answer(project, asked(project))
    question = project.question()
    assert question.guess in ("left", "right")
    assert 0 <= question.known_less < 0.1
    assert set(question.nearest) <= {project.index[item] for item in project.state.labels}


def test_undo_takes_back_to_the_item(project):
    first = asked(project)
    answer(project, first)
    second = asked(project)
    answer(project, second)
    undone = project.undo()
    assert undone.items == [second]
    assert list(project.state.labels) == [first]
    assert asked(project) == second
    assert project.undo().items == [first]
    assert project.undo() is None


@pytest.mark.parametrize("kind", ["skip", "unsure"])
def test_what_is_set_aside_is_not_asked(project, kind):
    item = asked(project)
    project.record(Event(kind, {"items": [item]}))
    seen = set()
    for _ in range(20):
        found = asked(project)
        seen.add(found)
        answer(project, found)
    assert item not in seen


def test_every_item_once_and_then_none(project):
    seen = []
    while (item := asked(project)) is not None:
        seen.append(item)
        answer(project, item)
    assert sorted(seen) == sorted(project.catalogue.ids)


def test_an_answer_counts_once_however_often_it_is_sent(project):
    item = asked(project)
    event = Event("label", {"items": [item], "label": "left"}, client="mine")
    first = project.record(event, {item: 0})
    assert project.record(event, {item: 0}) == first
    assert len(project.state.labels) == 1


def test_a_stale_answer_does_not_overwrite(project):
    item = asked(project)
    project.record(Event("label", {"items": [item], "label": "left"}), {item: 0})
    with pytest.raises(StaleError):
        project.record(Event("label", {"items": [item], "label": "right"}), {item: 0})
    assert project.state.labels[item].label == "left"


def test_an_item_that_is_not_there(project):
    with pytest.raises(InputError, match="no item"):
        project.record(Event("label", {"items": ["nothing"], "label": "left"}))


def test_a_changed_answer_changes_the_model(project):
    for _ in range(6):
        answer(project, asked(project))
    item = next(iter(project.state.labels))
    other = "right" if truth(item) == "left" else "left"
    project.record(Event("label", {"items": [item], "label": other, "via": "review"}))
    assert project._asker.learner.labels[project.index[item]] == other
