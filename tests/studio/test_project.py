"""Questions, answers and undo, in one process and over restarts."""

import threading
import time
from datetime import timedelta
from functools import partial

import numpy as np
import pytest
from crowds import answer, asked, make_project, truth

from poise.errors import InputError
from poise.studio.asking import foreseeing, question
from poise.studio.asking.foreseeing import NO_ANSWER
from poise.studio.asking.pace import Pace
from poise.studio.asking.question import NEW_CLASS
from poise.studio.log.events import Event
from poise.studio.log.state import StaleError
from poise.studio.log.store import EventStore
from poise.studio.web import views


def learned(project):
    """The labels that the model has, once it has heard everything."""
    return project.asker.do(lambda learner: learner.labels).result(30)


@pytest.fixture
def make(tmp_path):
    """Make a project with two classes and with options of its own; it ends with the test."""
    made = []

    def begin(**options):
        made.append(make_project(tmp_path / "own", **options))
        for name in ("left", "right"):
            made[-1].record(Event("class", {"name": name}))
        return made[-1]

    yield begin
    for each in made:
        each.close()


def test_ten_answers_suffice_for_two_clusters(project):
    for _ in range(10):
        answer(project, asked(project))
    found = project.predictions().result(30)
    assert [found.classes[c] for c in found.codes] == [truth(i) for i in project.catalogue.ids]
    assert (found.confidence > 0.5).all()


def test_the_same_question_until_it_is_answered(project):
    first = asked(project)
    assert asked(project) == first
    answer(project, first)
    assert asked(project) != first


def test_a_restart_returns_to_the_same_question(tmp_path):
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
    assert project.wait("", 30).guess is None
    for _ in range(3):
        answer(project, asked(project))
    question = project.wait("", 30)
    assert question.guess in ("left", "right")
    assert question.reason in ("decide", "explore", "confirm")
    assert 0 <= question.worth_more < 0.1
    assert set(question.nearest) <= {project.nodes[item] for item in project.state.labels}
    assert 0 < question.explored <= 1


def test_the_reason_follows_from_the_scores(project, monkeypatch):
    for _ in range(6):
        answer(project, asked(project))
    node = project.wait("", 30).node

    def reason(learner):
        twin = learner.copy()
        twin.release(node)
        return question.ask_about(twin, project.features, [node])[0].reason

    found = {}
    for name, (wavers, far) in {"decide": (2, 0), "explore": (0, 2), "confirm": (0, 0)}.items():
        monkeypatch.setattr(question, "CLOSE_DIFFERENCE", wavers)
        monkeypatch.setattr(question, "FAR_NORM", far)
        found[name] = project.asker.do(reason).result(30)
    assert all(name == said for name, said in found.items())


def test_alike_items_are_unlabelled_near_and_of_the_same_guess(project):
    for _ in range(8):
        answer(project, asked(project))
    question = project.wait("", 30)
    assert question.alike[0] == question.node
    assert 2 <= len(question.alike) <= 12
    assert len({truth(project.catalogue.ids[node]) for node in question.alike}) == 1
    assert (
        not {project.catalogue.ids[node] for node in question.alike} & project.state.labels.keys()
    )


def test_foreseen_questions_are_those_that_would_be_asked_anyway(tmp_path):
    """The same answers, with and without time to look ahead, lead to the same questions."""
    paths = []
    for patient in (True, False):
        project = make_project(tmp_path / str(patient))
        for name in ("left", "right"):
            project.record(Event("class", {"name": name}))
        path = []
        for _ in range(8):
            item = asked(project)
            path.append(item)
            if patient:
                node = project.nodes[item]
                ahead = project.asker.wait(partial(project.asker.ahead, node), 30)
                answer(project, item)
                foreseen = ahead.get(truth(item)) or ahead[NEW_CLASS]
                assert project.catalogue.ids[foreseen.node] == project.state.open[""].item
            else:
                project.asker._foreseen.clear()
                answer(project, item)
        paths.append(path)
        project.close()
    assert paths[0] == paths[1]


def test_a_foreseen_answer_takes_no_solve_and_one_write(project, monkeypatch):
    for _ in range(3):
        answer(project, asked(project))
    node = project.wait("", 30).node
    assert project.asker.wait(lambda: project.asker.foreseen(node, NO_ANSWER), 30) is not None
    written = []
    append = project.store.append
    monkeypatch.setattr(project.store, "append", lambda *e: written.append(e) or append(*e))
    answer(project, project.catalogue.ids[node])
    assert [[event.kind for event in events] for events in written] == [["label", "ask"]]
    assert project.question() is not None


def test_foreseeing_continues_where_it_was_interrupted(project, monkeypatch):
    def thought_through():
        node = project.wait("", 30).node
        return project.asker.wait(lambda: project.asker.foreseen(node, NO_ANSWER), 30)

    for _ in range(3):
        answer(project, asked(project))
    assert thought_through()
    following = []

    def interrupted(learner, features, k=1, calibration=None):
        found = question.ask(learner, features, k, calibration)
        if learner is not project.asker.learner:
            following.append(learner.labels)
            if len(following) == 2:
                project.asker.do(lambda learner: None)
        return found

    monkeypatch.setattr(foreseeing, "ask", interrupted)
    answer(project, asked(project))
    assert thought_through()
    # Two classes, a new one, none; and what was on the way when it was interrupted.
    assert len(following) == 5


@pytest.mark.parametrize("again", [False, True])
def test_all_classes_without_labels_are_foreseen_once(tmp_path, again):
    project = make_project(tmp_path)
    for name in ("up", "left", "down", "right"):
        project.record(Event("class", {"name": name}))
    if again:  # then the model knows all classes from the beginning
        project.close()
        project = make_project(tmp_path)
    for _ in range(4):
        answer(project, asked(project))
    item = asked(project)
    node = project.nodes[item]
    assert project.asker.wait(lambda: project.asker.foreseen(node, NO_ANSWER), 30)
    assert set(project.asker.ahead(node)) == {"left", "right", NEW_CLASS, NO_ANSWER}
    foreseen = project.asker.foreseen(node, NEW_CLASS)
    answer(project, item, label="down")
    assert asked(project) == project.catalogue.ids[foreseen.node]
    following = project.asker.explained(foreseen.node)
    assert NEW_CLASS not in (following.guess, *following.likely)
    down = following.classes.index("down")
    assert following.codes[node] == down, "by the number that the class has"
    project.close()


def test_likely_answers_are_foreseen_first(make):
    project = make(pace=Pace(first_classes=1))
    for _ in range(6):
        answer(project, asked(project))
    found = project.wait("", 30)
    assert set(found.likely) == {"left", "right"}
    assert found.likely[0] == found.guess
    assert project.asker._answers(found.node) == (
        found.guess,
        NEW_CLASS,
        NO_ANSWER,
        found.likely[1],
    )
    assert project.asker.wait(lambda: project.asker.foreseen(found.node, found.likely[1]), 30)


def test_undo_returns_to_the_item(project):
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
    assert learned(project) == {}


def test_an_unsure_item_is_not_asked(project):
    item = asked(project)
    project.record(Event("unsure", {"items": [item]}))
    seen = set()
    while (found := asked(project)) is not None:
        seen.add(found)
        answer(project, found)
    assert item not in seen
    assert len(seen) == 59


def test_a_skipped_item_returns_later_even_after_a_restart(tmp_path):
    project = make_project(tmp_path)
    for name in ("left", "right"):
        project.record(Event("class", {"name": name}))
    item = asked(project)
    project.record(Event("skip", {"items": [item]}))
    for place in range(20):
        if place == 10:
            project.close()
            project = make_project(tmp_path)
        found = asked(project)
        assert found != item
        answer(project, found)
    rest = []
    while (found := asked(project)) is not None:
        rest.append(found)
        answer(project, found)
    assert item in rest
    project.close()


def test_every_item_is_asked_once(project):
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


def test_unknown_items_are_refused(project):
    with pytest.raises(InputError, match="no item"):
        project.record(Event("label", {"items": ["nothing"], "label": "left"}))
    with pytest.raises(InputError, match="no item"):
        project.look_at("nothing")


def test_a_changed_answer_changes_the_model(project):
    for _ in range(6):
        answer(project, asked(project))
    item = next(iter(project.state.labels))
    other = "right" if truth(item) == "left" else "left"
    answer(project, item, label=other, via="review")
    assert learned(project)[project.nodes[item]] == other


def test_a_cleared_label_leaves_the_model(project):
    for _ in range(4):
        answer(project, asked(project))
    item = next(iter(project.state.labels))
    project.record(Event("clear", {"items": [item]}))
    assert project.nodes[item] not in learned(project)


def test_looking_back_and_returning(project):
    first = asked(project)
    answer(project, first)
    open_question = asked(project)
    project.look_at(first)
    assert asked(project) == first
    project.leave("", 30.0)
    assert asked(project) == open_question


def test_many_labels_at_once_keep_the_open_question(project):
    for _ in range(3):
        answer(project, asked(project))
    item = asked(project)
    others = [i for i in project.catalogue.ids if i not in project.state.labels and i != item][:11]
    project.record(Event("label", {"items": others, "label": "left", "via": "grid"}))
    assert asked(project) == item
    assert len(learned(project)) == 14


def test_settings_change_the_questions_and_persist(tmp_path):
    project = make_project(tmp_path)
    for name in ("left", "right"):
        project.record(Event("class", {"name": name}))
    for _ in range(4):
        answer(project, asked(project))
    allowed = [f"item{i}" for i in range(40, 50)]
    project.record(Event("setting", {"name": "only", "value": allowed}))
    project.record(Event("setting", {"name": "acquisition", "value": "random"}))
    project.record(Event("setting", {"name": "tau", "value": 0.01}))
    answer(project, asked(project))
    seen = set()
    while (found := asked(project)) is not None:
        seen.add(found)
        answer(project, found)
    assert seen <= set(allowed)
    project.close()
    again = make_project(tmp_path)
    assert repr(again.asker.learner.acquisition).lower().startswith("random")
    assert again.state.settings["only"] == allowed
    again.close()


def acquisition(project):
    """What the model asks by, and the decay after 30 answers."""
    learner = project.asker.learner
    return type(learner.acquisition).__name__, learner.tau(30)


def test_a_new_project_records_its_acquisition(tmp_path):
    project = make_project(tmp_path)
    assert acquisition(project) == ("Auto", 0.01)
    (first,) = project.store.events()
    assert first.data == {"name": "acquisition", "value": "auto"}
    project.close()
    again = make_project(tmp_path)
    assert len(again.store.events()) == 1, "once"
    again.close()


def earlier_log(folder, *events):
    """A log of a version that asked by norm and did not say so."""
    store = EventStore(folder / "crowds.poise" / "events.db")
    store.append(Event("class", {"name": "left"}), *events)
    store.close()


def test_an_old_project_with_answers_keeps_its_acquisition(tmp_path):
    asked_first = Event("ask", {"item": "item3"})
    answered = Event("label", {"items": ["item3"], "label": "left", "via": "question"})
    earlier_log(tmp_path, asked_first, answered, Event("ask", {"item": "item40"}))
    project = make_project(tmp_path)
    assert len(project.store.events()) == 4, "nothing is added"
    assert project.state.settings["acquisition"] == "norm"
    assert acquisition(project) == ("Norm", 0.0), "tau falls, and is 0 in the end"
    assert asked(project) == "item40"
    project.record(Event("setting", {"name": "acquisition", "value": "auto"}))
    project.close()
    again = make_project(tmp_path)
    assert acquisition(again) == ("Auto", 0.01)
    again.close()


def test_an_old_project_without_answers_gets_the_default(tmp_path):
    earlier_log(tmp_path)
    project = make_project(tmp_path)
    assert acquisition(project) == ("Auto", 0.01)
    project.close()


def test_a_setting_from_before_the_first_answer_stays(tmp_path):
    earlier_log(tmp_path, Event("setting", {"name": "acquisition", "value": "norm"}))
    project = make_project(tmp_path)
    assert acquisition(project) == ("Norm", 0.0)
    assert project.wait("", 30).node >= 0, "the first question needs no label"
    project.close()


def test_a_custom_decay(project):
    project.record(Event("setting", {"name": "tau", "value": 0.5}))
    assert project.asker.do(lambda learner: learner.tau(30)).result(30) == 0.5


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("acquisition", "nothing"),
        ("tau", -1),
        ("tau", "x"),
        ("tau", float("nan")),
        ("only", []),
        ("only", [1]),
        ("overlap", 0),
        ("colour", "red"),
    ],
)
def test_invalid_settings_are_refused(project, name, value):
    before = project.state.last
    with pytest.raises(InputError):
        project.record(Event("setting", {"name": name, "value": value}))
    assert project.state.last == before


# Several people -------------------------------------------------------------------------------


def test_nobody_gets_the_question_of_another(project):
    open_now = {}
    for turn in range(30):
        who = ("anna", "ben", "cleo")[turn % 3]
        item = asked(project, who)
        assert item not in {other for name, other in open_now.items() if name != who}
        open_now[who] = item
        if turn % 2:
            answer(project, item, who)
            del open_now[who]
    assert {given.annotator for given in project.state.labels.values()} == {"anna", "ben", "cleo"}


def test_an_abandoned_question_goes_to_the_next_person(tmp_path):
    project = make_project(tmp_path, patience=timedelta(seconds=1))
    project.record(Event("class", {"name": "left"}))
    item = asked(project, "anna")
    time.sleep(1.1)
    assert asked(project, "ben") == item
    assert asked(project, "anna") != item
    project.close()


def test_with_overlap_everybody_is_asked_the_same(project):
    project.record(Event("setting", {"name": "overlap", "value": 2}))
    first = asked(project, "anna")
    answer(project, first, "anna", label="left")
    assert asked(project, "ben") == first
    assert asked(project, "anna") != first
    answer(project, first, "ben", label="right")
    assert project.state.labels[first].label == "right", "even votes: the newest"
    assert set(project.state.votes[first]) == {"anna", "ben"}
    assert asked(project, "ben") != first


def test_people_undo_their_own_answers(project):
    mine = asked(project, "anna")
    answer(project, mine, "anna")
    theirs = asked(project, "ben")
    answer(project, theirs, "ben")
    assert project.undo("anna").items == [mine]
    assert list(project.state.labels) == [theirs]
    assert project.undo("anna") is None


# Audit ------------------------------------------------------------------------------------------


def test_audits_draw_unlabelled_items(project):
    for _ in range(4):
        answer(project, asked(project))
    held = asked(project)
    drawn = [project.audit(n=20)]
    for left in range(20, 0, -1):
        item = asked(project)
        assert item == drawn[-1]
        assert item not in project.state.labels
        assert project.state.open[""].purpose == "audit"
        assert project.state.audits[""].left == left
        if left % 2:
            answer(project, item, via="audit", guess=truth(item), confidence=0.9)
        else:
            project.record(Event("skip", {"items": [item], "via": "audit", "guess": "left"}))
        drawn.append(asked(project))
    assert len(set(drawn[:-1])) == 20, "none twice, also if it was skipped"
    assert drawn[-1] == held, "the model's own question comes back"
    assert not project.state.audits


def test_an_audit_survives_undo_and_leaves_out_nothing(project):
    for _ in range(4):
        answer(project, asked(project))
    first = project.audit(n=2)
    answer(project, first, via="audit", guess="left")
    second = asked(project)
    assert project.undo().items == [first]
    assert (asked(project), project.state.open[""].purpose) == (first, "audit")
    assert project.state.audits[""].left == 2
    answer(project, first, via="audit", guess="left")
    assert asked(project) == second, "what was drawn is still to be answered"
    project.record(Event("unsure", {"items": [second], "via": "audit", "guess": "left"}))
    assert not project.state.audits
    asked(project)
    project.undo()
    assert (asked(project), project.state.open[""].purpose) == (second, "audit")
    assert project.state.audits[""].left == 1


def test_an_audit_survives_a_restart_and_can_be_ended(tmp_path):
    project = make_project(tmp_path)
    for name in ("left", "right"):
        project.record(Event("class", {"name": name}))
    before = asked(project)
    answer(project, before)
    item = project.audit(n=5)
    project.close()
    project = make_project(tmp_path)
    assert (asked(project), project.state.audits[""].left) == (item, 5)
    project.look_at(before)
    project.leave("", 10)
    assert (asked(project), project.state.open[""].purpose) == (item, "audit")
    assert project.audit() == item, "it goes on, and does not begin anew"
    project.leave("", 10)
    asked(project)
    assert project.state.open[""].purpose == "question"
    assert not project.state.audits
    project.close()


def test_restricting_the_items_changes_the_open_question(project):
    for _ in range(4):
        answer(project, asked(project))
    held = asked(project)
    side = [i for i in project.catalogue.ids if i not in project.state.labels and i != held][:10]
    project.record(Event("setting", {"name": "only", "value": side}))
    assert asked(project) in side
    inside = asked(project)
    project.record(Event("setting", {"name": "only", "value": None}))
    assert asked(project) == inside, "a question that may still be asked stays"


# How fresh a guess is ---------------------------------------------------------------------------


def is_fresh(project, question):
    """Whether a question has no guess, or one that knows all answers."""
    none = question is None or question.guess is None
    return none or question.knows == project.asker.changes


def test_a_guess_knows_every_answer_that_came_before_it(project):
    """Also answers that were given elsewhere, such as on the map, while the question was open."""
    for _ in range(4):
        answer(project, asked(project))
    item = asked(project)
    before = project.wait("", 30)
    assert before.guess is not None
    wrong = "left" if before.guess == "right" else "right"
    near = [other for other in project.catalogue.ids if truth(other) == truth(item)]
    rest = [other for other in near if other not in project.state.labels and other != item]
    data = {"items": rest[:10], "label": wrong, "via": "map"}
    project.record(Event("label", data))
    assert is_fresh(project, project.question()), "rather none than an old one"
    assert is_fresh(project, project.wait("", 30))
    project.record(Event("clear", {"items": rest[:10]}))
    assert is_fresh(project, project.question())
    assert project.wait("", 30).guess == before.guess


def test_a_queued_question_is_guessed_anew_when_it_is_asked(make):
    project = make(pace=Pace(slow_solve_seconds=0.0))
    for _ in range(4):
        answer(project, asked(project))
    asked(project)
    project.asker.wait(lambda: project.asker.waiting or None, 30)
    assert all(one["guess"] is None for one in views.ahead(project, "", 0.0)["queue"])
    for _ in range(3):
        answer(project, asked(project))
        assert is_fresh(project, project.question())
        assert project.wait("", 30).knows == project.asker.changes


def test_no_probability_while_there_is_one_class(project):
    for item in project.catalogue.ids[:30:2]:
        answer(project, item, label="left")
    found = project.predictions().result(60)
    assert found.calibration is None
    assert found.of(40) == ("left", None)
    assert project.wait("", 30).confidence is None


def test_nothing_is_left_to_audit_when_all_is_labelled(project):
    for item in project.catalogue.ids:
        answer(project, item)
    with pytest.raises(InputError, match="nothing is left"):
        project.audit()


def test_the_course_is_kept_with_the_questions(project):
    for _ in range(6):
        answer(project, asked(project))
    asked(project)
    labelled, explored, changed = np.array(project.state.course).T
    assert labelled.tolist() == sorted(labelled.tolist())
    assert ((explored > 0) & (explored <= 1)).all()
    assert ((changed >= 0) & (changed <= 1)).all()


def test_undo_for_an_item_that_left_the_source(tmp_path):
    project = make_project(tmp_path)
    project.record(Event("class", {"name": "left"}))
    answer(project, "item59", label="left")
    project.close()
    smaller = make_project(tmp_path, n=50)
    assert smaller.undo().items == ["item59"]
    assert not smaller.state.labels
    assert asked(smaller) is not None
    smaller.close()


def test_where_solves_are_slow_questions_are_queued(make):
    project = make(pace=Pace(slow_solve_seconds=0.0))
    seen = []
    for _ in range(6):
        seen.append(asked(project))
        answer(project, seen[-1])
    asked(project)
    ahead = project.asker.wait(lambda: w if len(w := project.asker.waiting) > 1 else None, 30)
    following = [project.catalogue.ids[question.node] for question in ahead]
    assert not set(following) & {*seen, asked(project)}
    for item in following[:2]:
        answer(project, asked(project))
        question = project.question()
        assert question is not None, "nobody waits"
        assert project.catalogue.ids[question.node] == item, "in the order in which they were told"


def test_of_very_many_items_the_first_questions_are_chosen_together(make):
    project = make(pace=Pace(many_nodes=60))
    first = asked(project)
    following = [question.node for question in project.asker.waiting]
    assert len(following) == project.asker.pace.min_queued - 1
    for node in following:
        answer(project, asked(project))
        assert asked(project) == project.catalogue.ids[node]
    answer(project, asked(project))
    assert asked(project) not in {first, *(project.catalogue.ids[node] for node in following)}


def test_nobody_waits_while_the_solver_is_compiled(make):
    compiling = threading.Event()
    compiling.set()
    project = make(is_compiling=compiling.is_set)
    asked(project)
    queued = project.asker.pace.queued_while_compiling
    assert len(project.asker.waiting) == queued - 1
    compiling.clear()
    seen = set()
    for _ in range(queued):
        seen.add(asked(project))
        answer(project, asked(project), label="left")
    # From then on every answer is thought through.
    node = project.nodes[asked(project)]
    assert project.asker.wait(lambda: project.asker.ahead(node), 30)
    assert asked(project) not in seen


def test_the_slower_the_solves_the_more_questions_are_queued(make):
    pace = Pace(slow_solve_seconds=0.0, answer_seconds=1e-9)
    project = make(pace=pace)
    for _ in range(4):
        answer(project, asked(project))
    asked(project)
    many = pace.min_queued + 1
    ahead = project.asker.wait(lambda: w if len(w := project.asker.waiting) >= many else None, 30)
    assert ahead is not None
    assert many <= len(ahead) <= 2 * pace.max_queued
    assert len({question.node for question in ahead}) == len(ahead)


def test_what_follows_an_answer_for_near_duplicates_is_foreseen(project, monkeypatch):
    for _ in range(3):
        answer(project, asked(project))
    item = asked(project)
    twin = next(i for i in project.catalogue.ids if i != item and i not in project.state.labels)
    monkeypatch.setattr(project, "duplicates", lambda one, who="": [twin] if one == item else [])
    project.asker.release([])  # what was foreseen before there was a near-duplicate is forgotten
    node, other = project.nodes[item], project.nodes[twin]
    label = truth(item)
    found = project.asker.wait(lambda: project.asker.foreseen(node, label, [other]), 30.0)
    assert found is not None
    assert project.asker.foreseen(node, label) is None, "another answer than was foreseen"
    project.record(Event("label", {"items": [item, twin], "label": label, "via": "duplicates"}))
    assert project.state.open[""].item == project.catalogue.ids[found.node], "put at once"
    assert found.node not in (node, other)
    learner = project.asker.do(lambda learner: learner.copy()).result(30)
    assert {node, other} <= set(learner.labels)
    assert learner.pending == (found.node,)
