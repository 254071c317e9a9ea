"""New points that are like nothing the model was fitted on."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import poise

MODELS = [
    poise.PWLL,
    poise.LaplaceLearning,
    poise.PoissonLearning,
    poise.WNLL,
    poise.ProperlyWeighted,
]
every_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
SHARES = [0.25, 0.75]


@pytest.fixture(scope="module")
def clouds():
    """Two clouds; of the labels three in four are of the second."""
    y = np.repeat([0, 1], 30)
    X = np.array([[0.0, 0.0], [4.0, 0.0]])[y] + 0.3 * np.random.default_rng(0).normal(size=(60, 2))
    given = np.full(60, -1)
    given[[0, 30, 31, 32]] = [0, 1, 1, 1]
    return X, given


@every_model
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_probabilities_fall_to_the_shares_with_distance(clouds, model, metric):
    X, y = clouds
    fitted = model(k=8, metric=metric).fit(X, y)
    away = np.array([[0.0, -d] for d in (0.0, 1.0, 1.5, 2.0, 3.0, 1e3, 1e9)])
    probabilities = fitted.predict_proba(away)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert probabilities[0, 0] > 0.5
    assert (np.diff(probabilities[:, 0]) <= 1e-9).all()
    np.testing.assert_allclose(probabilities[-3:], [SHARES] * 3, atol=1e-9)
    classes, reached = fitted.predict(away, return_reached=True)
    assert classes[0] == 0
    assert classes[-1] == 1
    assert reached[0]
    assert not reached[-3:].any()
    np.testing.assert_array_equal(fitted.predict(away), classes)


@every_model
def test_points_of_the_same_kind_are_as_before(clouds, model):
    X, y = clouds
    fitted = model(k=8).fit(X, y)
    weights = fitted.graph_.out_of_sample_weights(X)
    before = fitted._probabilities(weights @ fitted.scores_, weights @ fitted.reached_ > 0)
    np.testing.assert_array_equal(fitted.predict_proba(X), before)
    assert fitted.predict(X, return_reached=True)[1].all()


def test_new_points_of_the_same_distribution_are_near():
    X, digits = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    X, digits = X[order], digits[order]
    y = np.where(np.arange(900) < 60, digits[:900], -1)
    for k in (5, 20):
        fitted = poise.PWLL(k=k).fit(X[:900], y)
        placement = fitted.graph_.place(X[900:])
        assert placement.near.mean() > 0.99
        known = placement.weights @ fitted.reached_ > 0
        alone = fitted._probabilities(placement.weights @ fitted.scores_, known).argmax(axis=1)
        assert (fitted.predict(X[900:]) == alone).mean() > 0.995


def test_the_nodes_of_a_graph_are_reached_where_their_component_is():
    X = np.array([[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]])
    fitted = poise.PWLL(k=2).fit(X, [0, -1, -1, -1, -1, -1])
    classes, reached = fitted.predict(fitted.graph_, return_reached=True)
    assert classes.tolist() == [0] * 6
    assert reached.tolist() == [True] * 3 + [False] * 3
    assert fitted.predict(X, return_reached=True)[1].tolist() == reached.tolist()


def test_priors_take_the_place_of_the_shares(clouds):
    X, y = clouds
    fitted = poise.PWLL(k=8, class_priors=[0.5, 0.5]).fit(X, y)
    np.testing.assert_allclose(fitted.predict_proba([[0.0, -1e6]]), [[0.5, 0.5]])


def test_calibrated_probabilities_fall_too(clouds):
    X, y = clouds
    fitted = poise.PWLL(k=8, calibrate=True).fit(X, y)
    np.testing.assert_allclose(fitted.predict_proba([[0.0, -1e6]]), [SHARES])


def test_beyond_the_radius_of_an_epsilon_graph(clouds):
    X, y = clouds
    fitted = poise.PWLL().fit(poise.epsilon_graph(X, radius=1.0), y)
    ends = X[:30].min(axis=0) - [0.0, 0.5], X[:30].min(axis=0) - [0.0, 30.0]
    assert fitted.predict(np.array(ends), return_reached=True)[1].tolist() == [True, False]


def test_where_all_points_coincide_anything_else_is_far():
    fitted = poise.PWLL(k=3).fit(np.zeros((6, 2)), [0, 1, -1, -1, -1, -1])
    places = [[0.0, 0.0], [1.0, 0.0]]
    assert fitted.predict(places, return_reached=True)[1].tolist() == [True, False]
