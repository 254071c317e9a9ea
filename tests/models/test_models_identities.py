"""Identities that the engine is built on, for any graph, labels, tau and shift."""

import dense
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poise.graph import Graph, knn_graph
from poise.linalg.simultaneous import SMALL_MAX_NODES
from poise.models import Labels, laplace, poisson, pwll, wnll
from poise.models.harmonic import Problem, solve_problems
from poise.models.poisson_weights import poisson_weights
from strategies import (
    Floats,
    connected_weights,
    labelled_graphs,
    laplacian,
    seeds,
    taus,
    weights_in_pieces,
)

connected = labelled_graphs(connected_weights())
in_pieces = labelled_graphs(weights_in_pieces())
anything = st.one_of(connected, in_pieces)


@given(connected_weights(), seeds, st.floats(1e-3, 1e3))
def test_ground_state_identity(W: Floats, seed: int, spread: float) -> None:
    """``G^-1 L_gamma G^-1 = L - diag(L gamma / gamma)`` for every positive gamma."""
    gamma = spread ** np.random.default_rng(seed).uniform(-1, 1, size=len(W))
    left = laplacian(gamma[:, None] * W * gamma) / gamma[:, None] / gamma
    right = laplacian(W) - np.diag(laplacian(W) @ gamma / gamma)
    np.testing.assert_allclose(left, right, atol=1e-12 * np.abs(left).max())


@given(connected, st.sampled_from([1e-5, 1e-2, 1.0]))
def test_poisson_weights_solve_the_poisson_equation(case, shift) -> None:  # type: ignore[no-untyped-def]
    graph, labels = case
    (gamma,) = poisson_weights(graph, [labels.nodes], shift=shift).T
    W = graph.weights.toarray()
    f = np.full(graph.n_nodes, -len(labels) / graph.n_nodes)
    f[labels.nodes] += 1
    np.testing.assert_allclose(laplacian(W) @ gamma, f, atol=1e-6)
    np.testing.assert_allclose(gamma.min(), shift)
    expected = dense.poisson_weights(W, labels.nodes, shift)
    np.testing.assert_allclose(gamma, expected, atol=1e-6 * max(1, expected.max()))


@settings(max_examples=200)
@given(connected, taus, st.sampled_from([1e-5, 1e-3, 1.0]))
def test_pwll_is_the_reweighted_problem_of_the_paper(case, tau, shift) -> None:  # type: ignore[no-untyped-def]
    graph, labels = case
    scores = pwll(graph, labels, tau=tau, shift=shift).scores
    expected = dense.pwll(graph.weights.toarray(), labels, tau, shift)
    assert np.abs(scores - expected).max() < 1e-5


@given(connected, taus)
def test_the_other_models_are_their_formulas(case, tau) -> None:  # type: ignore[no-untyped-def]
    graph, labels = case
    W = graph.weights.toarray()
    scores = laplace(graph, labels, tau=tau).scores
    assert np.abs(scores - dense.harmonic(W, labels, tau)).max() < 1e-5
    scores = wnll(graph, labels, tau=tau).scores
    assert np.abs(scores - dense.wnll(W, labels, tau)).max() < 1e-5
    if len(labels.classes) > 1:  # one class alone is no equation: see the edge cases
        expected = dense.poisson(W, labels)
        scores = poisson(graph, labels).scores
        assert np.abs(scores - expected).max() < 1e-5 * max(1.0, np.abs(expected).max())


@given(anything, taus)
def test_superposition(case, tau) -> None:  # type: ignore[no-untyped-def]
    """A class's column is the sum of the columns of its labels, each alone against the rest."""
    graph, labels = case
    whole = tuple(tuple(labels.nodes[labels.codes == c].tolist()) for c in np.unique(labels.codes))
    single = tuple((int(node),) for node in labels.nodes)
    together, apart = solve_problems(graph, [Problem(whole, tau), Problem(single, tau)])
    np.testing.assert_array_equal(together.weights, apart.weights)  # gamma knows no classes
    for c in range(len(whole)):
        summed = apart.values[:, labels.codes == c].sum(axis=1)
        np.testing.assert_allclose(together.values[:, c], summed, atol=1e-5)


@given(anything, taus)
def test_an_answer_only_moves_a_column(case, tau) -> None:  # type: ignore[no-untyped-def]
    """What `Learner.tell` does: h_c + h_p for the answer's class, the others as they were."""
    graph, labels = case
    *rest, pending = labels.nodes.tolist()
    if not rest:
        return
    before = pwll(
        graph, Labels.of({**dict.fromkeys(rest, "a"), pending: "p"}, graph.n_nodes), tau=tau
    )
    after = pwll(graph, Labels.of(dict.fromkeys([*rest, pending], "a"), graph.n_nodes), tau=tau)
    np.testing.assert_allclose(before.scores.sum(axis=1), after.scores[:, 0], atol=1e-5)


@given(anything, taus)
def test_maximum_principle(case, tau) -> None:  # type: ignore[no-untyped-def]
    graph, labels = case
    for result in (pwll(graph, labels, tau=tau), laplace(graph, labels, tau=tau)):
        assert result.scores.min() >= 0
        assert result.scores.max() <= 1
        sums = result.scores.sum(axis=1)
        assert sums.max() <= 1 + 1e-5
        assert result.norms.max() <= 1 + 1e-5
        if tau == 0:
            np.testing.assert_allclose(sums[result.reached], 1, atol=1e-5)
        assert np.all(sums[~result.reached] == 0)


@given(anything, taus, taus)
def test_more_decay_never_raises_a_score(case, tau, other) -> None:  # type: ignore[no-untyped-def]
    graph, labels = case
    less, more = sorted([tau, other])
    difference = pwll(graph, labels, tau=more).scores - pwll(graph, labels, tau=less).scores
    assert difference.max() <= 1e-5


@given(anything, taus, seeds)
def test_renaming_the_nodes_renames_the_scores(case, tau, seed) -> None:  # type: ignore[no-untyped-def]
    graph, labels = case
    order = np.random.default_rng(seed).permutation(graph.n_nodes)
    position = np.argsort(order)
    permuted = Graph.from_weights(graph.weights[order][:, order])
    nodes = position[labels.nodes]
    by_node = np.argsort(nodes)
    moved = Labels(nodes[by_node], labels.codes[by_node], labels.classes)
    for model in (lambda g, y: pwll(g, y, tau=tau), laplace, wnll, poisson):
        scores, permuted_scores = model(graph, labels).scores, model(permuted, moved).scores
        size = max(1.0, np.abs(scores).max())
        np.testing.assert_allclose(permuted_scores, scores[order], atol=1e-5 * size)


@given(connected, taus, seeds)
def test_renaming_the_classes_renames_the_columns(case, tau, seed) -> None:  # type: ignore[no-untyped-def]
    graph, labels = case
    order = np.random.default_rng(seed).permutation(len(labels.classes))
    renamed = Labels(labels.nodes, np.argsort(order)[labels.codes], labels.classes)
    scores = pwll(graph, labels, tau=tau).scores
    np.testing.assert_array_equal(pwll(graph, renamed, tau=tau).scores, scores[:, order])


@pytest.mark.parametrize("tau", [0.0, 1e-6, 1e-3, 1.0])
@pytest.mark.parametrize("n", [SMALL_MAX_NODES, SMALL_MAX_NODES + 500])
def test_pwll_on_graphs_of_neighbours(n: int, tau: float) -> None:
    """Above `SMALL_MAX_NODES` nodes the tolerance is the one of large graphs."""
    rng = np.random.default_rng(n)
    graph = knn_graph(rng.normal(size=(n, 4)), k=10)
    assert graph.n_components == 1
    nodes = rng.choice(n, size=9, replace=False).tolist()
    labels = Labels.of({node: i % 3 for i, node in enumerate(nodes)}, n)
    expected = dense.pwll(graph.weights.toarray(), labels, tau)
    assert np.abs(pwll(graph, labels, tau=tau).scores - expected).max() < 1e-5
