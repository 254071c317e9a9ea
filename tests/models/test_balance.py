"""Balanced scores: classes on a more equal footing."""

import numpy as np
import pytest

import poise
from poise.models import Labels, models
from poise.models.balance import balance_factors, balanced


@pytest.fixture(scope="module")
def crowds():
    """Two crowds that touch, 300 points each."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(c, 1.0, (300, 5)) for c in (0.0, 1.0)])
    return poise.knn_graph(X, k=10), np.repeat([0, 1], 300)


def test_formula_and_a_class_without_scores():
    scores = np.array([[0.9, 0.1, 0.0], [0.7, 0.3, 0.0]])
    factors = balance_factors(scores)
    assert factors[0] == 1
    assert factors[1] == pytest.approx((0.2 / 0.8) ** -0.5)
    assert factors[2] == 0
    assert (balance_factors(np.zeros((3, 2))) == 0).all()
    assert balance_factors(np.zeros((0, 2))).shape == (2,)


def test_scale_and_order_of_classes_do_not_matter():
    scores = np.random.default_rng(1).uniform(size=(50, 4))
    np.testing.assert_allclose(balance_factors(scores * 7), balance_factors(scores))
    np.testing.assert_allclose(balance_factors(scores[:, ::-1])[::-1], balance_factors(scores))


def test_random_labels_of_digits_say_more():
    """Twenty random labels, eight times: which class sits at a hub is luck."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    graph = poise.knn_graph(X, k=10)
    gained = []
    for seed in range(8):
        nodes = np.random.default_rng(seed).permutation(len(y))[:20]
        labels = Labels.of({int(i): int(y[i]) for i in nodes}, len(y), range(10))
        result = models.factory("pwll")(graph, labels)
        even = balanced(result)
        assert (even.codes[nodes] == y[nodes]).all()
        gained.append((even.codes == y).mean() - (result.codes == y).mean())
    assert np.mean(gained) > 0.01


def test_predictors_of_the_learner(crowds):
    graph, y = crowds
    known = {5: 0, 310: 1, 320: 1}
    learners = {p: poise.Learner(graph, known, predictor=p) for p in ("auto", "balanced", "pwll")}
    expected = balanced(learners["pwll"].result)
    np.testing.assert_allclose(learners["balanced"].result.scores, expected.scores)
    assert not np.allclose(learners["auto"].result.scores, expected.scores)
    assert (learners["auto"].predictions == y).mean() > 0.5
