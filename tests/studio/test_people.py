"""Many people at once: nobody gets another's item or waits for a solve without need."""

import threading

import pytest
from crowds import answer, asked, make_project

from poise.studio.asking import asker, demand
from poise.studio.asking.demand import Demand
from poise.studio.asking.pace import Pace
from poise.studio.log.events import Event

PEOPLE = [f"person {number}" for number in range(20)]
ITEMS = 400


def crowd(folder):
    made = make_project(folder, n=ITEMS)
    for name in ("left", "right"):
        made.record(Event("class", {"name": name}))
    return made


@pytest.fixture
def many(tmp_path):
    made = crowd(tmp_path)
    yield made
    made.close()


def side(item):
    return "left" if int(item.removeprefix("item")) < ITEMS // 2 else "right"


class Gate:
    """Lets the choosing of questions begin, and end only when it is opened: a slow solver."""

    def __init__(self, monkeypatch):
        self.calls, self._open, self._ask = 0, threading.Event(), asker.ask
        self._open.set()
        monkeypatch.setattr("poise.studio.asking.asker.ask", self)

    def __call__(self, *arguments):
        self.calls += 1
        assert self._open.wait(60)
        return self._ask(*arguments)

    def close(self):
        self._open.clear()

    def open(self):
        self._open.set()


@pytest.fixture
def gate(monkeypatch):
    made = Gate(monkeypatch)
    yield made
    made.open()


def ready(project):
    """Wait until a question for everybody is ready."""
    enough = len(PEOPLE)
    found = project.asker.wait(lambda: w if len(w := project.asker.waiting) >= enough else None, 60)
    assert len(found) >= enough
    return {project.catalogue.ids[question.node] for question in found}


def settled(project):
    """Wait until the model has heard everything and has nothing left to do."""
    asker = project.asker
    asker.do(lambda learner: None).result(60)
    assert asker.wait(lambda: True if asker.wanted_ready <= len(asker.waiting) else None, 60)


def everybody_asked(project):
    return {who: asked(project, who) for who in PEOPLE}


def test_twenty_people_at_once_never_share_an_item(many):
    answers, problems = [], []
    lock = threading.Lock()

    def work(who):
        for _ in range(5):
            item = asked(many, who)
            with many._lock:
                held = [one.item for one in many.state.open.values()]
            if len(held) != len(set(held)) or item in many.state.labels:
                problems.append(item)
            answer(many, item, who, label=side(item))
            with lock:
                answers.append(item)

    threads = [threading.Thread(target=work, args=(who,)) for who in PEOPLE]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    assert len(answers) == len(set(answers)) == 5 * len(PEOPLE)
    assert many.asker.do(lambda learner: len(learner.labels)).result(60) == 5 * len(PEOPLE)


def test_every_person_has_an_open_question(many):
    everybody_asked(many)
    assert len({held.item for held in many.state.open.values()}) == len(PEOPLE)
    assert not ready(many) & {held.item for held in many.state.open.values()}


def test_nobody_waits_for_a_solve_if_questions_are_ready(many, gate):
    for _ in range(2):  # the second time there are labels
        held = everybody_asked(many)
        ready(many)
        settled(many)
        gate.close()
        for who, item in held.items():
            answer(many, item, who, label=side(item))
            assert many.question(who) is not None, "though nothing can be solved at this moment"
        gate.open()


def test_answers_during_a_solve_are_known_to_the_next(many, gate):
    held = everybody_asked(many)
    ready(many)
    settled(many)
    gate.close()
    before = gate.calls
    for who, item in held.items():
        answer(many, item, who, label=side(item))
        many.question(who)
    gate.open()
    ready(many)
    settled(many)
    assert gate.calls - before <= 2, "the one under way, and one that knows all answers"
    assert many.asker.do(lambda learner: len(learner.labels)).result(60) == len(PEOPLE)


def test_the_undo_of_one_person_stops_nobody_else(many, gate):
    held = everybody_asked(many)
    first, *others = PEOPLE
    for who in PEOPLE:
        answer(many, held[who], who, label=side(held[who]))
    now = everybody_asked(many)
    ready(many)
    settled(many)
    gate.close()
    many.undo(first)
    assert asked(many, first) == held[first]
    for who in others:
        assert many.catalogue.ids[many.question(who).node] == now[who], "the open questions stay"
        answer(many, now[who], who, label=side(now[who]))
        assert many.question(who) is not None
    gate.open()
    settled(many)
    pending = many.asker.do(lambda learner: set(learner.pending)).result(60)
    assert {many.nodes[one.item] for one in many.state.open.values()} <= pending


def test_everybody_comes_back_to_the_same_question(tmp_path):
    project = crowd(tmp_path)
    for who, item in everybody_asked(project).items():
        answer(project, item, who, label=side(item))
    held = everybody_asked(project)
    project.close()
    again = crowd(tmp_path)
    assert everybody_asked(again) == held
    again.close()


def test_nobody_is_asked_about_an_item_that_somebody_looks_at(many):
    everybody_asked(many)
    item = sorted(ready(many))[0]
    many.look_at(item, PEOPLE[0])
    assert item not in {many.catalogue.ids[q.node] for q in many.asker.waiting}
    assert asked(many, PEOPLE[0]) == item


def test_items_labelled_while_questions_are_chosen_are_not_asked(many, gate):
    everybody_asked(many)
    ready(many)
    settled(many)
    gate.close()
    many.question("somebody else")  # takes a question: the next ones are being chosen
    held = {one.item for one in many.state.open.values()}
    rest = [item for item in many.catalogue.ids if item not in held]
    many.record(Event("label", {"items": rest, "label": "left", "via": "grid"}))
    gate.open()
    many.asker.do(lambda learner: None).result(60)
    assert not many.asker.waiting


def test_a_person_who_has_answered_is_still_present(many):
    ann, ben = asked(many, "ann"), asked(many, "ben")
    assert many.asker.demand.several
    answer(many, ann, "ann", label=side(ann))
    assert "ann" not in many.state.open
    assert asked(many, "ben") == ben
    assert many.asker.demand.people == 2


def test_a_person_left_alone_has_answers_precomputed_again(many):
    asked(many, "ann")
    held = asked(many, "ben")
    many.turns.patience *= 0
    many.turns._seen.clear()
    many.state.open.pop("ann")
    assert asked(many, "ben") == held
    assert not many.asker.demand.several
    assert many.asker.wait(lambda: many.asker.ahead(many.nodes[held]), 60)


def test_the_questions_of_two_rounds_are_kept_ready(monkeypatch):
    now, pace = 1000.0, Pace()
    monkeypatch.setattr(demand.time, "monotonic", lambda: now)
    wanted = Demand()
    wanted.people = 20

    def ready():
        return pace.ready(wanted.people, wanted.taken_per_second, wanted.round_seconds)

    assert ready() == 20, "one each, before anything is known"
    wanted.round_took(2.0)
    for _ in range(100):  # ten in a second
        wanted.taken()
    assert ready() == 40
    wanted.round_took(60.0)
    wanted.round_took(60.0)
    assert ready() == pace.max_ready_each * 20
    now += demand.RECENT_SECONDS + 1
    assert ready() == 20, "nobody took one for a while"
