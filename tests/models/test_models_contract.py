"""What every registered model must do: a new one is tested by existing."""

import inspect

import numpy as np
import pytest

from poise.errors import InputError, LabelError
from poise.graph import Graph, knn_graph
from poise.models import Labels, ScoreResult, models

every_model = pytest.mark.parametrize("name", list(models))


def clusters(n_each: int = 40, n_classes: int = 3, seed: int = 0) -> tuple[Graph, np.ndarray]:
    """Well separated clouds, joined into one graph or not as it comes, and their classes."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_classes), n_each)
    X = rng.normal(size=(len(y), 4)) + 4.0 * np.eye(n_classes, 4)[y]
    return knn_graph(X, k=8), y


def labels_of(y: np.ndarray, per_class: int = 2) -> Labels:
    nodes = np.concatenate([np.flatnonzero(y == c)[:per_class] for c in np.unique(y)])
    return Labels.of({int(node): f"class {y[node]}" for node in nodes}, len(y))


def run(name: str, graph: Graph, labels: Labels, **options: float) -> ScoreResult:
    result = models.factory(name)(graph, labels, **options)
    assert isinstance(result, ScoreResult)
    return result


def test_the_names_are_known() -> None:
    assert set(models) >= {"laplace", "poisson", "properly-weighted", "pwll", "wnll"}


@every_model
def test_scores_are_finite_complete_and_the_same_every_time(name: str) -> None:
    graph, y = clusters()
    labels = labels_of(y)
    result = run(name, graph, labels)
    assert result.scores.shape == (graph.n_nodes, 3)
    assert result.scores.dtype == np.float64
    assert np.all(np.isfinite(result.scores))
    assert result.classes == labels.classes
    assert result.reached.shape == (graph.n_nodes,)
    np.testing.assert_array_equal(run(name, graph, labels).scores, result.scores)
    again, _ = clusters()
    np.testing.assert_array_equal(run(name, again, labels).scores, result.scores)


@every_model
def test_labels_are_reproduced_and_clusters_found(name: str) -> None:
    graph, y = clusters()
    labels = labels_of(y)
    result = run(name, graph, labels)
    np.testing.assert_array_equal(result.codes[labels.nodes], labels.codes)
    if name != "laplace":  # two labels a class are too few for it
        assert (result.codes == y).mean() > 0.9


@every_model
def test_probabilities_are_a_distribution_that_agrees_with_the_prediction(name: str) -> None:
    graph, y = clusters()
    result = run(name, graph, labels_of(y))
    assert result.probabilities.min() >= 0
    np.testing.assert_allclose(result.probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(result.probabilities.argmax(axis=1), result.codes)


@every_model
def test_the_arguments_are_left_alone(name: str) -> None:
    graph, y = clusters()
    labels = labels_of(y)
    fingerprint, nodes = graph.fingerprint, labels.nodes.copy()
    run(name, graph, labels).scores[:] = 1e6  # a result of the caller's own
    assert Graph.from_weights(graph.weights).fingerprint == fingerprint
    np.testing.assert_array_equal(labels.nodes, nodes)
    assert run(name, graph, labels).scores.max() < 1e6


@every_model
def test_every_node_labelled(name: str) -> None:
    graph, y = clusters(n_each=10)
    result = run(name, graph, Labels.of(dict(enumerate(y.tolist())), len(y)))
    assert np.all(np.isfinite(result.scores))
    np.testing.assert_array_equal(result.codes, y)


@every_model
def test_one_class_is_everywhere(name: str) -> None:
    graph, y = clusters()
    result = run(name, graph, Labels.of({3: "only", 50: "only"}, len(y)))
    assert result.scores.shape == (len(y), 1)
    assert np.all(np.isfinite(result.scores))
    assert np.all(result.codes == 0)
    np.testing.assert_allclose(result.probabilities, 1)


@every_model
def test_one_label(name: str) -> None:
    graph, y = clusters()
    result = run(name, graph, Labels.of({3: True}, len(y)))
    assert result.classes == (True,)
    assert np.all(np.isfinite(result.scores))


@every_model
def test_a_class_seen_late_is_a_new_column(name: str) -> None:
    graph, y = clusters()
    early = Labels.of({0: "a", 45: "b"}, len(y))
    late = Labels.of({0: "a", 45: "b", 100: "c"}, len(y), classes=early.classes)
    assert late.classes == ("a", "b", "c")
    result = run(name, graph, late)
    assert result.scores.shape == (len(y), 3)
    assert result.codes[100] == 2


@every_model
def test_a_class_known_without_a_label_is_never_predicted(name: str) -> None:
    graph, y = clusters()
    labels = Labels.of({0: "a", 45: "b"}, len(y), classes=["unseen", "a", "b"])
    result = run(name, graph, labels)
    assert result.scores.shape == (len(y), 3)
    if name == "poisson":  # its scores have signs
        np.testing.assert_allclose(result.scores[:, 0], 0, atol=1e-12)
    else:
        assert np.all(result.scores[:, 0] == 0)
        assert np.all(result.codes > 0)
        assert np.all(result.probabilities[:, 0] == 0)


@every_model
def test_no_label_is_an_error(name: str) -> None:
    graph, y = clusters()
    with pytest.raises(LabelError, match="there are no labels"):
        run(name, graph, Labels.of({}, len(y)))


@every_model
def test_duplicate_points(name: str) -> None:
    """Five points, each twelve times: copies have the same scores as each other."""
    X = np.repeat(np.random.default_rng(0).normal(size=(5, 3)), 12, axis=0)
    graph = knn_graph(X, k=15)
    labels = Labels.of({0: "a", 30: "b"}, 60)
    result = run(name, graph, labels)
    assert np.all(np.isfinite(result.scores))
    assert np.all(result.codes[:12] == 0)
    assert np.all(result.codes[24:36] == 1)


@every_model
def test_all_points_equal(name: str) -> None:
    graph = knn_graph(np.ones((30, 2)), k=5)
    result = run(name, graph, Labels.of({0: "a", 29: "b"}, 30))
    assert np.all(np.isfinite(result.scores))


@every_model
@pytest.mark.parametrize("n", [1, 2, 3])
def test_tiny_graphs(name: str, n: int) -> None:
    X = np.arange(n, dtype=float)[:, None]
    graph = Graph.from_weights(np.eye(n, k=1) + np.eye(n, k=-1), features=X)
    result = run(name, graph, Labels.of({0: "a"}, n))
    assert np.all(np.isfinite(result.scores))
    assert np.all(result.codes == 0)
    assert result.reached.all()


@pytest.mark.parametrize(
    "name", [name for name in models if "tau" in inspect.signature(models.factory(name)).parameters]
)
@pytest.mark.parametrize("bad", [-1.0, float("nan"), float("inf")])
def test_a_tau_that_is_no_decay_is_named(name: str, bad: float) -> None:
    graph, y = clusters()
    with pytest.raises(InputError, match="tau is"):
        run(name, graph, labels_of(y), tau=bad)


@pytest.mark.parametrize("bad", [0.0, -1e-5, float("nan"), float("inf")])
def test_a_shift_that_is_not_positive_is_named(bad: float) -> None:
    graph, y = clusters()
    with pytest.raises(InputError, match="shift is"):
        run("pwll", graph, labels_of(y), shift=bad)


@every_model
def test_a_relative_residual_reaches_the_solves(name: str) -> None:
    graph, y = clusters()
    with pytest.raises(InputError, match=r"rtol is -1\.0: a relative tolerance must be positive"):
        run(name, graph, labels_of(y), rtol=-1.0)
    tight = run(name, graph, labels_of(y), rtol=1e-12).scores
    np.testing.assert_allclose(tight, run(name, graph, labels_of(y)).scores, atol=1e-4)
