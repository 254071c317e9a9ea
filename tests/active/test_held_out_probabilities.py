"""`Learner.held_out_probabilities`: each label judged by a model without it."""

import numpy as np
import pytest

import poise


@pytest.fixture(scope="module")
def graph():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(centre, 0.3, (40, 2)) for centre in (0.0, 2.0)])
    return poise.knn_graph(X, k=6)


@pytest.mark.parametrize("predictor", ["auto", "balanced", "pwll"])
def test_a_wrong_label_is_seen_by_the_others(graph, predictor):
    labels = {node: "left" if node < 40 else "right" for node in range(0, 80, 5)}
    labels[20] = "right"
    learner = poise.Learner(graph, labels, predictor=predictor)
    found = learner.held_out_probabilities
    assert found.keys() == labels.keys()
    assert all(np.isclose(row.sum(), 1.0) for row in found.values())
    guesses = {node: learner.classes[row.argmax()] for node, row in found.items()}
    assert [node for node in labels if guesses[node] != labels[node]] == [20]
    assert learner.predictions[20] == "right"  # with it, the label counts


def test_it_is_what_a_learner_without_the_label_says(graph):
    labels = {node: "left" if node < 40 else "right" for node in range(0, 80, 9)}
    found = poise.Learner(graph, labels, predictor="pwll").held_out_probabilities
    for node in labels:
        others = {other: label for other, label in labels.items() if other != node}
        learner = poise.Learner(graph, others, predictor="pwll", classes=("left", "right"))
        assert learner.probabilities[node].argmax() == found[node].argmax()


def test_one_class_or_no_label_is_no_evidence(graph):
    assert poise.Learner(graph).held_out_probabilities == {}
    only = poise.Learner(graph, {0: "left", 1: "left"}).held_out_probabilities
    assert [row.tolist() for row in only.values()] == [[1.0], [1.0]]
    alone = poise.Learner(graph, {0: "left"}, classes=("left", "right")).held_out_probabilities
    assert alone[0].tolist() == [0.5, 0.5]
