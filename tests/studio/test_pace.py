"""The pacing rule: when to think ahead, when to queue questions, and how many."""

import pytest

from poise.studio.asking.pace import Load, Pace

PACE = Pace()


@pytest.mark.parametrize(
    ("load", "queues"),
    [
        (Load(1_000), False),
        (Load(1_000, (0.1, 0.1, 0.1)), False),
        (Load(1_000, (0.25,)), False),
        (Load(1_000, (0.3, 0.3, 0.1)), True),
        (Load(1_000, (0.1, 0.1, 9.0)), False),  # the median: one slow solve changes nothing
        (Load(200_000), True),
        (Load(1_000, is_compiling=True), True),
    ],
)
def test_questions_are_queued_where_solves_are_slow(load, queues):
    assert PACE.queues(load) is queues


@pytest.mark.parametrize(
    ("load", "batch"),
    [
        (Load(1_000, (0.1,)), 1),
        (Load(1_000, (0.3,)), PACE.min_queued),
        (Load(1_000, (4.5,)), 5),
        (Load(1_000, (100.0,)), PACE.max_queued),
        (Load(1_000_000), 8),  # nothing is measured yet: 8 microseconds for each node
        (Load(10_000_000), PACE.max_queued),
        (Load(1_000, is_compiling=True), PACE.queued_while_compiling),
    ],
)
def test_the_queue_lasts_for_a_solve(load, batch):
    assert PACE.batch(load) == batch
    assert PACE.enough_queued(load, has_labels=True) == batch
    assert PACE.enough_queued(load, has_labels=False) == batch // 2 + 1


def test_what_follows_a_skip_is_foreseen_only_where_a_solve_is_quick():
    assert PACE.foresees_skip(Load(1_000))
    assert PACE.foresees_skip(Load(1_000, (0.9, 0.2, 0.9)))
    assert not PACE.foresees_skip(Load(1_000, (0.21, 0.3)))


def test_what_follows_an_answer_to_many_duplicates_is_not_foreseen():
    assert PACE.foresees_duplicates(PACE.max_duplicates)
    assert not PACE.foresees_duplicates(PACE.max_duplicates + 1)


@pytest.mark.parametrize(
    ("people", "per_second", "seconds", "ready"),
    [
        (2, 0.0, 0.0, PACE.min_queued),
        (20, 0.0, 0.0, 20),  # one each
        (20, 10.0, 2.0, 40),  # two rounds
        (20, 10.0, 60.0, 60),  # not more than three each
    ],
)
def test_several_people_find_the_questions_of_two_rounds(people, per_second, seconds, ready):
    assert PACE.ready(people, per_second, seconds) == ready


def test_another_pace_has_other_limits():
    patient = Pace(slow_solve_seconds=1.0, answer_seconds=10.0)
    assert not patient.queues(Load(1_000, (0.9,)))
    assert patient.batch(Load(1_000, (45.0,))) == 5
