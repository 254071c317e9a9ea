"""DropQuery and BADGE, and their classifier, against brute force and scikit-activeml."""

import dataclasses
import importlib

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.linear_model import LogisticRegression

import poise
from poise.active.acquisition import DropQuery
from poise.active.acquisition.badge import gradient_distances
from poise.active.acquisition.dropquery import changes, cluster_centres
from poise.active.acquisition.linear_classifier import fit, scaled_points, some_candidates

GIVEN = [3, 50, 100]


@pytest.fixture
def pool():
    pytest.importorskip("skactiveml", reason="needs the package scikit-activeml")
    return importlib.import_module("skactiveml.pool")


def learner(blobs, acquisition, nodes):
    graph, y = blobs
    return poise.Learner(graph, {node: int(y[node]) for node in nodes}, acquisition=acquisition)


def partly_labelled(y, nodes):
    known = np.full(len(y), np.nan)
    known[nodes] = y[nodes]
    return known


def logistic_regression():
    module = importlib.import_module("skactiveml.classifier")
    return module.SklearnClassifier(LogisticRegression(tol=1e-3), classes=range(3))


class TestLinearClassifier:
    @pytest.mark.parametrize("n_classes", [2, 4])
    @pytest.mark.parametrize("d", [5, 80])
    @pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
    def test_is_logistic_regression(self, n_classes, d, form):
        rng = np.random.default_rng(0)
        X, codes = rng.normal(size=(40, d)), np.arange(40) % n_classes
        expected = LogisticRegression(tol=1e-8, max_iter=10_000).fit(X, codes).predict_proba(X)
        assert fit(form(X), codes, n_classes).probabilities(form(X)) == pytest.approx(
            expected, abs=0.01
        )

    def test_a_class_without_labels_is_never_predicted(self):
        X = np.random.default_rng(0).normal(size=(30, 3))
        p = fit(X, np.arange(30) % 2 * 2, 4).probabilities(X)
        assert (p[:, [1, 3]] == 0).all()
        assert p.sum(axis=1) == pytest.approx(1.0)

    def test_points_have_one_scale(self):
        X = 1e6 * np.random.default_rng(0).normal(size=(60, 4))
        dense = scaled_points(poise.knn_graph(X, k=5))
        thin = scaled_points(poise.knn_graph(sparse.csr_array(X), k=5))
        assert (dense**2).mean() == pytest.approx(1.0, rel=1e-5)
        assert thin.toarray() == pytest.approx(dense, rel=1e-5)

    def test_many_numbers_mean_a_subset(self):
        mask = np.arange(100) % 2 == 0
        some = some_candidates(mask, np.ones((100, 10)), np.random.default_rng(0), numbers=200)
        assert len(set(some.tolist())) == 20
        assert mask[some].all()


class TestDropQuery:
    def test_scikit_activeml_asks_the_same(self, blobs, pool):
        """Everything is dropped, so that chance has no say: one cluster, of the other classes."""
        graph, y = blobs
        theirs = pool.DropQuery(dropout_rate=0.9999, n_dropout_samples=3, random_state=0)
        known = partly_labelled(y, [3, 5, 50, 100])
        expected = theirs.query(scaled_points(graph).astype(float), known, logistic_regression())
        ours = learner(blobs, DropQuery(dropout=0.9999, batch=1), [3, 5, 50, 100]).ask()
        assert ours.tolist() == expected.tolist()

    def test_changes_by_brute_force(self):
        """Two features of which one decides: its loss, in half of the masks, hides the class."""
        X = np.column_stack([np.ones(4000), np.zeros(4000)])
        line = fit(np.array([[1.0, 0.0], [-1.0, 0.0], [-1.1, 0.0]]), np.array([1, 0, 0]), 2)
        assert line.b[1] < line.b[0]
        rng = np.random.default_rng(0)
        for points in (X, sparse.csr_array(X)):
            count = changes(line, points, 4, 0.5, rng)
            shares = np.bincount(count, minlength=5) / 4000
            assert shares == pytest.approx(np.array([1, 4, 6, 4, 1]) / 16, abs=0.03)

    def test_rounds_visit_clusters_by_size(self, blobs):
        X, y = blobs[0].features, np.repeat([0, 1, 2], [60, 40, 20])
        X = X + 100.0 * np.array([[0, 0], [1, 0], [0, 1]])[y]
        graph = poise.knn_graph(X, k=7)
        learner = poise.Learner(graph, {}, acquisition=DropQuery(batch=3))
        nodes = learner.ask(6)
        assert y[nodes].tolist() == [0, 1, 2, 0, 1, 2]
        centre = X[:60].mean(axis=0)
        assert nodes[0] == np.argmin(np.linalg.norm(X[:60] - centre, axis=1))

    def test_fewer_points_than_clusters(self):
        X = np.array([[0.0], [0.0], [1.0]])
        assert set(cluster_centres(X, np.arange(3), 5, 0).tolist()) <= {0, 1, 2}


class TestBadge:
    @pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
    def test_distances_of_the_gradients(self, form):
        rng = np.random.default_rng(0)
        X, codes = rng.normal(size=(60, 4)), np.arange(60) % 3
        model = fit(X[:20], codes[:20], 3)
        p = model.probabilities(X)
        factors = p - np.eye(3)[p.argmax(axis=1)]
        gradients = (factors[:, :, None] * X[:, None, :]).reshape(60, 12)
        centres = np.vstack([np.zeros(12), gradients[[7, 30]]])
        expected = cdist(gradients, centres).min(axis=1) ** 2
        distances = gradient_distances(model, form(X), form(X[[7, 30]]))
        assert distances == pytest.approx(expected, abs=1e-5)
        assert distances[7] == distances[30] == 0

    def test_scikit_activeml_has_the_same_probabilities(self, blobs, pool):
        graph, y = blobs
        X = scaled_points(graph).astype(float)
        chosen, theirs = pool.Badge(random_state=0).query(
            X, partly_labelled(y, GIVEN), logistic_regression(), batch_size=2, return_utilities=True
        )
        model = fit(X[GIVEN], y[GIVEN], 3)
        rest = np.setdiff1d(np.arange(120), GIVEN)
        for step, centres in enumerate([X[:0], X[chosen[:1]]]):
            squares = gradient_distances(model, X[rest], centres)
            expected = np.nan_to_num(theirs[step][rest])
            assert squares / squares.sum() == pytest.approx(expected, abs=1e-5)

    def test_draws_in_proportion(self, blobs):
        some = learner(blobs, "badge", GIVEN)
        snapshot = some.snapshot()
        rng = np.random.default_rng(0)
        draws = [
            np.nanargmax(
                np.where(
                    snapshot.candidates,
                    some.acquisition(dataclasses.replace(snapshot, rng=rng)),
                    np.nan,
                )
            )
            for _ in range(600)
        ]
        X = scaled_points(some.graph)
        labels = snapshot.labels
        squares = gradient_distances(fit(X[labels.nodes], labels.codes, 3), X, X[:0])
        squares[~snapshot.candidates] = 0
        likely = squares > np.quantile(squares, 0.8)
        share = squares[likely].sum() / squares.sum()
        assert np.mean(likely[draws]) == pytest.approx(share, abs=0.06)
