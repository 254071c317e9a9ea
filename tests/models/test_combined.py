"""PWLL together with a linear model, where held-out labels say that it helps."""

import numpy as np
import pytest

import poise
from poise.errors import UnknownNameError
from poise.models import Labels, models
from poise.models.combined import LEAST, combine, linear_features, surest
from poise.models.harmonic import Model


def fitted(graph, y, nodes):
    labels = Labels.of({int(i): int(y[i]) for i in nodes}, graph.n_nodes, range(int(y.max()) + 1))
    alone = models.factory("pwll")(graph, labels)
    return labels, alone, combine(graph, labels, alone, Model())


@pytest.fixture(scope="module")
def linear():
    """Two classes that a plane divides and that neighbours do not: 60 dimensions, mostly noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 60))
    y = (X[:, :12].sum(axis=1) > 0).astype(np.int64)
    return poise.knn_graph(X, k=10), y


@pytest.fixture(scope="module")
def rings():
    """Three rings in the plane: neighbours know all, no line divides them."""
    rng = np.random.default_rng(1)
    y = np.repeat(np.arange(3), 300)
    angle = rng.uniform(0, 2 * np.pi, 900)
    radius = 1.0 + y + rng.normal(size=900) * 0.05
    return poise.knn_graph(
        np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), k=10
    ), y


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


def test_stays_away_where_neighbours_know_better(rings):
    graph, y = rings
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


@pytest.mark.parametrize("points", [5, 150])
def test_linear_features_are_few_and_scaled(points):
    X = linear_features(np.random.default_rng(0).normal(3, 2, size=(points, 120)))
    assert X.shape[1] <= 120
    assert np.mean((X**2).sum(axis=1)) == pytest.approx(1.0)
    same = linear_features(np.ones((4, 3)))
    assert np.isfinite(same).all()


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

    def test_predicts_with_both_by_default(self, linear):
        graph, y = linear
        both, alone = self.told(graph, y), self.told(graph, y, predictor="pwll")
        assert (both.predictions == y).mean() > (alone.predictions == y).mean() + 0.05
        again = poise.Learner.from_json(graph, both.to_json())
        assert (again.predictions == both.predictions).all()
        assert (poise.Learner.from_json(graph, alone.to_json()).predictor) == "pwll"
        confidence = both.probabilities.max(axis=1).mean()
        assert confidence == pytest.approx((both.predictions == y).mean(), abs=0.1)

    def test_unknown_predictor(self, linear):
        with pytest.raises(UnknownNameError, match="no predictor is called 'lr'"):
            poise.Learner(linear[0], predictor="lr")
