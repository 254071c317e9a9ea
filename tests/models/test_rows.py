"""Compiled passes over rows say what the plain ones say."""

import numpy as np
import pytest

import poise
from poise.active import predicting
from poise.active.acquisition import walks
from poise.active.acquisition.walks import walk_means
from poise.models import Labels, combined, rows
from poise.models.combined import averaged, combine
from poise.models.registry import models
from poise.models.rows import first_minus_second, largest, neighbour_sums, put_columns


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 60)
    X = rng.normal(size=(180, 4)) + 3 * np.eye(3, 4)[y]
    X[-1] = 1e6  # far from all
    graph = poise.knn_graph(X, k=6)
    labels = Labels.of({int(i): int(y[i]) for i in range(0, 180, 12)}, 180, range(4))
    return graph, labels


def test_walk_is_that_of_small_graphs(blobs, monkeypatch):
    graph, labels = blobs
    values = np.random.default_rng(1).uniform(0.1, 1.0, size=(180, 4))
    plain = averaged(graph, labels, values.copy())
    monkeypatch.setattr(combined, "LARGE_MIN_NODES", 100)
    np.testing.assert_allclose(averaged(graph, labels, values.copy()), plain, rtol=1e-12)


def test_a_node_without_neighbours_stays_as_it_is(monkeypatch):
    weights = np.zeros((4, 4))
    weights[0, 1] = weights[1, 0] = weights[1, 2] = weights[2, 1] = 1.0
    graph = poise.Graph.from_weights(weights)
    labels = Labels.of({0: 0}, 4, range(2))
    values = np.array([[0.5, 0.5], [0.4, 0.6], [0.3, 0.7], [0.2, 0.8]])
    monkeypatch.setattr(combined, "LARGE_MIN_NODES", 1)
    np.testing.assert_allclose(averaged(graph, labels, values)[3], [0.2, 0.8])


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("n_columns", [2, 3, 7])
class TestScores:
    """Three hundred rows with ties, zeros and the largest score in every column."""

    @pytest.fixture
    def scores(self, kind, n_columns):
        rng = np.random.default_rng(n_columns)
        scores = rng.integers(0, 5, size=(300, n_columns)) / 4
        scores[rng.random(300) < 0.2] = 0.0
        return scores.astype(kind)

    @pytest.fixture
    def compiled(self, monkeypatch):
        """Switch to compiled code."""
        return lambda: monkeypatch.setattr(rows, "COMPILED_MIN_ROWS", 0)

    def test_first_minus_second(self, scores, compiled):
        plain = first_minus_second(scores)
        assert (plain == 0).any()
        compiled()
        np.testing.assert_array_equal(first_minus_second(scores), plain)
        np.testing.assert_array_equal(first_minus_second(np.asfortranarray(scores)), plain)

    def test_largest(self, scores, compiled):
        known = np.random.default_rng(0).random(300) < 0.7
        plain = largest(scores, known, 1)
        assert set(plain) == set(range(scores.shape[1]))
        compiled()
        np.testing.assert_array_equal(largest(scores, known, 1), plain)

    def test_put_columns(self, scores, compiled):
        places = np.random.default_rng(0).permutation(scores.shape[1] + 1)[:-1].tolist()
        plain = np.full((300, scores.shape[1] + 1), -1.0, dtype=scores.dtype)
        put_columns(np.asfortranarray(scores), places, plain)
        compiled()
        out = np.full_like(plain, -1.0)
        put_columns(np.asfortranarray(scores), places, out)
        np.testing.assert_array_equal(out, plain)


@pytest.mark.parametrize("n_columns", [1, 3])
def test_neighbour_sums(blobs, monkeypatch, n_columns):
    graph, _ = blobs
    values = np.random.default_rng(0).random((graph.n_nodes, n_columns))
    monkeypatch.setattr(rows, "COMPILED_MIN_ROWS", 0)
    found = neighbour_sums(graph, values)
    np.testing.assert_allclose(found, graph.weights @ values, rtol=1e-12)


@pytest.mark.parametrize("steps", [0, 1, 2, 3])
def test_walk_means_are_those_of_small_graphs(blobs, monkeypatch, steps):
    weights = blobs[0].weights.toarray()
    weights[7] = weights[:, 7] = 0.0  # a node without neighbours
    graph = poise.Graph.from_weights(weights)
    values = np.random.default_rng(0).random(graph.n_nodes)
    plain = walk_means(graph, values, steps)
    monkeypatch.setattr(walks, "COMPILED_MIN_ROWS", 0)
    np.testing.assert_allclose(walk_means(graph, values, steps), plain, rtol=1e-12)
    assert plain[7] == values[7]


@pytest.mark.parametrize("power", [0.0, 0.3, 1.5])
def test_combined_scores_are_those_of_small_graphs(blobs, monkeypatch, power):
    graph, labels = blobs
    alone = models.factory("pwll")(graph, labels)
    plain = combine(graph, labels, alone, power)
    monkeypatch.setattr(combined, "LARGE_MIN_NODES", 100)
    np.testing.assert_allclose(combine(graph, labels, alone, power).scores, plain.scores)


def test_on_large_graphs_the_power_is_found_again_when_labels_have_grown(blobs, monkeypatch):
    graph, _ = blobs
    n_labels_used = []
    power = predicting.linear_power

    def counted(features, labels, held_out, chosen):
        n_labels_used.append(len(labels))
        return power(features, labels, held_out, chosen)

    monkeypatch.setattr(predicting, "LARGE_MIN_NODES", 100)
    monkeypatch.setattr(predicting, "linear_power", counted)
    learner = poise.Learner(graph, {0: "a", 60: "b", 120: "c"})
    for node in range(1, 28):
        learner.tell(node + 60 * (node % 3), "bca"[node % 3])
        _ = learner.predictions
    assert n_labels_used == [4, 5, 6, 8, 10, 12, 15, 19, 24, 30]
    again = poise.Learner.from_json(graph, learner.to_json())
    assert (again.predictions == learner.predictions).all()
