"""A question leaves no reference cycle with the scores of all nodes."""

import gc

import numpy as np
import pytest

import poise
from poise.active.columns import Beliefs
from poise.studio.asking.question import ask, ask_about

#: Nodes of no other test's graph: other tests may leave threads that are still at work.
NODES = 211


@pytest.fixture
def learner():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(NODES, 3)) + 4 * np.eye(2, 3)[np.arange(NODES) % 2]
    return poise.Learner(poise.knn_graph(X, k=5), {0: "a", 1: "b"}), X.astype(np.float32)


def scores_alive():
    # Not isinstance: some objects of other libraries warn when they are asked for their class.
    found = (each for each in gc.get_objects() if type(each) is Beliefs)
    return sum(len(each.scores) == NODES for each in found)


def test_scores_are_freed_with_their_question(learner):
    learner, X = learner
    ask(learner, X)
    gc.collect()
    gc.disable()
    try:
        before = scores_alive()
        for _ in range(10):
            (question,) = ask(learner, X)
            learner.tell(question.node, "a")
            ask_about(learner.copy(), X, [150])
        assert scores_alive() <= before + 1
    finally:
        gc.enable()
