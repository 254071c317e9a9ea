"""Acquisitions that are solved for loosely ask what tight solves ask, whatever happened before."""

import pytest

import poise
from poise.active.acquisition import Auto
from poise.active.acquisition.entropy import Entropy
from poise.active.acquisition.least_confidence import LeastConfidence

LOOSE = (Auto, Entropy, LeastConfidence)


@pytest.fixture(scope="module")
def digits():
    """More than 1,000 nodes: loose solves are in single precision."""
    data = poise.load_dataset("digits")
    return poise.knn_graph(data.X, k=10), [int(label) for label in data.classes]


def tight(kind):
    """The same acquisition, solved for to 1e-10 in double precision."""
    return type("Tight", (kind,), {"rtol": 1e-10})()


def uneventful(graph, labels, kind, budget):
    """Questions in order, each answered at once."""
    learner, asked = poise.Learner(graph, acquisition=kind(), anticipate=False), []
    for _ in range(budget):
        asked += learner.ask().tolist()
        learner.tell(asked[-1], labels[asked[-1]])
    return asked


@pytest.mark.parametrize("kind", LOOSE)
def test_tight_cold_solves_choose_the_same_questions(digits, kind):
    """At least 99 of 100, from the second question on; the first one solves for nothing."""
    graph, labels = digits
    asked = uneventful(graph, labels, kind, 101)
    same = 0
    for m in range(1, 101):
        known = {node: labels[node] for node in asked[:m]}
        same += poise.Learner(graph, known, acquisition=tight(kind)).ask() == asked[m]
    assert same >= 99


@pytest.mark.parametrize("kind", LOOSE)
def test_questions_depend_on_the_answers_alone(digits, kind):
    """Not on what was read, taken back, copied or loaded from a file in between."""
    graph, labels = digits
    expected = uneventful(graph, labels, kind, 15)
    learner, asked = poise.Learner(graph, acquisition=kind()), []
    for step in range(15):
        asked += learner.ask().tolist()
        learner.tell(asked[-1], labels[asked[-1]])
        if step % 3 == 0:
            learner.predictions  # noqa: B018  solves, and keeps the solutions
        if step % 3 != 1:
            learner.undo()  # the question is open again
            learner.tell(asked[-1], labels[asked[-1]])
        if step % 4 == 1:
            learner = poise.Learner.from_json(graph, learner.to_json())
        if step % 4 == 2:
            learner = learner.copy()
    assert asked == expected
