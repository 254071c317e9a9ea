"""What raises an error changes nothing, and raises none but poise's own."""

from contextlib import suppress

import numpy as np
import pytest

import poise
from poise.errors import ConvergenceError, GraphError, InputError, PoiseError


def failing_after(n_calls):
    """An acquisition function that breaks down at a later call."""
    calls = []

    def acquisition(snapshot):
        calls.append(snapshot)
        if len(calls) > n_calls:
            raise np.linalg.LinAlgError("Singular matrix")
        return np.arange(snapshot.graph.n_nodes, dtype=float)

    return acquisition


def test_a_batch_that_fails_leaves_nothing_pending(blobs):
    learner = poise.Learner(blobs[0], {0: "a"}, acquisition=failing_after(2))
    before = learner.to_json()
    with pytest.raises(ConvergenceError, match=r"singular to rounding .*: the weights span"):
        learner.ask(5)
    assert learner.pending == ()
    assert learner.to_json() == before


def test_a_breakdown_of_the_memory_is_named(blobs):
    class Forgetful:
        def start(self, graph, given, seed):
            raise np.linalg.LinAlgError("Singular matrix")

        def __call__(self, snapshot):
            return snapshot.memory

    with pytest.raises(ConvergenceError, match="singular"):
        poise.Learner(blobs[0], {0: "a"}, acquisition=Forgetful()).ask()


@pytest.mark.parametrize(
    "change",
    [
        lambda a: a.pend([5, 6, 99999]),
        lambda a: a.pend([5, 6, 0]),
        lambda a: a.tell([5, 6, 0], ["b", "b", "b"]),
        lambda a: a.tell([5, 6, 7], ["b", "b", 1.5]),
        lambda a: a.relabel([0, 5], ["b", "b"]),
        lambda a: a.exclude([5, 0]),
        lambda a: a.skip([5, 0]),
        lambda a: a.release([9, 5]),
        lambda a: a.grow(poise.Graph.from_weights([[0, 1], [1, 0]])),
        lambda a: a.grow("graph"),
    ],
)
def test_changes_are_made_whole_or_not_at_all(blobs, change):
    learner = poise.Learner(blobs[0], {0: "a"})
    learner.exclude(9)
    before, graph = learner.to_json(), learner.graph
    with pytest.raises(PoiseError):
        change(learner)
    assert learner.to_json() == before
    assert learner.graph is graph
    assert len(learner.ask()) == 1


def spanning(blobs, low, high):
    """The weights of a graph replaced by powers of ten."""
    W = blobs[0].weights.tocoo()
    exponents = np.random.default_rng(1).uniform(low, high, W.nnz)
    values = np.where(W.row < W.col, 10.0**exponents, 0.0)
    upper = np.zeros(W.shape)
    upper[W.row, W.col] = values
    return upper + upper.T


@pytest.mark.parametrize("name", list(poise.acquisitions))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numbers do leave the range of floats here
def test_weights_of_all_sizes_raise_no_foreign_error(blobs, name):
    graph = poise.Graph(spanning(blobs, -300, 0), blobs[0].features)
    learner = poise.Learner(graph, {0: "a", 50: "b"}, acquisition=name)
    before = learner.to_json()
    with suppress(PoiseError):
        assert len(set(learner.ask(3).tolist())) == 3
    assert len(learner.pending) == 3 or learner.to_json() == before
    with suppress(PoiseError):
        assert len(learner.probabilities) == 120


def test_weights_too_far_apart_for_one_scale_are_refused(blobs):
    with pytest.raises(GraphError, match=r"range from .* too wide for one graph: drop"):
        poise.Graph.from_weights(spanning(blobs, -300, 300))


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e200, 1e300])
def test_the_scale_of_the_weights_changes_no_question_and_no_prediction(blobs, scale):
    graph, y = blobs
    scaled = poise.Graph.from_weights(graph.weights * scale, graph.features)
    learners = [poise.Learner(g, {0: 0}) for g in (graph, scaled)]
    for _ in range(4):
        ours, theirs = (learner.ask(2).tolist() for learner in learners)
        assert ours == theirs
        for learner in learners:
            learner.tell(ours, [int(y[i]) for i in ours])
    assert (learners[0].predictions == learners[1].predictions).all()
    probabilities = [learner.probabilities for learner in learners]
    # The smallest Poisson weight is not in units of the graph's weights.
    np.testing.assert_allclose(*probabilities, atol=1e-3)


def test_a_solve_that_fails_leaves_nothing_pending(blobs, monkeypatch):
    from poise.active import solutions

    learner = poise.Learner(blobs[0], {0: "a"}, acquisition="norm")
    learner.ask()
    before = learner.to_json()

    def broken(*arguments):
        raise ConvergenceError("no luck")

    monkeypatch.setattr(solutions, "solve_problems", broken)
    with pytest.raises(ConvergenceError):
        learner.ask(2)
    with pytest.raises(ConvergenceError):
        learner.pend([7, 8])
    assert learner.to_json() == before


def test_an_error_of_the_policy_in_a_batch_leaves_nothing_pending(blobs):
    def policy(values, snapshot, k, rng):
        return [5] if len(snapshot.pending) == 0 else "x"

    learner = poise.Learner(blobs[0], {0: "a"}, policy=policy)
    with pytest.raises(InputError, match="the policy chose 'x': expected 1 to 1 different"):
        learner.ask(3)
    assert learner.pending == ()
