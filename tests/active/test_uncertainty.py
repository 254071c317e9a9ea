"""Uncertainty acquisitions and coverage: their formulas, few classes, unknown regions."""

from types import SimpleNamespace

import numpy as np
import pytest

import poise
from poise.active.acquisition import Coverage, Entropy, LargestMargin, LeastConfidence, Margin

SCORE_BASED = [LeastConfidence(), Entropy(), LargestMargin()]
by_name = pytest.mark.parametrize("acquisition", SCORE_BASED, ids=repr)


def shown(u):
    return SimpleNamespace(scores=np.array(u, dtype=float))


def test_formulas():
    u = shown([[0.5, 0.3, 0.2], [0.05, 0.03, 0.02], [1.0, 0.0, 0.0], [1 / 3, 1 / 3, 1 / 3]])
    half = -(0.5 * np.log(0.5) + 0.3 * np.log(0.3) + 0.2 * np.log(0.2))
    np.testing.assert_allclose(LeastConfidence()(u), [0.5, 0.5, 0.0, 2 / 3])
    np.testing.assert_allclose(Entropy()(u), [half, half, 0.0, np.log(3)], atol=1e-15)
    np.testing.assert_allclose(LargestMargin()(u), [-0.3, -0.03, -1.0, 0.0])


@by_name
def test_nothing_known_is_most_uncertain(acquisition):
    values = acquisition(shown([[0.9, 0.05, 0.05], [0.0, 0.0, 0.0], [0.4, 0.3, 0.3]]))
    assert np.argmax(values) == 1
    assert np.isfinite(values).all()


@by_name
def test_rounding_below_zero_is_nothing(acquisition):
    values = acquisition(shown([[1.0, -1e-17, 0.0], [-1e-17, -1e-18, 0.0], [0.0, 0.5, 0.5]]))
    assert np.isfinite(values).all()


@by_name
def test_tiny_scores_keep_their_proportions(acquisition):
    values = acquisition(shown([[3e-310, 1e-310], [0.3, 0.1]]))
    if not isinstance(acquisition, LargestMargin):
        np.testing.assert_allclose(values[0], values[1])
    assert np.isfinite(values).all()


@by_name
def test_one_class_asks_where_its_score_is_smallest(acquisition):
    u = shown([[0.9], [0.1], [0.4]])
    assert np.argsort(-acquisition(u)).tolist() == [1, 2, 0]
    np.testing.assert_array_equal(acquisition(u), Margin()(u))
    known_beforehand = shown([[0.9, 0.0], [0.1, 0.0], [0.4, 0.0]])
    assert np.argsort(-acquisition(known_beforehand)).tolist() == [1, 2, 0]


@by_name
def test_no_class_ties(acquisition):
    assert acquisition(shown(np.zeros((4, 0)))).tolist() == [0, 0, 0, 0]


def test_two_classes_are_all_the_margin():
    rng = np.random.default_rng(3)
    u = shown(rng.dirichlet([1, 1], 50))
    order = np.argsort(Margin()(u))
    for acquisition in SCORE_BASED:
        np.testing.assert_array_equal(np.argsort(acquisition(u)), order)


@by_name
def test_unlabelled_components_come_first(islands, acquisition):
    graph, y = islands
    one_each = {int(np.flatnonzero(y == c)[0]): c for c in (0, 1)}
    learner = poise.Learner(graph, one_each, acquisition=acquisition)
    order = []
    for _ in range(2):
        (i,) = learner.ask()
        order.append(int(y[i]))
        learner.tell(i, int(y[i]))
    assert order == [2, 3]


def test_coverage_is_the_poisson_weight_and_needs_no_scores(blobs, counted):
    graph, _ = blobs
    learner = poise.Learner(graph, {0: "a", 50: "b"}, acquisition="coverage")
    snapshot = learner.snapshot()
    values = Coverage()(snapshot)
    assert counted.solves == 1
    assert not snapshot.looked_at_scores
    gamma = learner.result.weights
    np.testing.assert_allclose(values, gamma.mean() - gamma, atol=1e-6)
    assert np.argmax(values) == np.argmin(gamma)
    assert learner.ask()[0] not in (0, 50)


def test_coverage_ignores_classes_and_tau(blobs):
    graph, _ = blobs
    asked = [
        poise.Learner(graph, {0: a, 50: b}, acquisition="coverage", tau=tau).ask(6).tolist()
        for a, b, tau in [("a", "b", 1e-3), ("a", "a", 0.0), ("b", "a", 1.0)]
    ]
    assert asked[0] == asked[1] == asked[2]


def test_coverage_asks_unlabelled_components_first(islands):
    graph, y = islands
    learner = poise.Learner(graph, {}, acquisition="coverage")
    assert [int(y[i]) for i in learner.ask(4)] == [0, 1, 2, 3]


def test_coverage_is_fair_between_components():
    """The smallest gamma of every component is the shift: alone it would favour the largest."""
    W = np.diag(np.ones(29), 1)
    W[19, 20] = 0.0  # paths of 20 and 10 nodes
    graph = poise.Graph.from_weights(W + W.T)
    learner = poise.Learner(graph, {}, acquisition="coverage")
    asked = learner.ask(9)
    assert 2 <= np.count_nonzero(asked >= 20) <= 4


def test_coverage_explores_as_norm_does(blobs):
    graph, y = blobs
    learner = poise.Learner(graph, {0: int(y[0])}, acquisition="norm", tau=1e-3)
    same = 0
    for _ in range(10):
        (i,) = learner.ask()
        other = poise.Learner(graph, {**learner.labels}, acquisition="coverage")
        same += int(other.ask()[0] == i)
        learner.tell(i, int(y[i]))
    assert same >= 9
