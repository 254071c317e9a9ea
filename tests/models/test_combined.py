"""PWLL together with a kernel model, where held-out labels say that it helps."""

import numpy as np
import pytest

import poise
from poise.errors import UnknownNameError
from poise.models import Labels, models
from poise.models.balance import balanced
from poise.models.combined import LANDMARKS, LEAST, combine, kernel_features, surest
from poise.models.harmonic import Model


def fitted(graph, y, nodes):
    labels = Labels.of({int(i): int(y[i]) for i in nodes}, graph.n_nodes, range(int(y.max()) + 1))
    alone = balanced(models.factory("pwll")(graph, labels))
    return labels, alone, combine(graph, labels, alone, Model())


@pytest.fixture(scope="module")
def linear():
    """Two classes that a plane divides and that neighbours do not: 60 dimensions, mostly noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 60))
    y = (X[:, :12].sum(axis=1) > 0).astype(np.int64)
    return poise.knn_graph(X, k=10), y


@pytest.fixture(scope="module")
def spirals():
    """Three arms that wind around each other: neighbours know all, no smooth boundary does."""
    rng = np.random.default_rng(1)
    y = np.repeat(np.arange(3), 400)
    turn = rng.uniform(0.5, 4.0, 1200)
    angle = 2 * np.pi * (turn + y / 3)
    X = np.column_stack([turn * np.cos(angle), turn * np.sin(angle)])
    return poise.knn_graph(X + rng.normal(size=X.shape) * 0.02, k=10), y


def right(result, y, nodes):
    rest = np.ones(len(y), dtype=bool)
    rest[nodes] = False
    return (result.codes == y)[rest].mean()


def test_helps_where_classes_are_linear(linear):
    graph, y = linear
    nodes = np.random.default_rng(2).permutation(len(y))[:100]
    _, alone, found = fitted(graph, y, nodes)
    assert found.held_out is not None
    assert right(found.result, y, nodes) > right(alone, y, nodes) + 0.05


def test_stays_away_where_neighbours_know_better(spirals):
    graph, y = spirals
    nodes = np.random.default_rng(3).permutation(len(y))[:60]
    _, alone, found = fitted(graph, y, nodes)
    assert found.held_out is None
    assert found.result is alone


def test_labels_keep_their_classes_and_rows_sum_to_one(linear):
    graph, y = linear
    nodes = np.random.default_rng(4).permutation(len(y))[:80]
    labels, _, found = fitted(graph, y, nodes)
    assert (found.result.codes[labels.nodes] == labels.codes).all()
    np.testing.assert_allclose(found.result.scores.sum(axis=1), 1.0)
    assert found.held_out.shape == (80, 2)


def test_without_features_or_evidence_pwll_is_alone(linear):
    graph, y = linear
    bare = poise.Graph.from_weights(graph.weights)
    assert fitted(bare, y, np.arange(50))[2].held_out is None
    assert fitted(graph, y, np.arange(LEAST - 1))[2].held_out is None
    one = np.flatnonzero(y == 0)[:40]
    assert fitted(graph, y, one)[2].held_out is None


def test_surest_points_of_every_class():
    probabilities = np.array(
        [[0.9, 0.1], [0.6, 0.4], [0.4, 0.6], [0.1, 0.9], [0.8, 0.2], [0.5, 0.5]]
    )
    guess = probabilities.argmax(axis=1)
    assert surest(probabilities, guess).tolist() == [0, 4, 3]


@pytest.mark.parametrize("shape", [(2, 3), (5, 120), (150, 120), (400, 4)])
def test_products_of_the_features_are_the_kernel(shape):
    X = np.random.default_rng(0).normal(3, 2, size=shape)
    F = kernel_features(X)
    assert F.shape == (shape[0], min(shape[0], LANDMARKS))
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    if shape[0] <= LANDMARKS and shape[1] <= 100:  # every point is a landmark, none projected
        expected = np.exp(-squares / np.median(squares[squares > 0]))
        np.testing.assert_allclose(F @ F.T, expected, atol=1e-6)
    assert np.isfinite(kernel_features(np.ones((4, 3)))).all()


def test_sparse_features():
    from scipy import sparse

    rng = np.random.default_rng(5)
    X = np.maximum(rng.normal(size=(300, 40)) - 0.5, 0)
    y = (X[:, :10].sum(axis=1) > X[:, 10:20].sum(axis=1)).astype(np.int64)
    graph = poise.knn_graph(sparse.csr_array(X), k=8)
    _, _, found = fitted(graph, y, rng.permutation(300)[:60])
    assert found.result.scores.shape == (300, 2)


class TestLearner:
    def told(self, graph, y, **settings):
        learner = poise.Learner(graph, **settings)
        nodes = np.random.default_rng(2).permutation(len(y))[:100].tolist()
        learner.tell(nodes, [int(y[i]) for i in nodes])
        return learner

    def test_predicts_with_both_if_asked_to(self, linear):
        graph, y = linear
        both, alone = self.told(graph, y, predictor="combined"), self.told(graph, y)
        assert (both.predictions == y).mean() > (alone.predictions == y).mean() + 0.05
        again = poise.Learner.from_json(graph, both.to_json())
        assert (again.predictions == both.predictions).all()
        assert (poise.Learner.from_json(graph, alone.to_json()).predictor) == "auto"
        confidence = both.probabilities.max(axis=1).mean()
        assert confidence == pytest.approx((both.predictions == y).mean(), abs=0.1)

    def test_unknown_predictor(self, linear):
        with pytest.raises(UnknownNameError, match="no predictor is called 'lr'"):
            poise.Learner(linear[0], predictor="lr")
