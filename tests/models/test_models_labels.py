"""Labels, results and what is refused."""

import numpy as np
import pytest

from poise.errors import GraphError, InputError, LabelError, NodeIndexError, UnknownNameError
from poise.graph import Graph, knn_graph
from poise.models import Labels, ScoreResult, models, properly_weighted, pwll
from poise.models.result import normalise_scores, sign_unit


def test_labels_are_sorted_by_node_and_classes_by_first_use() -> None:
    labels = Labels.of({7: "b", 2: "a", 5: "b"}, 10)
    assert labels.nodes.tolist() == [2, 5, 7]
    assert labels.classes == ("b", "a")
    assert labels.codes.tolist() == [1, 0, 0]
    assert labels.counts.tolist() == [2, 1]
    assert labels.one_hot.tolist() == [[0, 1], [1, 0], [1, 0]]
    assert len(labels) == 3


def test_classes_known_beforehand_come_first() -> None:
    labels = Labels.of({0: "b", 1: "c"}, 3, classes=["a", "b"])
    assert labels.classes == ("a", "b", "c")
    assert labels.counts.tolist() == [0, 1, 1]


def test_a_class_named_twice_is_one() -> None:
    assert Labels.of({0: "b"}, 1, classes=["a", "a", "b"]).classes == ("a", "b")


def test_no_labels_are_labels() -> None:
    labels = Labels.of({}, 3)
    assert len(labels) == 0
    assert labels.classes == ()
    assert labels.one_hot.shape == (0, 0)


@pytest.mark.parametrize("value", [np.int64(3), np.str_("x"), np.bool_(True), "x", 3, False])
def test_numpy_classes_become_python_s(value: object) -> None:
    (label,) = Labels.of({0: value}, 1).classes
    assert type(label) in (str, int, bool)
    assert label == value


@pytest.mark.parametrize("value", [1.0, 0.5, np.float64(2), None, b"x", ("a",), float("nan")])
def test_other_classes_are_refused(value: object) -> None:
    with pytest.raises(LabelError, match="a class must be text, a whole number or a truth value"):
        Labels.of({0: value}, 1)


@pytest.mark.parametrize("answers", [{0: True, 1: 1}, {0: 2, 1: False}, {0: np.bool_(0), 1: 7}])
def test_truth_values_and_numbers_do_not_mix(answers: dict[int, object]) -> None:
    with pytest.raises(LabelError, match="mix truth values and whole numbers"):
        Labels.of(answers, 2)


@pytest.mark.parametrize("node", [-1, 10, 10**12, np.int64(-3)])
def test_a_node_out_of_range_is_named(node: int) -> None:
    with pytest.raises(NodeIndexError, match=rf"there is no node {node}: .* 0 to 9"):
        Labels.of({node: "a"}, 10)


@pytest.mark.parametrize("node", [True, np.bool_(False), 1.0, "1", None, (1,)])
def test_a_node_is_a_whole_number(node: object) -> None:
    with pytest.raises(NodeIndexError, match="whole number"):
        Labels.of({node: "a"}, 10)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0.0}, "alpha is 0.0"),
        ({"zeta": 1.0}, "zeta is 1.0"),
        ({"radius": -1.0}, "radius is -1.0"),
        ({"alpha": float("nan")}, "alpha is nan"),
    ],
)
def test_properly_weighted_names_bad_parameters(options: dict[str, float], message: str) -> None:
    graph = knn_graph(np.random.default_rng(0).normal(size=(20, 2)), k=3)
    with pytest.raises(InputError, match=message):
        properly_weighted(graph, Labels.of({0: 0}, 20), **options)


def test_properly_weighted_needs_features() -> None:
    graph = Graph.from_weights(np.ones((3, 3)) - np.eye(3))
    with pytest.raises(GraphError, match="needs the features"):
        properly_weighted(graph, Labels.of({0: 0}, 3))


def test_an_unknown_model_is_named_with_the_others() -> None:
    with pytest.raises(UnknownNameError, match=r"no model is called 'magic': there are laplace"):
        models.factory("magic")


def test_rows_of_zeros_are_the_most_frequent_class_and_not_the_first() -> None:
    """With a large tau nothing arrives at the far end of a path."""
    n = 300
    graph = Graph.from_weights(np.eye(n, k=1) + np.eye(n, k=-1))
    labels = Labels.of({0: "a", 1: "b", 2: "b"}, n, classes=["a", "b"])
    result = pwll(graph, labels, tau=100.0)
    assert result.reached.all()
    silent = ~result.scores.any(axis=1)
    assert silent.any()
    assert np.all(result.codes[silent] == 1)
    np.testing.assert_allclose(result.probabilities[silent], [[1 / 3, 2 / 3]] * silent.sum())
    np.testing.assert_array_equal(result.codes, result.probabilities.argmax(axis=1))


def test_a_result_without_classes_predicts_nothing() -> None:
    result = ScoreResult(np.zeros((4, 0)), (), np.zeros(4, dtype=bool), np.zeros(0))
    assert result.codes.tolist() == [-1] * 4
    assert result.probabilities.shape == (4, 0)
    assert result.norms.tolist() == [0] * 4


def test_tiny_scores_keep_their_proportions() -> None:
    scores = np.array([[3e-310, 1e-310], [3e-20, 1e-20], [3.0, 1.0]])
    rows = normalise_scores(scores, np.ones(3, dtype=bool), np.full(2, 0.5))
    np.testing.assert_allclose(rows, [[0.75, 0.25]] * 3)


def test_scores_with_signs_go_through_a_softmax_in_their_own_unit() -> None:
    scores = np.array([[-2.0, 2.0], [1.0, -3.0]])
    unit = sign_unit(scores)
    assert unit == 2.0
    known, fallback = np.ones(2, dtype=bool), np.full(2, 0.5)
    rows = normalise_scores(scores, known, fallback, unit)
    expected = np.exp(scores / 2) / np.exp(scores / 2).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(rows, expected)
    scaled = normalise_scores(1e9 * scores, known, fallback, sign_unit(1e9 * scores))
    np.testing.assert_allclose(scaled, rows)
    assert sign_unit(np.abs(scores)) == 0.0


def test_rows_not_known_get_the_fallback() -> None:
    rows = normalise_scores(
        np.array([[1.0, 1.0], [0.0, 0.0], [1.0, 0.0]]),
        np.array([True, True, False]),
        np.array([0.2, 0.8]),
    )
    np.testing.assert_allclose(rows, [[0.5, 0.5], [0.2, 0.8], [0.2, 0.8]])
