"""Soft labels: limits, invariances, and the penalty itself by dense linear algebra."""

import dense
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.errors import InputError
from poise.graph import Graph, knn_graph
from poise.models import Labels, pwll, soft_pwll
from poise.models.label_walk import CHUNK_COLUMNS, held_out_targets, label_walk, soft_targets
from poise.models.poisson_weights import poisson_weights
from strategies import connected_weights, labelled_graphs, laplacian, seeds, weights_in_pieces

anything = st.one_of(labelled_graphs(connected_weights()), labelled_graphs(weights_in_pieces()))


def two_clouds(n_each: int = 60, seed: int = 0) -> tuple[Graph, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], n_each)
    X = rng.normal(size=(2 * n_each, 3)) + 2.5 * y[:, None]
    return knn_graph(X, k=8), y


def every_fifth(y: np.ndarray, wrong: tuple[int, ...] = ()) -> Labels:
    answers = {node: int(y[node]) for node in range(0, len(y), 5)}
    answers |= {node: 1 - answers[node] for node in wrong}
    return Labels.of(answers, len(y), classes=[0, 1])


@given(labelled_graphs(connected_weights()), seeds)
def test_it_minimises_the_penalised_energy(case, seed) -> None:  # type: ignore[no-untyped-def]
    """The whole system at once: ``(L_gamma + diag(lambda)) u = lambda Y``, lambda = w c."""
    graph, labels = case
    W = graph.weights.toarray()
    weights = 10 ** np.random.default_rng(seed).uniform(-1, 1, len(labels))
    gamma = dense.poisson_weights(W, labels.nodes, 0.1)
    L = laplacian(gamma[:, None] * W * gamma)
    if len(labels) == 1:
        return
    free = np.setdiff1d(np.arange(len(W)), labels.nodes)
    S = L[np.ix_(labels.nodes, labels.nodes)]
    if len(free):  # the labels' own energy when the other nodes have settled
        across = L[np.ix_(free, labels.nodes)]
        S = S - across.T @ np.linalg.solve(L[np.ix_(free, free)], across)
    penalty = np.zeros(len(W))
    penalty[labels.nodes] = weights * np.diag(S)
    target = np.zeros((len(W), len(labels.classes)))
    target[labels.nodes] = labels.one_hot
    expected = np.linalg.solve(L + np.diag(penalty), penalty[:, None] * target)
    scores = soft_pwll(graph, labels, weights=weights, shift=0.1).scores
    np.testing.assert_allclose(scores, expected, atol=1e-3)


@given(anything)
def test_infinite_weights_give_pwll(case) -> None:  # type: ignore[no-untyped-def]
    graph, labels = case
    hard = pwll(graph, labels)
    soft = soft_pwll(graph, labels, weights=np.inf)
    np.testing.assert_allclose(soft.scores, hard.scores, atol=1e-5)
    np.testing.assert_array_equal(soft.reached, hard.reached)


def test_large_weights_come_close_to_pwll() -> None:
    graph, y = two_clouds()
    labels = every_fifth(y, wrong=(10,))
    hard = pwll(graph, labels).scores
    away = [
        np.abs(soft_pwll(graph, labels, weights=w).scores - hard).max() for w in (1.0, 1e2, 1e4)
    ]
    assert away[0] > 0.1
    assert away[2] < 1e-3 < away[1] < away[0]


@pytest.mark.parametrize("scale", [1e-3, 40.0])
def test_the_scale_of_the_graphs_weights_does_not_matter(scale: float) -> None:
    graph, y = two_clouds()
    labels = every_fifth(y, wrong=(10,))
    scaled = Graph.from_weights(scale * graph.weights)
    for options in ({}, {"weights": 2.0}):
        ours = soft_pwll(graph, labels, relative=True, **options).scores
        theirs = soft_pwll(scaled, labels, relative=True, **options).scores
        np.testing.assert_allclose(theirs, ours, atol=1e-4)


@given(anything, st.floats(0.01, 100))
def test_scores_are_shares(case, weight) -> None:  # type: ignore[no-untyped-def]
    graph, labels = case
    result = soft_pwll(graph, labels, weights=weight)
    assert result.scores.min() >= 0
    np.testing.assert_allclose(result.scores[result.reached].sum(axis=1), 1, atol=1e-4)
    assert np.all(result.scores[~result.reached] == 0)


def test_one_wrong_label_is_overruled_and_the_right_ones_are_not() -> None:
    graph, y = two_clouds()
    labels = every_fifth(y, wrong=(10,))
    hard, soft = pwll(graph, labels), soft_pwll(graph, labels)
    assert hard.codes[10] == 1
    assert soft.codes[10] == y[10] == 0
    assert (soft.codes == y).mean() > (hard.codes == y).mean()
    right = every_fifth(y)
    np.testing.assert_array_equal(soft_pwll(graph, right).codes, pwll(graph, right).codes)


def test_a_weight_for_each_label() -> None:
    graph, y = two_clouds()
    labels = every_fifth(y, wrong=(10,))
    weights = np.full(len(labels), np.inf)
    weights[labels.nodes == 10] = 0.01
    result = soft_pwll(graph, labels, weights=weights)
    assert result.codes[10] == 0
    others = labels.nodes[labels.nodes != 10]
    np.testing.assert_array_equal(result.codes[others], y[others])


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, [1.0, 2.0]])
def test_weights_that_are_none_are_named(bad: object) -> None:
    graph, y = two_clouds()
    with pytest.raises(InputError, match="one positive number, or one for each label"):
        soft_pwll(graph, every_fifth(y), weights=bad)  # type: ignore[arg-type]


def test_the_walk_is_the_same_in_chunks() -> None:
    graph, _ = two_clouds(n_each=100)
    nodes = np.arange(0, 200, 2)
    assert len(nodes) > CHUNK_COLUMNS
    (gamma,) = poisson_weights(graph, [nodes]).T
    walk = label_walk(graph, nodes, gamma, rtol=1e-10)
    W = graph.weights.toarray()
    V = gamma[:, None] * W * gamma
    L = np.diag(V.sum(axis=1)) - V
    free = np.setdiff1d(np.arange(200), nodes)
    S = L[np.ix_(nodes, nodes)] - L[np.ix_(nodes, free)] @ np.linalg.solve(
        L[np.ix_(free, free)], L[np.ix_(free, nodes)]
    )
    expected = -S / np.diag(S)[:, None]
    np.fill_diagonal(expected, 0.0)
    np.testing.assert_allclose(walk, expected, atol=1e-6)


@pytest.mark.parametrize("weight", [0.3, 5.0, np.inf])
def test_held_out_targets_are_those_of_a_label_without_weight(weight: float) -> None:
    rng = np.random.default_rng(0)
    walk = rng.random((12, 12))
    np.fill_diagonal(walk, 0.0)
    walk /= walk.sum(axis=1, keepdims=True)
    targets = np.eye(3)[rng.integers(0, 3, 12)]
    weights = np.full(12, weight)
    held_out = held_out_targets(walk, targets, weights)
    for i in range(12):
        without = weights.copy()
        without[i] = 1e-12
        np.testing.assert_allclose(held_out[i], soft_targets(walk, targets, without)[i], atol=1e-6)


def test_a_label_that_reaches_no_other_keeps_its_class() -> None:
    walk = np.zeros((3, 3))
    walk[0, 1] = walk[1, 0] = 1.0
    targets = np.eye(3)
    np.testing.assert_array_equal(soft_targets(walk, targets, np.ones(3))[2], [0, 0, 1])
    np.testing.assert_array_equal(held_out_targets(walk, targets, np.ones(3))[2], 0)
