"""The estimators: points or a graph in, -1 for not labelled, new points predicted."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from test_estimator_checks import ESTIMATORS

import poise
from poise.errors import FeatureError, GraphError, InputError, LabelError, UnknownNameError
from poise.models import Labels, laplace, poisson, properly_weighted, pwll, wnll

every_estimator = pytest.mark.parametrize("model", ESTIMATORS, ids=lambda e: type(e).__name__)


@pytest.fixture(scope="module")
def digits() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """500 images, their digits, and a target with 50 of them known."""
    X, digits = load_digits(return_X_y=True)
    X, digits = X[:500], digits[:500]
    return X, digits, np.where(np.arange(500) < 50, digits, -1)


@every_estimator
def test_an_estimator_is_its_pure_function(model, digits) -> None:  # type: ignore[no-untyped-def]
    X, truth, y = digits
    fitted = clone(model).fit(X, y)
    functions = {
        "PWLL": pwll,
        "LaplaceLearning": laplace,
        "PoissonLearning": poisson,
        "WNLL": wnll,
        "ProperlyWeighted": properly_weighted,
    }
    labels = Labels.of({i: int(truth[i]) for i in range(50)}, 500, classes=range(10))
    result = functions[type(model).__name__](poise.knn_graph(X, k=20), labels)
    np.testing.assert_array_equal(fitted.scores_, result.scores)
    np.testing.assert_array_equal(fitted.transduction_, result.codes)
    np.testing.assert_array_equal(fitted.label_distributions_, result.probabilities)
    np.testing.assert_array_equal(fitted.reached_, result.reached)
    assert fitted.classes_.tolist() == list(range(10))
    assert fitted.n_features_in_ == 64
    assert fitted.graph_.n_nodes == 500
    accuracy = (fitted.transduction_ == truth).mean()
    assert accuracy > (0.5 if isinstance(model, poise.LaplaceLearning) else 0.85)


@every_estimator
def test_a_graph_gives_what_its_points_give(model, digits) -> None:  # type: ignore[no-untyped-def]
    X, truth, y = digits
    graph = poise.knn_graph(X, k=20)
    on_graph, on_points = clone(model).fit(graph, y), clone(model).fit(X, y)
    assert on_graph.graph_ is graph
    assert on_graph.n_features_in_ == 64
    np.testing.assert_array_equal(on_graph.scores_, on_points.scores_)
    np.testing.assert_array_equal(on_graph.predict(graph), on_graph.transduction_)
    np.testing.assert_array_equal(on_graph.predict_proba(graph), on_graph.label_distributions_)
    same = poise.knn_graph(X, k=20)  # another object with the same weights
    np.testing.assert_array_equal(on_graph.predict(same), on_graph.transduction_)
    np.testing.assert_array_equal(on_points.predict(graph), on_points.transduction_)
    assert on_graph.score(graph, truth) == (on_graph.transduction_ == truth).mean()
    np.testing.assert_array_equal(on_graph.predict(X[:20]), on_points.predict(X[:20]))


@every_estimator
def test_new_points_follow_their_neighbours(model, digits) -> None:  # type: ignore[no-untyped-def]
    X, truth, y = digits
    fitted = clone(model).fit(X[:400], y[:400])
    weights = fitted.graph_.out_of_sample_weights(X[400:])
    averages = weights @ fitted.scores_
    np.testing.assert_array_equal(fitted.predict(X[400:]), fitted.classes_[averages.argmax(axis=1)])
    probabilities = fitted.predict_proba(X[400:])
    assert probabilities.shape == (100, 10)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    if not isinstance(model, poise.LaplaceLearning):
        assert fitted.score(X[400:], truth[400:]) > 0.7
    # A point at a training point is predicted as that one, nearly always.
    assert (fitted.predict(X[:400]) == fitted.transduction_).mean() > 0.93
    # One point at a time or all at once: the same.
    one_by_one = np.vstack([fitted.predict_proba(X[i : i + 1]) for i in range(400, 403)])
    np.testing.assert_allclose(one_by_one, probabilities[:3], atol=1e-12)


@every_estimator
def test_sparse_features(model, digits) -> None:  # type: ignore[no-untyped-def]
    X, _, y = digits
    dense = clone(model).fit(X, y)
    for form in (sparse.csr_array, sparse.csc_matrix):
        fitted = clone(model).fit(form(X), y)
        np.testing.assert_allclose(fitted.scores_, dense.scores_, atol=1e-6)
        np.testing.assert_array_equal(fitted.predict(form(X[:50])), dense.predict(X[:50]))


def test_parameters_reach_the_model(digits) -> None:  # type: ignore[no-untyped-def]
    X, truth, y = digits
    labels = Labels.of({i: int(truth[i]) for i in range(50)}, 500, classes=range(10))
    graph = poise.knn_graph(X, k=7, metric="cosine", kernel="uniform")
    fitted = poise.PWLL(0.1, 1e-3, k=7, metric="cosine", kernel="uniform").fit(X, y)
    assert fitted.graph_.fingerprint == graph.fingerprint
    expected = pwll(graph, labels, tau=0.1, shift=1e-3).scores
    np.testing.assert_array_equal(fitted.scores_, expected)
    fitted = poise.LaplaceLearning(tau=0.1, k=7).fit(graph, y)
    np.testing.assert_array_equal(fitted.scores_, laplace(graph, labels, tau=0.1).scores)
    fitted = poise.WNLL(tau=0.1).fit(graph, y)
    np.testing.assert_array_equal(fitted.scores_, wnll(graph, labels, tau=0.1).scores)
    options = {"alpha": 3.0, "zeta": 1e6, "radius": 2.0, "tau": 0.1}
    fitted = poise.ProperlyWeighted(**options).fit(graph, y)
    expected = properly_weighted(graph, labels, **options).scores
    np.testing.assert_array_equal(fitted.scores_, expected)


@pytest.mark.parametrize(
    ("y", "classes", "labelled"),
    [
        (np.array([3, -1, 7, -1, 3]), [3, 7], [0, 2, 4]),
        ([3, -1, 7, -1, 3], [3, 7], [0, 2, 4]),
        (np.array([3.0, -1.0, 7.0, -1.0, 3.0]), [3.0, 7.0], [0, 2, 4]),
        (np.array([3, 4, 7, 4, 3], dtype=np.uint8), [3, 4, 7], [0, 1, 2, 3, 4]),
        (np.array([True, False, True, True, False]), [False, True], [0, 1, 2, 3, 4]),
        (["cat", -1, "dog", -1, "cat"], ["cat", "dog"], [0, 2, 4]),  # NumPy makes "-1" of it
        (np.array(["cat", "-1", "dog", "-1", "cat"]), ["cat", "dog"], [0, 2, 4]),
        (np.array(["cat", -1, "dog", None, "cat"], dtype=object), ["cat", "dog"], [0, 2, 4]),
        (np.array(["cat", np.nan, "dog", None, "cat"], dtype=object), ["cat", "dog"], [0, 2, 4]),
        (np.array([True, None, False, -1, True], dtype=object), [False, True], [0, 2, 4]),
        (np.array([3, None, 7, -1, 3], dtype=object), [3, 7], [0, 2, 4]),
    ],
)
def test_targets(y, classes, labelled) -> None:  # type: ignore[no-untyped-def]
    graph = poise.Graph.from_weights(np.ones((5, 5)) - np.eye(5))
    model = poise.PWLL().fit(graph, y)
    assert model.classes_.tolist() == classes
    assert model.classes_.dtype != object
    values = np.asarray(y, dtype=object)
    assert model.transduction_[labelled].tolist() == [values[i] for i in labelled]
    assert model.scores_.shape == (5, len(classes))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed, but the target y is None"),
        ([0, 1], "y has 2 entries for 5 points"),
        ([-1] * 5, "there are no labels"),
        ([None] * 5, "there are no labels"),
        ([0.5, 1.0, 2.0, -1.0, -1.0], "Unknown label type"),
        ([np.inf, 1.0, 1.0, 1.0, 0.0], "infinity"),
        (np.array([True, 1, 0, None, None], dtype=object), "mix truth values and whole numbers"),
        (np.array(["a", 1, 0, None, None], dtype=object), "mix text and numbers"),
        (np.array([0.5, None, "a", "b", "c"], dtype=object), "a class must be text"),
        (np.zeros((5, 2)), "1d array"),
    ],
)
def test_bad_targets_are_named(y: object, message: str) -> None:
    graph = poise.Graph.from_weights(np.ones((5, 5)) - np.eye(5))
    with pytest.raises(LabelError, match=message):
        poise.PWLL().fit(graph, y)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.full((5, 2), np.nan), "NaN"),
        (np.ones((1, 2)), "minimum of 2"),
        (np.ones((0, 2)), "minimum of 2"),
        (np.ones(5), "expected a 2D array"),
        ([["a", "b"]] * 5, "could not convert"),
    ],
)
def test_bad_features_are_named(X: object, message: str) -> None:
    with pytest.raises(FeatureError, match=message):
        poise.PWLL().fit(X, np.zeros(5, dtype=int))


def test_bad_parameters_are_named(digits) -> None:  # type: ignore[no-untyped-def]
    X, _, y = digits
    for options, message in (
        ({"tau": -1.0}, "tau is"),
        ({"shift": 0.0}, "shift is"),
        ({"k": 0}, "k is 0"),
        ({"k": 2.5}, "k is 2.5"),
        ({"kernel": 3}, "kernel is 3"),
    ):
        with pytest.raises(InputError, match=message):
            poise.PWLL(**options).fit(X, y)
    with pytest.raises(UnknownNameError, match="no metric is called 'magic'"):
        poise.PWLL(metric="magic").fit(X, y)


def test_k_is_at_most_the_number_of_other_points() -> None:
    X = np.random.default_rng(0).normal(size=(6, 2))
    model = poise.PWLL().fit(X, [0, 1, -1, -1, -1, -1])
    assert model.graph_.construction.k == 5
    assert model.k is None
    with pytest.raises(InputError, match="the largest k allowed is 5"):
        poise.PWLL(k=20).fit(X, [0, 1, -1, -1, -1, -1])
    assert poise.PWLL(k=3).fit(X, [0, 1, -1, -1, -1, -1]).graph_.construction.k == 3


def test_new_points_need_features_and_graphs_need_to_be_the_same(digits) -> None:  # type: ignore[no-untyped-def]
    X, _, y = digits
    bare = poise.Graph.from_weights(poise.knn_graph(X, k=20).weights)
    model = poise.PWLL().fit(bare, y)
    assert not hasattr(model, "n_features_in_")
    np.testing.assert_array_equal(model.predict(bare), model.transduction_)
    with pytest.raises(GraphError, match="holds no features"):
        model.predict(X[:3])
    with pytest.raises(GraphError, match="not the graph that this model was fitted on"):
        model.predict(poise.knn_graph(X, k=10))
    with pytest.raises(FeatureError, match="3 features"):
        poise.PWLL().fit(X, y).predict(X[:, :3])
    with pytest.raises(NotFittedError):
        poise.PWLL().predict(X)


def test_a_second_fit_forgets_the_first(digits) -> None:  # type: ignore[no-untyped-def]
    X, _, y = digits
    model = poise.PWLL(class_priors=np.full(10, 0.1)).fit(X, y)
    triangle = poise.Graph.from_weights(np.ones((3, 3)) - np.eye(3))
    model.set_params(class_priors=None).fit(triangle, [0, 1, -1])
    assert not hasattr(model, "n_features_in_")
    assert model.classes_.tolist() == [0, 1]
    assert np.all(model.log_class_weights_ == 0)


def test_points_far_from_every_label_get_the_most_frequent_class() -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(30, 2)), rng.normal(size=(30, 2)) + 1000])
    y = np.full(60, -1)
    y[:5] = [2, 1, 1, 1, 2]
    model = poise.PWLL(k=5).fit(X, y)
    assert model.reached_.tolist() == [True] * 30 + [False] * 30
    assert np.all(model.transduction_[30:] == 1)
    new = np.full((1, 2), 1000.0)
    assert model.predict(new).tolist() == [1]
    np.testing.assert_allclose(model.predict_proba(new), [[0.6, 0.4]])


@every_estimator
def test_pickled_estimators_predict_the_same(model, digits) -> None:  # type: ignore[no-untyped-def]
    X, _, y = digits
    fitted = clone(model).fit(X, y)
    loaded = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(loaded.predict_proba(X[:20]), fitted.predict_proba(X[:20]))
    np.testing.assert_array_equal(loaded.predict(fitted.graph_), fitted.transduction_)


def test_grid_search_works(digits) -> None:  # type: ignore[no-untyped-def]
    X, truth, _ = digits
    search = GridSearchCV(poise.PWLL(), {"k": [5, 10], "tau": [0.0, 1.0]}, cv=3).fit(X, truth)
    assert search.best_score_ > 0.9


def test_importing_poise_does_not_import_scikit_learn() -> None:
    seen = "print('sklearn' in sys.modules)"
    code = f"import sys, poise; {seen}; poise.PWLL; {seen}"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "True"]


def test_tables_of_pandas() -> None:
    """Names of columns are kept and compared; missing classes are not labelled."""
    pandas = pytest.importorskip("pandas", reason="needs the package pandas")
    table = pandas.DataFrame(np.random.default_rng(0).normal(size=(9, 2)), columns=["a", "b"])
    for missing in (None, np.nan, pandas.NA, -1, "-1"):
        y = pandas.Series(["cat", "dog"] + [missing] * 7)
        model = poise.PWLL(k=3).fit(table, y)
        assert model.classes_.tolist() == ["cat", "dog"]
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert model.predict(table).shape == (9,)
    with pytest.raises(FeatureError, match="feature names should match"):
        model.predict(table.rename(columns={"a": "c"}))
    assert not hasattr(model.fit(table.to_numpy(), y), "feature_names_in_")


@every_estimator
def test_every_estimator_has_a_relative_residual(model, digits) -> None:  # type: ignore[no-untyped-def]
    X, _, y = digits
    with pytest.raises(InputError, match=r"rtol is -1\.0: a relative tolerance must be positive"):
        clone(model).set_params(rtol=-1.0).fit(X, y)
    fitted = clone(model).set_params(rtol=1e-6).fit(X, y)
    np.testing.assert_allclose(fitted.scores_, clone(model).fit(X, y).scores_, atol=1e-3)
