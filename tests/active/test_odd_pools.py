"""Pools and answers that nobody hopes for: asking, predicting and advising stay defined."""

import numpy as np
import pytest

import poise


def everything(learner):
    """All that a learner says, checked for form."""
    n, classes = learner.graph.n_nodes, learner.classes
    probabilities = learner.probabilities
    assert probabilities.shape == (n, len(classes))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, atol=1e-9)
    assert set(learner.predictions.tolist()) <= set(classes)
    for node, label in learner.labels.items():
        assert learner.predictions[node] == label
    assert learner.advice().sentence
    assert isinstance(learner.calibration.has_evidence, bool)
    again = poise.Learner.from_json(learner.graph, learner.to_json())
    np.testing.assert_array_equal(again.probabilities, probabilities)


def answered(graph, y, budget):
    learner = poise.Learner(graph)
    for _ in range(min(budget, graph.n_nodes)):
        (node,) = learner.ask().tolist()
        learner.tell(node, y[node])
    return learner


def pool(n, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def test_one_class_only():
    learner = answered(poise.knn_graph(pool(80), k=5), ["only"] * 80, 40)
    everything(learner)
    assert set(learner.predictions) == {"only"}
    assert not learner.calibration.has_evidence


def test_two_points():
    graph = poise.knn_graph(pool(2), k=1)
    everything(answered(graph, ["a", "b"], 1))
    everything(answered(graph, ["a", "b"], 2))


@pytest.mark.parametrize("k", [1, 10])
def test_all_points_equal(k):
    graph = poise.knn_graph(np.ones((50, 4)), k=k)
    learner = answered(graph, ["a", "b"] * 25, 30)
    assert len(set(learner.labels)) == 30
    everything(learner)


def test_every_class_a_single_item():
    everything(answered(poise.knn_graph(pool(60), k=5), list(range(60)), 45))


def test_a_class_that_disappears_by_relabelling():
    y = ["a", "b", "c"] * 20
    learner = answered(poise.knn_graph(pool(60), k=5), y, 25)
    lone = [node for node, label in learner.labels.items() if label == "c"]
    learner.relabel(lone, ["a"] * len(lone))
    assert "c" not in set(learner.labels.values())
    everything(learner)
    assert "c" not in set(learner.predictions)
    assert learner.probabilities[:, learner.classes.index("c")].max() < 0.5
    learner.ask()


def test_labels_that_contradict_on_duplicates():
    X = np.repeat(pool(30), 2, axis=0)
    y = ["a", "b"] * 30  # each pair of equal points has both classes
    learner = answered(poise.knn_graph(X, k=4), y, 50)
    everything(learner)


def test_many_components():
    """Forty pairs far apart, and one crowd: the crowd is known soon, no question is wasted."""
    rng = np.random.default_rng(2)
    W = np.zeros((180, 180))
    block = np.triu(rng.uniform(0.2, 1.0, (100, 100)), 1)
    W[:100, :100] = block + block.T
    for first in range(100, 180, 2):
        W[first, first + 1] = W[first + 1, first] = 1.0
    graph = poise.Graph.from_weights(W)
    y = ["crowd"] * 100 + ["pair"] * 80
    learner = answered(graph, y, 5)
    everything(learner)
    assert any(node < 100 for node in learner.labels)
    assert (learner.predictions[:100] == "crowd").mean() > 0.9 or "crowd" in learner.classes


def test_k_of_one():
    learner = answered(poise.knn_graph(pool(200), k=1), [int(i % 3) for i in range(200)], 60)
    everything(learner)


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_weights_of_any_size(scale):
    graph = poise.knn_graph(pool(120), k=6)
    scaled = poise.Graph.from_weights(graph.weights * scale)
    y = [int(v) for v in (pool(120)[:, 0] > 0)]
    everything(answered(scaled, y, 25))


def test_every_point_labelled():
    y = [int(v) for v in (pool(40)[:, 0] > 0)]
    learner = answered(poise.knn_graph(pool(40), k=5), y, 40)
    everything(learner)
    with pytest.raises(poise.PoiseError, match="nothing left to ask"):
        learner.ask()
