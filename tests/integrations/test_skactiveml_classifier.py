"""PoiseClassifier: the models of poise as a classifier of scikit-activeml."""

import numpy as np
import pytest
from skactiveml.pool import Badge, UncertaintySampling
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError

import poise
from poise.errors import InputError
from poise.integrations.skactiveml import PoiseClassifier
from poise.integrations.skactiveml.graphs import graphs

X, CLASSES = make_blobs(80, centers=3, cluster_std=0.5, random_state=2)
NEW, NEW_CLASSES = make_blobs(40, centers=3, cluster_std=0.5, random_state=2, shuffle=False)


def labels(known, missing=np.nan, name=float):
    y = np.full(len(X), missing, dtype=float if name is float else object)
    y[known] = [name(c) for c in CLASSES[known]]
    return y


KNOWN = [int(np.flatnonzero(c == CLASSES)[0]) for c in range(3)]


def test_it_predicts_what_the_model_predicts():
    fitted = PoiseClassifier(poise.PWLL(k=6)).fit(X, labels(KNOWN))
    y = np.full(80, -1)
    y[KNOWN] = CLASSES[KNOWN]
    model = poise.PWLL(k=6).fit(X, y)
    for points in (X, NEW):
        assert (fitted.predict(points) == model.predict(points)).all()
        np.testing.assert_allclose(fitted.predict_proba(points), model.predict_proba(points))
    assert fitted.score(X, CLASSES.astype(float)) > 0.95
    assert fitted.score(NEW, NEW_CLASSES.astype(float)) > 0.95


@pytest.mark.parametrize(
    "model", [poise.LaplaceLearning(k=6), poise.PoissonLearning(k=6), poise.WNLL(k=6)]
)
def test_other_models(model):
    fitted = PoiseClassifier(model).fit(X, labels(KNOWN))
    assert fitted.score(X, CLASSES.astype(float)) > 0.9
    assert not hasattr(model, "graph_")  # the parameter is not changed


def test_the_graph_is_shared():
    first, second = (PoiseClassifier().fit(X, labels(KNOWN[:m])) for m in (2, 3))
    assert first.model_.graph_ is second.model_.graph_ is graphs.graph(X)


@pytest.mark.parametrize(
    ("missing", "name"), [(np.nan, float), (None, str), ("nan", str), (-1, int), (None, int)]
)
def test_missing_labels_of_every_kind(missing, name):
    fitted = PoiseClassifier(missing_label=missing).fit(X, labels(KNOWN, missing, name).tolist())
    assert fitted.classes_.tolist() == [name(c) for c in range(3)]
    assert np.mean(fitted.predict(X) == [name(c) for c in CLASSES]) > 0.95


def test_classes_without_a_label_have_probability_zero():
    fitted = PoiseClassifier(classes=[5, 2, 1, 0]).fit(X, labels(KNOWN[:1]))
    assert fitted.classes_.tolist() == [0, 1, 2, 5]
    P = fitted.predict_proba(NEW)
    assert P.shape == (40, 4)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert (P[:, CLASSES[KNOWN[0]]] == 1.0).all()


def test_without_labels_all_classes_are_equally_probable():
    fitted = PoiseClassifier(classes=[0, 1], random_state=0).fit(X, labels([]))
    assert (fitted.predict_proba(NEW) == 0.5).all()
    assert set(fitted.predict(NEW)) == {0, 1}
    with pytest.raises(ValueError, match="class"):
        PoiseClassifier().fit(X, labels([]))


def test_a_single_sample_or_none():
    fitted = PoiseClassifier(classes=[0, 1]).fit([[1.0, 2.0]], [1])
    assert fitted.predict([[1.0, 2.0], [9.0, 9.0]]).tolist() == [1, 1]
    assert (PoiseClassifier(classes=[0, 1]).fit([], []).predict_proba(NEW) == 0.5).all()


def test_costs_decide():
    """Whoever takes a 0 for a 1 pays a hundred times."""
    mixed, classes = make_blobs(80, centers=2, cluster_std=4.0, random_state=0)
    y = np.where(np.arange(80) < 20, classes, np.nan)
    dear = [[0.0, 100.0], [1.0, 0.0]]
    plain, careful = (
        PoiseClassifier(classes=[0, 1], cost_matrix=costs, random_state=0).fit(mixed, y)
        for costs in (None, dear)
    )
    P = careful.predict_proba(mixed)
    assert (careful.predict(mixed) == np.argmin(P @ np.array(dear), axis=1)).all()
    assert (careful.predict(mixed) == 0).sum() > (plain.predict(mixed) == 0).sum() > 0


@pytest.mark.parametrize("strategy", [UncertaintySampling, Badge])
def test_their_strategies_take_it(strategy):
    y = labels(KNOWN)
    clf = PoiseClassifier(poise.PWLL(k=6), classes=range(3))
    for _ in range(3):
        (i,) = strategy(random_state=0).query(X, y, clf)
        assert np.isnan(y[i])
        y[i] = CLASSES[i]


def test_it_can_be_cloned():
    copy = clone(PoiseClassifier(poise.WNLL(k=4), classes=[0, 1], missing_label=-1))
    assert copy.get_params()["model__k"] == 4
    with pytest.raises(NotFittedError):
        copy.predict(X)


@pytest.mark.parametrize("model", ["pwll", poise.PWLL, 3])
def test_a_model_of_another_kind(model):
    with pytest.raises(InputError, match=r"expected a classifier of poise, such as poise.PWLL\(\)"):
        PoiseClassifier(model).fit(X, labels(KNOWN))


@pytest.mark.parametrize(
    ("settings", "X", "y", "error"),
    [
        ({}, np.nan, [0, 1], ValueError),
        ({}, [1, 2], [0, 1], ValueError),
        ({}, [[1.0], [2.0]], np.nan, TypeError),
        ({}, [[1.0], [2.0]], [0, 1, 1], ValueError),
        ({"missing_label": "nan"}, [[1.0], [2.0]], [0, 1], TypeError),
        ({"classes": ["a", "b"]}, [[1.0], [2.0]], [0, 1], TypeError),
        ({"cost_matrix": np.eye(2)}, [[1.0], [2.0]], [0, 1], ValueError),
        ({"classes": [0, 1], "cost_matrix": -1}, [[1.0], [2.0]], [0, 1], ValueError),
        ({"random_state": "state"}, [[1.0], [2.0]], [0, 1], ValueError),
    ],
)
def test_arguments_are_checked_as_in_their_classifiers(settings, X, y, error):
    with pytest.raises(error):
        PoiseClassifier(**settings).fit(X, y)


@pytest.mark.parametrize("points", [np.nan, "text", [[1.0, 2.0, 3.0]]])
def test_new_points_are_checked(points):
    fitted = PoiseClassifier().fit(X, labels(KNOWN))
    for predict in (fitted.predict, fitted.predict_proba):
        with pytest.raises(ValueError, match=r"."):
            predict(points)
