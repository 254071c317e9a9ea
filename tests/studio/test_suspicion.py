"""Labels judged by the others, against an absorbing random walk solved densely."""

import numpy as np
import pytest

import poise
from poise.models.poisson_weights import poisson_weights
from poise.studio.suspicion import suspicion


def walked(graph, labels):
    """Where a walk from each label ends that may not come back: the strongest rival's share."""
    W, nodes = graph.weights.toarray(), sorted(labels)
    gamma = poisson_weights(graph, [np.array(nodes)])[:, 0]
    steps = W * gamma[None, :]
    P = steps / steps.sum(axis=1, keepdims=True)
    free = np.setdiff1d(np.arange(len(W)), nodes)
    ends = np.linalg.solve(np.eye(len(free)) - P[np.ix_(free, free)], P[np.ix_(free, nodes)])
    found = {}
    for i in nodes:
        reach = P[i, nodes] + P[i, free] @ ends
        by_class = dict.fromkeys(labels.values(), 0.0)
        for j, node in enumerate(nodes):
            if node != i:
                by_class[labels[node]] += reach[j]
        own = by_class.pop(labels[i])
        rival = max(by_class.values(), default=0.0)
        found[i] = rival / (rival + own)
    return found


@pytest.mark.parametrize("seed", range(5))
def test_the_share_is_that_of_a_walk(seed):
    rng = np.random.default_rng(seed)
    graph = poise.knn_graph(rng.normal(size=(120, 3)), k=7)
    chosen = rng.choice(120, 40, replace=False)  # more than one chunk
    labels = {int(i): "abc"[rng.integers(3)] for i in chosen}
    found, expected = suspicion(graph, labels), walked(graph, labels)
    assert found.keys() == expected.keys()
    for node, share in found.items():
        assert share == pytest.approx(expected[node], abs=2e-4)


def test_a_wrong_label_in_a_crowd_stands_out():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(c, 0.5, (60, 2)) for c in (0.0, 3.0)])
    labels = {i: "left" if i < 60 else "right" for i in range(0, 120, 8)}
    labels[8] = "right"
    found = suspicion(poise.knn_graph(X, k=8), labels)
    assert max(found, key=found.get) == 8
    assert found[8] > 0.5


def test_too_few_labels_say_nothing():
    graph = poise.knn_graph(np.random.default_rng(0).normal(size=(30, 2)), k=5)
    assert suspicion(graph, {}) == {}
    assert suspicion(graph, {3: "a"}) == {}
    assert suspicion(graph, {3: "a", 9: "a"}) == {3: 0.0, 9: 0.0}
    assert suspicion(graph, {3: "a", 9: "b"}) == {}, "nothing else of their classes"
