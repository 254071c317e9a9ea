"""Class priors: shares are met where the scores allow, and accuracy gains by it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

import poise
from poise.errors import InputError, LabelError
from poise.graph import Graph, knn_graph
from poise.models import Labels, laplace, poisson, pwll
from poise.models.priors import check_priors, match_priors, predict_with_priors
from strategies import seeds


def imbalanced(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Three overlapping clouds of 700, 250 and 50 points."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], [700, 250, 50])
    centres = np.array([[0.0, 0.0, 0.0], [2.2, 0.0, 0.0], [0.0, 2.6, 0.0]])
    return rng.normal(size=(len(y), 3)) + centres[y], y


def two_labels_a_class(y: np.ndarray) -> Labels:
    nodes = np.concatenate([np.flatnonzero(y == c)[:2] for c in np.unique(y)])
    return Labels.of({int(node): int(y[node]) for node in nodes}, len(y))


@pytest.mark.parametrize("model", [pwll, laplace, poisson], ids=lambda f: f.__name__)
def test_priors_raise_the_accuracy_on_imbalanced_classes(model) -> None:  # type: ignore[no-untyped-def]
    gains = []
    for seed in range(3):
        X, y = imbalanced(seed)
        result = model(knn_graph(X, k=10), two_labels_a_class(y))
        priors = np.bincount(y) / len(y)
        match = predict_with_priors(result, priors)
        assert match.error <= 0.001
        np.testing.assert_allclose(match.shares, priors, atol=0.01)
        gains.append((match.codes == y).mean() - (result.codes == y).mean())
    assert np.mean(gains) > 0.02


@given(st.integers(2, 60), st.integers(1, 5), seeds)
def test_shares_are_exact_where_counts_are_whole(n: int, n_classes: int, seed: int) -> None:
    """An assignment with such counts exists, so by duality weights that make it do too."""
    rng = np.random.default_rng(seed)
    n_classes = min(n, n_classes)
    scores = rng.dirichlet(np.full(n_classes, rng.choice([0.3, 1.0, 10.0])), size=n) + 1e-12
    counts = 1 + rng.multinomial(n - n_classes, rng.dirichlet(np.ones(n_classes)))
    match = match_priors(scores, counts / n)
    np.testing.assert_array_equal(np.bincount(match.codes, minlength=n_classes), counts)
    # It is the best of all assignments with these counts, an independent solver says.
    slots = np.repeat(np.arange(n_classes), counts)
    rows, columns = linear_sum_assignment(-np.log(scores)[:, slots])
    best = np.log(scores)[rows, slots[columns]].sum()
    assert np.log(scores)[np.arange(n), match.codes].sum() == pytest.approx(best, abs=1e-6)


@given(st.integers(1, 40), st.integers(2, 4), seeds)
def test_any_scores_and_priors_give_a_result(n: int, n_classes: int, seed: int) -> None:
    """Zeros, ties, tiny scores and priors out of reach: codes that the weights explain."""
    rng = np.random.default_rng(seed)
    scores = 10.0 ** rng.uniform(-300, 0, size=(n, n_classes)) if seed % 3 else np.ones((n, 2))
    n_classes = scores.shape[1]
    scores[rng.random(scores.shape) < 0.3] = 0.0
    if not scores.any():
        return
    priors = rng.dirichlet(np.ones(n_classes)) + 1e-9
    match = match_priors(scores, priors / priors.sum())
    known = scores.any(axis=1)
    assert np.all(scores[known, match.codes[known]] > 0)
    assert np.all(match.codes[~known] == np.argmax(priors))
    assert match.log_weights.max() == 0
    assert np.all(np.isfinite(match.log_weights))
    np.testing.assert_allclose(match.shares.sum(), 1)
    again = match_priors(scores, priors / priors.sum())
    np.testing.assert_array_equal(again.codes, match.codes)


def test_rows_may_be_scaled_and_classes_renamed() -> None:
    rng = np.random.default_rng(0)
    scores = rng.dirichlet(np.ones(3), size=200)
    priors = np.array([0.6, 0.3, 0.1])
    codes = match_priors(scores, priors).codes
    scaled = match_priors(scores * rng.random((200, 1)), priors).codes
    np.testing.assert_array_equal(scaled, codes)
    order = np.array([2, 0, 1])
    np.testing.assert_array_equal(order[match_priors(scores[:, order], priors[order]).codes], codes)


def test_the_priors_that_hold_already_change_nothing() -> None:
    scores = np.eye(4)[np.arange(100) % 4] * 0.7 + 0.1
    match = match_priors(scores, np.full(4, 0.25))
    assert match.error == 0
    assert np.all(match.log_weights == 0)
    np.testing.assert_array_equal(match.codes, np.arange(100) % 4)


def test_labels_are_kept_whatever_the_priors() -> None:
    X, y = imbalanced()
    labels = two_labels_a_class(y)
    match = predict_with_priors(pwll(knn_graph(X, k=10), labels), [0.001, 0.001, 0.998])
    np.testing.assert_array_equal(match.codes[labels.nodes], labels.codes)


def test_nodes_that_are_not_reached_get_the_largest_prior_and_do_not_count() -> None:
    X, y = imbalanced()
    far = np.concatenate([X, 1000 + np.random.default_rng(1).normal(size=(30, 3))])
    graph = knn_graph(far, k=10)
    nodes = np.flatnonzero(y == 2)[:2].tolist() + np.flatnonzero(y == 0)[:3].tolist()
    labels = Labels.of({node: str(y[node]) for node in nodes}, len(far))
    match = predict_with_priors(pwll(graph, labels), {"0": 0.3, "2": 0.7})
    assert np.all(match.codes[len(X) :] == labels.classes.index("2"))
    shares = np.bincount(match.codes[: len(X)], minlength=2) / len(X)
    np.testing.assert_allclose(shares[labels.classes.index("2")], 0.7, atol=0.001)
    np.testing.assert_allclose(match.shares, shares)


def test_priors_out_of_reach_are_approached_and_reported() -> None:
    scores = np.array([[1.0, 0.0]] * 6 + [[0.4, 0.6]] * 4)
    match = match_priors(scores, [0.1, 0.9])
    np.testing.assert_allclose(match.shares, [0.6, 0.4])
    assert match.error == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("priors", "error", "message"),
    [
        ({"a": 0.5}, LabelError, r"no share for \['b'\]"),
        ({"a": 0.5, "b": 0.3, "c": 0.2}, LabelError, r"name \['c'\], which no label has"),
        ([0.5, 0.3, 0.2], InputError, r"shape \(3,\): expected one share for each of the 2"),
        ([0.5, 0.4], InputError, "sum to 0.9"),
        ([1.0, 0.0], InputError, "every share must be positive"),
        ([1.5, -0.5], InputError, "every share must be positive"),
        ([float("nan"), 0.5], InputError, "every share must be positive"),
        (["x", "y"], InputError, "expected a share for each"),
        (0.5, InputError, r"shape \(\)"),
    ],
)
def test_bad_priors_are_named(priors: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        check_priors(priors, ["a", "b"])


def test_priors_are_put_into_the_order_of_the_classes_and_rounded_ones_rescaled() -> None:
    assert check_priors({"b": 0.25, "a": 0.75}, ["a", "b"]).tolist() == [0.75, 0.25]
    assert check_priors([0.33, 0.33, 0.33], "abc").sum() == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize(
    "scores",
    [np.array([[-1.0, 2.0]]), np.array([[np.nan, 1.0]]), np.ones(3), np.full((2, 2), np.inf)],
)
def test_bad_scores_are_named(scores: np.ndarray) -> None:
    with pytest.raises(InputError, match="scores for class priors"):
        match_priors(scores, [0.5, 0.5])


def test_nothing_known_is_an_error() -> None:
    with pytest.raises(InputError, match="no row of scores is known"):
        match_priors(np.zeros((3, 2)), [0.5, 0.5])


def test_the_estimators_take_priors_by_name_and_by_position() -> None:
    X, y = imbalanced()
    labels = two_labels_a_class(y)
    target = np.full(len(y), "-1", dtype="<U6")
    names = np.array(["big", "middle", "small"])
    target[labels.nodes] = names[labels.codes]
    by_name = poise.PWLL(k=10, class_priors={"small": 0.05, "big": 0.7, "middle": 0.25})
    by_name.fit(X, target)
    by_position = poise.PWLL(k=10, class_priors=[0.7, 0.25, 0.05]).fit(X, target)
    np.testing.assert_array_equal(by_name.transduction_, by_position.transduction_)
    shares = [(by_name.transduction_ == name).mean() for name in ("big", "middle", "small")]
    np.testing.assert_allclose(shares, [0.7, 0.25, 0.05], atol=0.01)
    plain = poise.PWLL(k=10).fit(X, target)
    truth = names[y]
    assert (by_name.transduction_ == truth).mean() > (plain.transduction_ == truth).mean()
    assert np.all(plain.log_class_weights_ == 0)
    np.testing.assert_allclose(by_name.label_distributions_.sum(axis=1), 1)
    # New points are predicted with the same weights.
    new, new_y = imbalanced(seed=9)
    assert by_name.score(new, names[new_y]) > plain.score(new, names[new_y])
    np.testing.assert_array_equal(
        by_name.predict(new), by_name.classes_[by_name.predict_proba(new).argmax(axis=1)]
    )


def test_an_estimator_says_when_priors_are_out_of_reach() -> None:
    W = np.zeros((4, 4))
    W[0, 1] = W[1, 0] = W[2, 3] = W[3, 2] = 1.0
    model = poise.PWLL(class_priors={0: 0.9, 1: 0.1})
    with pytest.warns(UserWarning, match=r"do not allow the class priors, predicted is 0 0.500"):
        model.fit(Graph.from_weights(W), [0, -1, 1, -1])
    assert model.transduction_.tolist() == [0, 0, 1, 1]


def test_an_estimator_names_bad_priors() -> None:
    X, y = imbalanced()
    with pytest.raises(InputError, match="class_priors sum to"):
        poise.PWLL(class_priors=[0.5, 0.1, 0.1]).fit(X, y)
    with pytest.raises(LabelError, match="which no label has"):
        poise.PWLL(class_priors={0: 0.5, 1: 0.2, 2: 0.2, 7: 0.1}).fit(X, y)
