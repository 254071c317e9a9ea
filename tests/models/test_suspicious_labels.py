"""Which labels may be wrong: the mixture's limits, and flipped labels found."""

import numpy as np
import pytest

from poise.errors import InputError, LabelError
from poise.graph import Graph, knn_graph
from poise.models import Labels
from poise.models.label_walk import soft_targets
from poise.models.suspicion import MAX_WEIGHT, doubt, label_trust, suspicion


def said(codes: np.ndarray, n_classes: int, share: float = 0.97) -> np.ndarray:
    """Held-out scores of a model that is nearly sure of `codes`."""
    scores = np.full((len(codes), n_classes), (1 - share) / (n_classes - 1))
    scores[np.arange(len(codes)), codes] = share
    return scores


def clouds(seed: int = 0) -> tuple[Graph, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(3), 80)
    X = rng.normal(size=(240, 4)) + 4.0 * np.eye(3, 4)[y]
    return knn_graph(X, k=8), y


def test_a_label_against_a_model_that_is_always_right_is_not_trusted() -> None:
    truth = np.arange(60) % 4
    codes = truth.copy()
    codes[7] = (codes[7] + 1) % 4
    trust = label_trust([said(truth, 4)], codes)
    assert trust[7] < 0.2
    assert np.delete(trust, 7).min() > 0.99


def test_a_model_that_misses_most_labels_casts_no_doubt() -> None:
    rng = np.random.default_rng(0)
    codes = np.arange(60) % 4
    trust = label_trust([said(rng.integers(0, 4, 60), 4)], codes)
    np.testing.assert_allclose(trust, 0.9, atol=0.05)  # what is expected anyway


def test_the_first_label_of_a_class_is_not_doubted_for_being_alone() -> None:
    """Ten classes with company and ten without, none of which the model can know."""
    pairs, alone = np.repeat(np.arange(10), 3), np.arange(10, 20)
    codes = np.concatenate([pairs, alone])
    model = said(np.concatenate([pairs, np.arange(10)]), 20)
    moved = codes.copy()
    moved[0] = 5  # of a class that has its company elsewhere
    trust = label_trust([model], moved)
    assert trust[30:].min() > 0.8 > trust[0]


def test_more_noise_means_less_trust() -> None:
    truth = np.arange(60) % 4
    codes = truth.copy()
    codes[:6] = (codes[:6] + 1) % 4
    trust = [label_trust([said(truth, 4)], codes, noise).mean() for noise in (0.02, 0.1, 0.4)]
    assert trust[0] > trust[1] > trust[2]


def test_a_second_model_is_heard_and_a_useless_one_is_not() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, 80)
    codes = truth.copy()
    codes[:8] = (codes[:8] + 1) % 4
    vague = said(np.where(rng.random(80) < 0.5, truth, rng.integers(0, 4, 80)), 4)
    random = said(rng.integers(0, 4, 80), 4)

    def doubted(*models: np.ndarray) -> float:
        return float(1 - label_trust(models, codes)[:8].mean())

    assert doubted(vague, said(truth, 4)) > doubted(vague) + 0.2
    assert doubted(vague, random) == pytest.approx(doubted(vague), abs=0.05)


def test_without_another_class_or_a_label_nothing_is_doubted() -> None:
    np.testing.assert_array_equal(label_trust([np.ones((3, 1))], np.zeros(3, dtype=np.int64)), 1)
    assert label_trust([np.ones((0, 2))], np.zeros(0, dtype=np.int64)).shape == (0,)


def test_models_must_speak_of_the_same_labels() -> None:
    codes = np.zeros(4, dtype=np.int64)
    with pytest.raises(InputError, match="expected \\(4, 2\\) from every model"):
        label_trust([np.ones((4, 2)), np.ones((5, 2))], codes)


@pytest.mark.parametrize("bad", [0.0, 1.0, -0.1, float("nan")])
def test_noise_must_be_a_share(bad: float) -> None:
    graph, y = clouds()
    with pytest.raises(InputError, match="noise is"):
        suspicion(graph, Labels.of({0: 1, 1: 2}, len(y)), noise=bad)


def test_flipped_labels_come_first() -> None:
    graph, y = clouds()
    nodes = np.arange(0, 240, 6)
    wrong = nodes[[3, 17, 30, 35]]
    answers = {int(i): int(y[i] + (i in wrong)) % 3 for i in nodes}
    labels = Labels.of(answers, len(y), classes=[0, 1, 2])
    doubts = suspicion(graph, labels)
    assert set(labels.nodes[np.argsort(-doubts)[:4]]) == set(wrong)
    assert doubts.min() >= 0
    assert doubts.max() <= 1


def test_no_label_is_an_error() -> None:
    graph, y = clouds()
    with pytest.raises(LabelError, match="there are no labels"):
        suspicion(graph, Labels.of({}, len(y)))


def test_one_label_is_not_doubted_more_than_any() -> None:
    graph, y = clouds()
    (doubts,) = suspicion(graph, Labels.of({0: "a"}, len(y), classes=["a", "b"]))
    assert doubts <= 0.1 + 1e-9


def walk_in_groups(groups: np.ndarray, stays: float = 0.9) -> np.ndarray:
    """A walk that meets a label of its own group next with probability `stays`."""
    near = groups[:, None] == groups
    np.fill_diagonal(near, False)
    far = groups[:, None] != groups
    return stays * near / near.sum(1, keepdims=True) + (1 - stays) * far / far.sum(1, keepdims=True)


def test_a_label_that_is_probably_wrong_takes_the_class_of_its_neighbours() -> None:
    truth = np.arange(60) // 20
    codes = truth.copy()
    codes[[3, 30]] = [2, 0]
    labels = Labels.of({i: int(c) for i, c in enumerate(codes)}, 60, classes=[0, 1, 2])
    walk = walk_in_groups(truth)
    weights, trust = doubt(walk, labels)
    odds = trust / (1 - trust)
    np.testing.assert_allclose(weights, np.clip(odds**2, 1 / MAX_WEIGHT, MAX_WEIGHT), rtol=1e-6)
    assert weights[[3, 30]].max() < 0.1
    assert np.delete(weights, [3, 30]).min() > 10
    softened = soft_targets(walk, labels.one_hot, weights)
    np.testing.assert_array_equal(softened.argmax(axis=1), truth)
    assert softened[3, 0] > 0.7
    assert softened[30, 1] > 0.7


def test_a_class_that_the_walk_meets_everywhere_casts_less_doubt() -> None:
    """Five labels among forty of another class that sits at a hub and is met next half the time."""
    groups = np.repeat([0, 1], [40, 5])
    walk = walk_in_groups(groups, stays=0.5)
    walk[:40] = walk_in_groups(groups, stays=0.95)[:40]
    labels = Labels.of({i: int(c) for i, c in enumerate(groups)}, 45, classes=[0, 1])
    _, trust = doubt(walk, labels)
    assert trust[40:].min() > 0.9


def test_with_an_unknown_share_no_more_is_doubted_than_is_wrong():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(c, 0.5, (200, 2)) for c in (0.0, 3.0)])
    graph = knn_graph(X, k=8)
    for n_wrong in (0, 1, 2, 4):
        wrong = set(range(0, 10 * n_wrong, 10))
        labels = {i: (i < 200) != (i in wrong) for i in range(0, 400, 10)}
        given = Labels.of(labels, 400)
        doubted = set(given.nodes[suspicion(graph, given, noise=None) >= 0.5].tolist())
        assert len(doubted) <= n_wrong
        assert 2 * len(doubted & wrong) >= len(doubted)
        if n_wrong in (1, 4):  # of two, each speaks for the other: 49% each
            assert doubted & wrong
