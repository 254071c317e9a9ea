"""A learner whose graph grows: a learner made on the grown graph is the oracle."""

import threading

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import poise
from poise.errors import GraphError, NodeIndexError, WrongGraphError

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 3, size=120)
X = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 1.7]])[Y] + 0.45 * RNG.normal(size=(120, 2))
START = 60


def small_graph() -> poise.Graph:
    return poise.knn_graph(X[:START], k=7, keep_neighbours=True)


def play(learner, questions):
    asked = []
    for _ in range(questions):
        (i,) = learner.ask()
        asked.append(int(i))
        learner.tell(i, f"class {Y[i]}")
    return asked


class Growing(RuleBasedStateMachine):
    """Every session, grown on the way, asks what a session on the grown graph would ask."""

    @initialize(
        acquisition=st.sampled_from(["auto", "norm", "vopt", "coverage", "random"]),
        policy=st.sampled_from(["max", "proportional"]),
        anticipate=st.booleans(),
    )
    def start(self, acquisition, policy, anticipate):
        self.graph = small_graph()
        self.settings = {
            "acquisition": acquisition, "policy": policy, "anticipate": anticipate, "seed": 3,
        }  # fmt: skip
        self.learner = poise.Learner(self.graph, {0: f"class {Y[0]}"}, **self.settings)

    @rule(count=st.integers(1, 25))
    @precondition(lambda self: self.graph.n_nodes < len(X))
    def grow(self, count):
        n = self.graph.n_nodes
        before = self.learner.labels, self.learner.pending, self.learner.events
        self.graph = self.graph.extend(X[n : n + count])
        self.learner.grow(self.graph)
        assert before == (self.learner.labels, self.learner.pending, self.learner.events)

    @rule()
    def ask_and_answer(self):
        play(self.learner, 1)

    @rule()
    def ask(self):
        self.learner.ask()

    @rule(data=st.data())
    @precondition(lambda self: self.learner.pending)
    def answer_or_put_aside(self, data):
        node = data.draw(st.sampled_from(self.learner.pending))
        match data.draw(st.sampled_from(["tell", "skip", "exclude", "release"])):
            case "tell":
                self.learner.tell(node, f"class {Y[node]}")
            case kind:
                getattr(self.learner, kind)(node)

    @rule(data=st.data())
    def tell_a_new_node(self, data):
        open_nodes = np.flatnonzero(self.learner.snapshot().candidates)
        node = int(data.draw(st.sampled_from(open_nodes[-5:].tolist())))
        self.learner.tell(node, f"class {Y[node]}")

    @rule()
    @precondition(lambda self: any(event.kind != "ask" for event in self.learner.events))
    def undo(self):
        self.learner.undo()

    @rule()
    def prepare(self):
        self.learner.prepare()

    @rule()
    def restart(self):
        self.learner = poise.Learner.from_json(self.graph, self.learner.to_json())

    @invariant()
    def goes_on_like_a_learner_made_on_this_graph(self):
        fresh = poise.Learner(self.graph, {0: f"class {Y[0]}"}, **self.settings)
        for event in self.learner.events:
            fresh._session._add(event)
        assert fresh._session.state == self.learner._session.state
        np.testing.assert_array_equal(fresh.scores, self.learner.scores)
        np.testing.assert_array_equal(fresh.predictions, self.learner.predictions)
        assert fresh.copy().ask().tolist() == self.learner.copy().ask().tolist()


Growing.TestCase.settings = settings(max_examples=25, stateful_step_count=12)
TestGrowing = Growing.TestCase


def test_answers_on_the_old_graph_count_like_answers_on_the_new():
    """Nothing of the old graph is left: the same answers told to a new learner, the same scores."""
    learner = poise.Learner(small_graph(), {0: f"class {Y[0]}"})
    play(learner, 6)
    learner.grow(learner.graph.extend(X[START:]))
    other = poise.Learner(poise.knn_graph(X, k=7), {0: f"class {Y[0]}"})
    for node, label in list(learner.labels.items())[1:]:
        other.pend([node])
        other.tell(node, label)
    np.testing.assert_allclose(other.scores, learner.scores, atol=1e-6)
    assert play(learner, 5) == play(other, 5)


def test_the_same_sequence_asks_the_same():
    def session():
        learner = poise.Learner(small_graph(), seed=5)
        asked = play(learner, 3)
        for start in range(START, 120, 20):
            learner.grow(learner.graph.extend(X[start : start + 20]))
            asked += play(learner, 3)
        return asked

    first = session()
    assert first == session()
    assert max(first) >= START


def test_new_nodes_are_told_asked_and_undone():
    learner = poise.Learner(small_graph(), {0: "a"})
    with pytest.raises(NodeIndexError):
        learner.tell(100, "b")
    learner.tell(5, "a")
    learner.grow(learner.graph.extend(X[START:]))
    learner.tell(100, "b")
    assert len(learner.predictions) == 120
    assert learner.undo().nodes == (100,)
    assert learner.undo().nodes == (5,)  # from before it grew
    assert learner.labels == {0: "a"}
    assert len(learner.scores) == 120


def test_a_copy_keeps_the_old_graph():
    learner = poise.Learner(small_graph(), {0: "a", 1: "b"})
    twin = learner.copy()
    twin.grow(learner.graph.extend(X[START:]))
    twin.tell(100, "c")
    assert len(learner.scores) == START
    assert len(twin.scores) == 120
    assert learner.classes == ("a", "b")


def test_growing_while_a_thread_prepares():
    quiet, busy = (poise.Learner(small_graph(), {0: "a", 1: "b"}) for _ in range(2))
    for start in range(START, 120, 10):
        thread = threading.Thread(target=busy.prepare)
        thread.start()
        busy.grow(busy.graph.extend(X[start : start + 10]))
        quiet.grow(quiet.graph.extend(X[start : start + 10]))
        thread.join()
        assert play(quiet, 1) == play(busy, 1)


def test_solutions_of_the_old_graph_are_left_out():
    learner = poise.Learner(small_graph(), {0: "a", 1: "b"})
    problems = learner._now().open_problems()
    twin = learner.copy()
    twin.prepare()
    solutions = [twin._solutions.solved[problem] for problem in problems]
    learner.grow(learner.graph.extend(X[START:]))
    learner._solutions.supply(learner.graph, problems, solutions)
    assert learner.scores.shape == (120, 2)


def test_saved_before_it_grew():
    learner = poise.Learner(small_graph(), {0: "a"})
    learner.tell(3, "b")
    text = learner.to_json()
    grown = learner.graph.extend(X[START:])
    with pytest.raises(WrongGraphError, match=r"60 nodes.*grown=True"):
        poise.Learner.from_json(grown, text)
    again = poise.Learner.from_json(grown, text, grown=True)
    learner.grow(grown)
    assert again.labels == learner.labels
    assert again.ask() == learner.ask()
    with pytest.raises(WrongGraphError, match=r"120 nodes"):
        poise.Learner.from_json(small_graph(), learner.to_json(), grown=True)


def test_graphs_that_are_refused():
    learner = poise.Learner(small_graph(), {0: "a"})
    scores = learner.scores
    for graph, error, words in (
        (X, GraphError, "ndarray"),
        (poise.knn_graph(X[:30], k=7), WrongGraphError, "30 nodes and the one so far 60"),
        (poise.knn_graph(X[::-1], k=7), WrongGraphError, "other features"),
        (poise.knn_graph(np.hstack([X, X]), k=7), WrongGraphError, "other features"),
    ):
        with pytest.raises(error, match=words) as raised:
            learner.grow(graph)
        assert "\n" not in str(raised.value)
    assert learner.graph.n_nodes == START
    np.testing.assert_array_equal(learner.scores, scores)


def test_a_graph_without_features_is_taken_at_its_word():
    learner = poise.Learner(poise.Graph.from_weights(small_graph().weights), {0: "a", 1: "b"})
    learner.grow(poise.Graph.from_weights(poise.knn_graph(X, k=7).weights))
    assert len(learner.predictions) == 120
