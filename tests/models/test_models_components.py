"""Graphs in pieces: each component is a problem of its own; without labels it is silent."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from poise.graph import Graph
from poise.models import Labels, laplace, models, poisson, pwll
from strategies import connected_weights, labelled_graphs, random_weights, seeds, taus

pieces = st.lists(labelled_graphs(connected_weights(least=1, most=12), 3), min_size=1, max_size=3)


def union(parts: list[tuple[Graph, Labels]]) -> tuple[Graph, Labels, list[slice]]:
    """The graphs side by side, their labels together, and where each part's nodes are."""
    W = sparse.block_diag([graph.weights for graph, _ in parts], format="csr")
    classes = sorted({name for _, labels in parts for name in labels.classes})
    answers, slices, first = {}, [], 0
    for graph, labels in parts:
        for node, code in zip(labels.nodes, labels.codes, strict=True):
            answers[first + int(node)] = labels.classes[code]
        slices.append(slice(first, first + graph.n_nodes))
        first += graph.n_nodes
    return Graph.from_weights(W), Labels.of(answers, first, classes=classes), slices


@given(pieces, taus)
def test_components_do_not_see_each_other(parts, tau) -> None:  # type: ignore[no-untyped-def]
    graph, labels, slices = union(parts)
    for model in (lambda g, y: pwll(g, y, tau=tau), lambda g, y: laplace(g, y, tau=tau), poisson):
        whole = model(graph, labels)
        assert whole.reached.all()
        for (part, part_labels), where in zip(parts, slices, strict=True):
            alone = model(part, part_labels).scores
            columns = [labels.classes.index(name) for name in part_labels.classes]
            size = max(1.0, np.abs(alone).max())
            np.testing.assert_allclose(whole.scores[where][:, columns], alone, atol=1e-5 * size)
            others = [c for c in range(len(labels.classes)) if c not in columns]
            np.testing.assert_allclose(whole.scores[where][:, others], 0, atol=1e-12)


@given(labelled_graphs(connected_weights(most=15)), connected_weights(least=1, most=10), taus)
def test_a_component_without_labels_is_not_reached(case, W, tau) -> None:  # type: ignore[no-untyped-def]
    part, part_labels = case
    graph = Graph.from_weights(sparse.block_diag([part.weights, W]))
    n = part.n_nodes
    labels = Labels(part_labels.nodes, part_labels.codes, part_labels.classes)
    for name in models:
        if name == "properly-weighted":  # needs features
            continue
        options = {"tau": tau} if name == "pwll" else {}
        result = models.factory(name)(graph, labels, **options)
        assert result.reached.tolist() == [True] * n + [False] * len(W)
        assert np.all(result.scores[n:] == 0)
        assert np.all(result.codes[n:] == np.argmax(labels.counts))
        np.testing.assert_allclose(result.probabilities[n:], [labels.counts / len(labels)] * len(W))
        assert np.all(result.norms[n:] == 0)


@given(connected_weights(least=3, most=15), seeds)
def test_the_weights_of_two_components_are_two_poisson_equations(W, seed) -> None:  # type: ignore[no-untyped-def]
    part = Graph.from_weights(W)
    graph = Graph.from_weights(sparse.block_diag([W, W]))
    n, rng = len(W), np.random.default_rng(seed)
    a, b = rng.choice(n, 2, replace=False).tolist()
    whole = pwll(graph, Labels.of({a: 0, n + b: 1}, 2 * n)).weights
    for node, where in ((a, slice(0, n)), (b, slice(n, 2 * n))):
        alone = pwll(part, Labels.of({node: 0}, n)).weights
        np.testing.assert_allclose(whole[where], alone, atol=1e-6 * max(1, alone.max()))


def test_labels_on_isolated_nodes_stay_there() -> None:
    W = np.zeros((5, 5))
    W[0, 1] = W[1, 0] = 1.0
    graph = Graph.from_weights(W)  # 2, 3 and 4 are alone
    labels = Labels.of({0: "a", 2: "b", 3: "b"}, 5)
    for name in models:
        if name == "properly-weighted":
            continue
        result = models.factory(name)(graph, labels)
        assert np.all(np.isfinite(result.scores))
        assert result.reached.tolist() == [True, True, True, True, False]
        classes = [result.classes[code] for code in result.codes]
        assert classes == ["a", "a", "b", "b", "b"]  # node 4: the most frequent


@pytest.mark.parametrize("n_pieces", [1, 40])
def test_many_components_cost_no_more_steps(n_pieces: int) -> None:
    """A graph of forty pieces is solved in one pass, and right."""
    parts = [random_weights(10, "sparse", seed) for seed in range(n_pieces)]
    graph = Graph.from_weights(sparse.block_diag(parts))
    labels = Labels.of({10 * c: c % 3 for c in range(n_pieces)}, 10 * n_pieces)
    result = pwll(graph, labels)
    np.testing.assert_array_equal(result.codes, np.repeat(np.arange(n_pieces) % 3, 10))
    np.testing.assert_allclose(result.scores.max(axis=1), 1, atol=1e-6)
