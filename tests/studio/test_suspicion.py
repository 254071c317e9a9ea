"""Labels that are probably wrong: few are shown, and the right ones."""

import numpy as np
import pytest

import poise
from poise.studio.asking import suspicion as suspicious
from poise.studio.asking.suspicion import SUSPICIOUS_PROBABILITY, sentence, suspicion


def two_crowds(spread, wrong=()):
    """A graph of two crowds, 40 labels of which some are wrong, and the nodes of those."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(c, spread, (200, 2)) for c in (0.0, 3.0)])
    labels = {i: "left" if i < 200 else "right" for i in range(0, 400, 10)}
    for node in wrong:
        labels[node] = "right" if node < 200 else "left"
    return poise.knn_graph(X, k=8), labels


def shown(found):
    return {node for node, wrong in found.items() if wrong >= SUSPICIOUS_PROBABILITY}


def test_only_wrong_labels_are_shown():
    graph, labels = two_crowds(0.5, wrong=(50, 330))
    assert shown(suspicion(graph, labels)) == {50, 330}


def test_correct_labels_are_not_shown():
    graph, labels = two_crowds(0.5)
    assert not shown(suspicion(graph, labels))


@pytest.mark.parametrize("seed", range(5))
def test_inseparable_classes_show_nothing(seed):
    # A vote of the neighbours is against about half of these labels.
    graph, labels = two_crowds(0.5)
    rng = np.random.default_rng(seed)
    labels = {node: "ab"[rng.integers(2)] for node in labels}
    assert len(shown(suspicion(graph, labels))) <= 1


def test_very_many_labels_are_judged_in_parts(monkeypatch):
    graph, labels = two_crowds(0.5, wrong=(50, 330))
    monkeypatch.setattr(suspicious, "MAX_TOGETHER", 15)
    found = suspicion(graph, labels)
    assert found.keys() == labels.keys()
    assert shown(found) == {50, 330}


def test_too_few_labels_show_nothing():
    graph = poise.knn_graph(np.random.default_rng(0).normal(size=(30, 2)), k=5)
    assert suspicion(graph, {}) == {}
    assert suspicion(graph, {3: "a"}) == {3: 0.0}
    assert suspicion(graph, {3: "a", 9: "a"}) == {3: 0.0, 9: 0.0}
    assert not shown(suspicion(graph, {3: "a", 9: "b"})), "each is the only one of its class"


def test_how_strong_the_evidence_is_in_words():
    assert sentence([0.1, 0.4]).startswith("No label is more likely wrong than right")
    assert sentence([0.1, 0.7]) == (
        "1 label of 2 is more likely wrong than right, judged by the others; about 1 is expected "
        "to be wrong."
    )
    assert sentence([0.6] * 10 + [0.0] * 90).endswith("about 6 are expected to be wrong.")
    assert sentence([0.6] * 10).startswith("10 labels of 10 are")
