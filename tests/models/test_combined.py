"""PWLL, averaged over a short walk, together with a linear model of the features."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

import poise
from poise.errors import UnknownNameError
from poise.models import Labels, models
from poise.models.balance import balance_factors, balanced
from poise.models.combined import (
    ADDED_PROBABILITY,
    INVERSE_PENALTY,
    averaged,
    combine,
    held_out_combined,
    linear_power,
    linear_probabilities,
)
from poise.models.harmonic import Model
from poise.models.held_out import held_out_scores


def told(graph, y, nodes):
    return Labels.of({int(i): int(y[i]) for i in nodes}, graph.n_nodes, range(int(y.max()) + 1))


def fitted(graph, y, nodes):
    labels = told(graph, y, nodes)
    alone = balanced(models.factory("pwll")(graph, labels))
    chosen = np.arange(len(labels))
    held_out = held_out_scores(graph, labels, chosen) * balance_factors(
        models.factory("pwll")(graph, labels).scores
    )
    power = linear_power(graph.features, labels, held_out, chosen)
    return labels, alone, combine(graph, labels, alone, power)


@pytest.fixture(scope="module")
def linear():
    """Two classes that a plane divides and that neighbours do not: 60 dimensions, mostly noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 60))
    y = (X[:, :12].sum(axis=1) > 0).astype(np.int64)
    return poise.knn_graph(X, k=10), y


@pytest.fixture(scope="module")
def spirals():
    """Three arms that wind around each other: neighbours know all, no plane does."""
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
    _, alone, combined_result = fitted(graph, y, nodes)
    assert right(combined_result, y, nodes) > right(alone, y, nodes) + 0.05


@pytest.mark.parametrize("count", [12, 60, 200])
def test_costs_nothing_where_neighbours_know_better(spirals, count):
    graph, y = spirals
    nodes = np.random.default_rng(3).permutation(len(y))[:count]
    _, alone, combined_result = fitted(graph, y, nodes)
    assert right(combined_result, y, nodes) > right(alone, y, nodes) - 0.01


def test_is_the_formula(linear):
    graph, y = linear
    nodes = np.random.default_rng(4).permutation(len(y))[:30]
    labels, alone, _ = fitted(graph, y, nodes)
    combined_result = combine(graph, labels, alone, 0.6)
    X = np.asarray(graph.features, dtype=np.float64)
    X = X - X.mean(axis=0)
    X /= np.sqrt((X**2).sum(axis=1).mean())
    model = LogisticRegression(C=INVERSE_PENALTY, max_iter=1000, tol=1e-8, class_weight="balanced")
    shares = model.fit(X[labels.nodes], labels.codes).predict_proba(X)
    shares = shares / np.sqrt(shares.mean(axis=0))
    values = alone.probabilities + ADDED_PROBABILITY
    values /= values.sum(axis=1, keepdims=True)
    W = graph.weights.toarray()
    for _ in range(2):
        values[labels.nodes] = labels.one_hot
        values = W @ values / W.sum(axis=1, keepdims=True)
    values = ((values + ADDED_PROBABILITY) * shares**0.6) ** (1 / 1.6)
    values /= values.sum(axis=1, keepdims=True)
    values[labels.nodes] = labels.one_hot
    np.testing.assert_allclose(combined_result.scores, values, atol=0.02)


def test_a_class_with_few_labels_is_not_taken_to_be_rare():
    """Features that say nothing: only the number of labels could speak for a class."""
    labels = Labels.of({0: 0, 1: 1, 2: 1, 3: 1, 4: 1}, 6, range(2))
    by_number = linear_probabilities(np.ones((6, 3)), labels)
    alike = linear_probabilities(np.ones((6, 3)), labels, equal_classes=True)
    np.testing.assert_allclose(by_number[:, 0], 0.2, atol=0.01)
    np.testing.assert_allclose(alike, 0.5, atol=0.01)


def test_power_follows_what_predicts_held_out_labels(linear, spirals):
    def power(data, count=80):
        graph, y = data
        labels = told(graph, y, np.random.default_rng(8).permutation(len(y))[:count])
        chosen = np.arange(count)
        return linear_power(graph.features, labels, held_out_scores(graph, labels, chosen), chosen)

    assert power(linear) > 0.6
    assert power(spirals) < 0.2
    assert 0 <= power(linear, 3) < 0.5, "with few labels the prior decides"


def test_labels_keep_their_classes_and_rows_sum_to_one(linear):
    graph, y = linear
    nodes = np.random.default_rng(4).permutation(len(y))[:80]
    labels, _, combined_result = fitted(graph, y, nodes)
    assert (combined_result.codes[labels.nodes] == labels.codes).all()
    np.testing.assert_allclose(combined_result.scores.sum(axis=1), 1.0)


def test_without_features_or_with_one_class_there_is_no_linear_model(linear):
    graph, y = linear
    bare = poise.Graph.from_weights(graph.weights)
    labels, alone, combined_result = fitted(bare, y, np.arange(50))
    np.testing.assert_allclose(
        combined_result.scores,
        averaged(bare, labels, alone.probabilities + ADDED_PROBABILITY),
        atol=1e-12,
    )
    assert linear_probabilities(graph.features, told(graph, y, np.flatnonzero(y)[:40])) is None


def test_a_class_without_a_label_is_never_guessed(linear):
    graph, y = linear
    known = {int(i): int(y[i]) for i in range(20)}
    labels = Labels.of(known, graph.n_nodes, ["nobody", 0, 1])
    alone = balanced(models.factory("pwll")(graph, labels))
    assert (combine(graph, labels, alone, 0.5).scores[:, 0] == 0).all()


@pytest.mark.parametrize("dimensions", [3, 40, 500])
@pytest.mark.parametrize("form", ["dense", "float32", "sparse"])
def test_linear_model_agrees_with_scikit_learn(dimensions, form):
    rng = np.random.default_rng(5)
    X = np.maximum(rng.normal(size=(200, dimensions)), 0)
    y = rng.integers(0, 3, 200)
    features = {"dense": X, "float32": X.astype(np.float32), "sparse": sparse.csr_array(X)}[form]
    labels = Labels.of({int(i): int(y[i]) for i in range(60)}, 200, range(3))
    probabilities = linear_probabilities(features, labels)
    Z = X if form == "sparse" else X - X.mean(axis=0)
    Z = Z / np.sqrt((Z**2).sum(axis=1).mean())
    model = LogisticRegression(C=INVERSE_PENALTY, max_iter=200).fit(Z[:60], y[:60])
    # Up to where the solver stops.
    np.testing.assert_allclose(probabilities, model.predict_proba(Z), atol=0.02)


def test_features_that_are_all_equal():
    labels = Labels.of({0: "a", 1: "b", 2: "b"}, 5, ["a", "b"])
    probabilities = linear_probabilities(np.ones((5, 3)), labels)
    assert np.isfinite(probabilities).all()
    assert (probabilities == probabilities[0]).all()


def test_held_out_labels_are_not_seen(linear):
    """With the class of one label changed, what is said of it stays; what it says changes."""
    graph, y = linear
    nodes = np.sort(np.random.default_rng(6).permutation(len(y))[:10])
    other = y.copy()
    other[nodes[7]] = 1 - y[nodes[7]]
    before = held_out_combined(graph, told(graph, y, nodes), Model(), 0.5)
    after = held_out_combined(graph, told(graph, other, nodes), Model(), 0.5)
    np.testing.assert_allclose(before[7], after[7])
    assert not np.allclose(before, after)


class TestLearner:
    def told(self, graph, y, **settings):
        learner = poise.Learner(graph, **settings)
        nodes = np.random.default_rng(2).permutation(len(y))[:100].tolist()
        learner.tell(nodes, [int(y[i]) for i in nodes])
        return learner

    def test_predicts_with_both(self, linear):
        graph, y = linear
        both, alone = self.told(graph, y), self.told(graph, y, predictor="balanced")
        assert (both.predictions == y).mean() > (alone.predictions == y).mean() + 0.05
        again = poise.Learner.from_json(graph, both.to_json())
        assert (again.predictions == both.predictions).all()
        assert poise.Learner.from_json(graph, alone.to_json()).predictor == "balanced"
        confidence = both.probabilities.max(axis=1).mean()
        assert confidence == pytest.approx((both.predictions == y).mean(), abs=0.1)

    def test_unknown_predictor(self, linear):
        with pytest.raises(UnknownNameError, match="no predictor is called 'lr'"):
            poise.Learner(linear[0], predictor="lr")


def test_a_few_rows_of_the_walk_are_those_of_the_whole(linear):
    graph, y = linear
    labels = told(graph, y, range(0, 300, 10))
    values = np.random.default_rng(2).uniform(0.1, 1.0, size=(graph.n_nodes, 2))
    nodes = np.array([7, 1203, 0, 999])
    np.testing.assert_allclose(
        averaged(graph, labels, values.copy(), nodes),
        averaged(graph, labels, values.copy())[nodes],
        rtol=1e-12,
    )
