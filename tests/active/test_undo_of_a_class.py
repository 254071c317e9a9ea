"""An answer that brought a class is taken back while a question is open."""

import numpy as np
import pytest

import poise


@pytest.fixture
def learner(blobs):
    """One class again, and a question open that was asked when there were two."""
    learner = poise.Learner(blobs[0], {0: "a"})
    learner.tell(5, "b")
    learner.ask()
    learner.undo()
    return learner


def test_the_next_question_comes(learner):
    assert learner.classes == ("a",)
    assert len(learner.ask()) == 1


def test_the_next_question_comes_after_a_round_trip(blobs, learner):
    again = poise.Learner.from_json(blobs[0], learner.to_json())
    assert again.to_json() == learner.to_json()
    assert again.ask(2).tolist() == learner.ask(2).tolist()


def test_a_text_saved_with_the_longer_guess_is_read(blobs, learner):
    long = poise.Learner(blobs[0], {0: "a"})
    long.tell(5, "b")
    long.ask()
    text = long.to_json()
    start = text.index('{\n   "kind": "tell"')
    text = text[:start] + text[text.index('{\n   "kind": "ask"') :]  # as undo used to leave it
    assert poise.Learner.from_json(blobs[0], text).ask().tolist() == learner.ask().tolist()


def test_another_class_does_not_inherit_the_guess(blobs, learner):
    (question,) = learner.pending
    learner.tell(9, "c")
    guess = learner._session.state.guess(question)
    np.testing.assert_allclose(guess, [1.0, 0.0])
    assert [event.guess for event in learner.events if event.kind == "ask"] == [(1.0,)]


def test_undoing_a_release_closes_the_question(blobs):
    learner = poise.Learner(blobs[0], {0: "a"})
    learner.exclude(7)
    learner.release(7)
    learner.pend(7)
    learner.undo()
    assert learner.pending == ()
    learner.release(7)
    learner.tell(7, "b")
