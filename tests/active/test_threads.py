"""One learner in several threads, and learners that travel: deep copies and pickles."""

import copy
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import poise


def at_once(n_threads, work):
    """`work(number)` in as many threads, all starting together; what they returned."""
    barrier = threading.Barrier(n_threads)

    def begin(number):
        barrier.wait()
        return work(number)

    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(begin, range(n_threads)))


@pytest.mark.parametrize("acquisition", ["auto", "norm", "vopt", "random"])
def test_nobody_is_given_what_another_one_has(blobs, acquisition):
    graph, y = blobs
    learner = poise.Learner(graph, {0: 0}, acquisition=acquisition)

    def label(_):
        asked = []
        for _ in range(4):
            (i,) = learner.ask()
            asked.append(int(i))
            learner.tell(i, int(y[i]))
        return asked

    asked = [i for some in at_once(4, label) for i in some]
    assert len(asked) == len(set(asked)) == 16
    assert learner.labels == {0: 0} | {i: int(y[i]) for i in asked}


def test_whatever_is_read_belongs_together(blobs):
    """Classes appear and vanish while others read: every reading has a shape of its own."""
    graph, _ = blobs
    learner = poise.Learner(graph, {0: "start"})
    stop = threading.Event()

    def work(number):
        if number == 0:  # somebody who cannot decide
            for i in range(1, 25):
                learner.tell(i, f"class {i}")
                if i % 2:
                    learner.undo()
            stop.set()
            return
        while not stop.is_set():
            probabilities = learner.probabilities
            np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
            assert len(learner.predictions) == len(learner.scores) == 120
            assert poise.Learner.from_json(graph, learner.to_json()).labels[0] == "start"

    at_once(3, work)
    assert len(learner.classes) == 13


def test_an_answer_does_not_wait_for_a_choice(blobs):
    """While a question is chosen, answers come in; the choice is made again with them."""
    graph, _ = blobs
    choosing, answered = threading.Event(), threading.Event()

    def slow(snapshot):
        choosing.set()
        assert answered.wait(timeout=60)
        return -np.arange(120.0)

    learner = poise.Learner(graph, {0: "a"}, acquisition=slow)

    def work(number):
        if number == 0:
            return learner.ask().tolist()
        assert choosing.wait(timeout=60)
        learner.tell(1, "b")  # what the choice under way is about to choose
        answered.set()
        return []

    assert at_once(2, work)[0] == [2]
    assert learner.labels == {0: "a", 1: "b"}


def test_a_choice_ends_although_answers_keep_coming(blobs):
    learner = None
    calls = []

    def disturbed(snapshot):
        calls.append(len(snapshot.labels))
        if len(calls) <= 2:
            worker = threading.Thread(target=learner.tell, args=(len(calls), "b"))
            worker.start()
            worker.join()
        return np.zeros(120)

    learner = poise.Learner(blobs[0], {0: "a"}, acquisition=disturbed)
    assert len(learner.ask()) == 1
    assert calls == [1, 2, 3]


def test_growing_while_others_read(blobs):
    graph = poise.knn_graph(blobs[0].features, k=7, keep_neighbours=True)
    grown = graph.extend(np.random.default_rng(0).normal(size=(30, 2)))
    learner = poise.Learner(graph, {0: "a", 50: "b"})
    sizes = []

    def work(number):
        if number == 0:
            learner.grow(grown)
            return
        for _ in range(5):
            sizes.append(len(learner.predictions))
            learner.ask()

    at_once(3, work)
    assert set(sizes) <= {120, 150}
    assert len(learner.scores) == 150


def used(blobs):
    learner = poise.Learner(blobs[0], {0: "a"}, seed=5)
    learner.tell(60, "b")
    learner.ask(2)
    learner.skip(learner.ask())
    return learner


@pytest.mark.parametrize(
    "travel",
    [copy.deepcopy, copy.copy, lambda learner: pickle.loads(pickle.dumps(learner))],
    ids=["deepcopy", "copy", "pickle"],
)
def test_a_learner_travels(blobs, travel):
    learner = used(blobs)
    twin = travel(learner)
    assert twin.to_json() == learner.to_json()
    twin.tell(twin.pending[0], "b")
    assert used(blobs).to_json() == learner.to_json()  # the first one did not notice
    learner.tell(learner.pending[0], "b")
    assert twin.ask(3).tolist() == learner.ask(3).tolist()
    assert (twin.predictions == learner.predictions).all()
    assert at_once(2, lambda _: len(twin.ask())) == [1, 1]


def test_a_graph_from_a_pickle_is_read_only(blobs):
    graph = pickle.loads(pickle.dumps(blobs[0]))
    assert graph.fingerprint == blobs[0].fingerprint
    assert not graph.weights.data.flags.writeable
    assert not graph.features.flags.writeable
    assert copy.deepcopy(graph) is graph
