"""Graph.extend and Graph.without: the graph built at once is the oracle."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from poise.errors import FeatureError, GraphError, NodeIndexError
from poise.graph import Graph, Neighbours, epsilon_graph, kernels, knn_graph
from poise.graph.metrics import search_space

X = np.random.default_rng(0).normal(size=(80, 4))
METRICS = ["euclidean", "cosine", "manhattan", "chebyshev"]


def listed(points, k, **settings):
    return knn_graph(points, k, keep_neighbours=True, **settings)


def assert_same(grown, at_once):
    """Equal to the last bit in what is an exact distance, and to rounding in the weights."""
    np.testing.assert_array_equal(grown.neighbours.indices, at_once.neighbours.indices)
    np.testing.assert_allclose(
        grown.neighbours.distances, at_once.neighbours.distances, rtol=1e-12, atol=1e-15
    )
    assert abs(grown.weights - at_once.weights).max() <= 1e-12 * at_once.weights.data.max()
    np.testing.assert_array_equal(grown.weights.indices, at_once.weights.indices)
    np.testing.assert_allclose(grown.spacing.scale, at_once.spacing.scale, rtol=1e-12)
    np.testing.assert_allclose(grown.spacing.nearest, at_once.spacing.nearest, rtol=1e-12)
    assert (grown.features != at_once.features).sum() == 0
    assert grown.construction.k == at_once.construction.k


@st.composite
def pools(draw):
    """Points, some of them equal, dense or sparse, in double or single precision."""
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    n, d = draw(st.integers(8, 60)), draw(st.integers(2, 14))
    points = rng.normal(size=(n, d)).astype(draw(st.sampled_from([np.float32, np.float64])))
    # pairs of equal points: more of them than a search fetches in reserve have no one right list
    for i, j in rng.choice(n, size=(draw(st.integers(0, 3)), 2), replace=False):
        points[j] = points[i]
    if draw(st.booleans()):
        points[rng.random(points.shape) < 0.5] = 0
        return sparse.csr_array(points)
    return points


@given(
    points=pools(),
    k=st.integers(1, 12),
    metric=st.sampled_from(METRICS),
    kernel=st.sampled_from(sorted(kernels)),
    steps=st.integers(1, 4),
    data=st.data(),
)
def test_grown_in_steps_is_built_at_once(points, k, metric, kernel, steps, data):
    if sparse.issparse(points) and metric == "chebyshev":
        metric = "euclidean"
    n = points.shape[0]
    k = min(k, n - 1)
    cuts = sorted(data.draw(st.lists(st.integers(k + 1, n), min_size=steps, max_size=steps)))
    graph = listed(points[: cuts[0]], k, metric=metric, kernel=kernel)
    for start, end in zip(cuts, [*cuts[1:], n], strict=True):
        graph = graph.extend(points[start:end])
    at_once = listed(points, k, metric=metric, kernel=kernel)
    if sparse.issparse(points) and _crowded(at_once):
        assert _same_distances(graph, at_once)
    else:
        assert_same(graph, at_once)


def _crowded(graph: Graph) -> bool:
    """Whether points coincide: rows of zeros may be many, and which are listed is not defined."""
    rows = search_space(graph.features, graph.construction.metric)[0].toarray()
    return len(np.unique(rows, axis=0)) < len(rows)


def _same_distances(graph: Graph, other: Graph) -> bool:
    return np.allclose(graph.neighbours.distances, other.neighbours.distances, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("copies", [3, 9, 40])
@pytest.mark.parametrize("metric", METRICS)
def test_many_equal_points(metric, copies):
    """Which of the equal points are listed is open; how far they are is not."""
    rng = np.random.default_rng(copies)
    points = rng.permutation(np.vstack([X[:40], np.tile(X[:2], (copies, 1))]))
    graph = listed(points[:20], 4, metric=metric)
    for start in range(20, len(points), 25):
        graph = graph.extend(points[start : start + 25])
    at_once = listed(points, 4, metric=metric)
    np.testing.assert_allclose(
        graph.neighbours.distances, at_once.neighbours.distances, rtol=1e-12, atol=1e-7
    )
    assert np.isfinite(graph.weights.data).all()


@given(
    metric=st.sampled_from(METRICS),
    kernel=st.sampled_from(sorted(kernels)),
    k=st.integers(1, 12),
    leaving=st.lists(st.integers(0, 79), max_size=60),
)
def test_without_some_nodes_is_built_without_them(metric, kernel, k, leaving):
    graph = listed(X, k, metric=metric, kernel=kernel).without(leaving)
    assert_same(graph, listed(np.delete(X, leaving, axis=0), k, metric=metric, kernel=kernel))


def test_fewer_points_than_k_list_each_other_and_lists_grow_again():
    graph = listed(X, 12).without(np.arange(5, 80))
    assert graph.neighbours.indices.shape == (5, 4)
    assert graph.construction.k == 12
    assert (np.diff(graph.weights.indptr) == 4).all()
    small = graph.extend(X[5:8])
    np.testing.assert_array_equal(small.weights.toarray(), knn_graph(X[:8], 7).weights.toarray())
    assert_same(small.extend(X[8:]), listed(X, 12))


def test_the_largest_search_is_exact_too():
    """Enough points for faiss: both directions are compared exactly."""
    points = np.random.default_rng(3).normal(size=(7_000, 24)).astype(np.float32)
    graph = listed(points[:5_500], 10).extend(points[5_500:])
    assert graph.fingerprint == listed(points, 10, backend="exact").fingerprint


def test_an_approximate_graph_stays_near_the_exact_one():
    points = np.random.default_rng(4).normal(size=(6_000, 16))
    graph = listed(points[:5_000], 10, backend="faiss-ivf").extend(points[5_000:])
    exact = listed(points, 10, backend="exact")
    rows = zip(graph.neighbours.indices, exact.neighbours.indices, strict=True)
    recall = np.mean([np.isin(listed, true).mean() for listed, true in rows])
    assert recall > 0.9
    # what joined was searched for exactly
    np.testing.assert_array_equal(
        graph.neighbours.indices[5_000:], exact.neighbours.indices[5_000:]
    )


def test_old_points_are_not_compared_with_each_other(monkeypatch):
    from poise.graph import extend, search

    compared = []
    original = search.search_points

    def watching(points, queries, *args, **kwargs):
        compared.append((points.shape[0], queries.shape[0]))
        return original(points, queries, *args, **kwargs)

    monkeypatch.setattr(extend, "search_points", watching)
    listed(X[:70], 5).extend(X[70:])
    assert (80, 10) in compared  # the new ones among all
    assert all(points == 10 for points, queries in compared if queries > 10)


def test_the_old_graph_stays_as_it_was_and_nothing_to_add_changes_nothing():
    graph = listed(X[:50], 5)
    before = graph.fingerprint, graph.neighbours.indices.copy()
    graph.extend(X[50:])
    assert before[0] == Graph(graph.weights).fingerprint
    np.testing.assert_array_equal(graph.neighbours.indices, before[1])
    assert graph.extend(np.empty((0, 4))) is graph
    assert graph.without([]) is graph


def test_saved_and_loaded_graphs_grow(tmp_path):
    listed(X[:50], 5).save(tmp_path / "graph.npz")
    grown = Graph.load(tmp_path / "graph.npz").extend(X[50:])
    assert grown.fingerprint == knn_graph(X, 5).fingerprint


def test_the_type_of_the_features_stays():
    graph = listed(X[:50].astype(np.float32), 5).extend(X[50:].tolist())
    assert graph.features.dtype == np.float32
    assert graph.fingerprint == knn_graph(X.astype(np.float32), 5).fingerprint
    with pytest.raises(FeatureError, match=r"X_new contains infinity.*row 0"):
        graph.extend(np.full((1, 4), 1e100))


PLAIN = listed(X[:50], 5)
CANNOT = {
    "no lists": (knn_graph(X[:50], 5), GraphError, "no lists of neighbours.*keep_neighbours=True"),
    "no features": (
        listed(X[:50], 5, keep_features=False), GraphError, "no features.*keep_features=True",
    ),
    "weights": (Graph.from_weights(PLAIN.weights), GraphError, "from weights"),
    "radius": (epsilon_graph(X[:50], 3.0), GraphError, "with a radius"),
    "no kernel": (
        replace(PLAIN, construction=replace(PLAIN.construction, function=None)),
        GraphError, "holds no code",
    ),
    "other lists": (
        replace(
            PLAIN,
            neighbours=Neighbours(
                PLAIN.neighbours.indices[:, :3].copy(), PLAIN.neighbours.distances[:, :3].copy()
            ),
        ),
        GraphError, "hold 3 neighbours.*k=5",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CANNOT)
def test_graphs_that_cannot_change(name):
    graph, error, words = CANNOT[name]
    for change in (lambda: graph.extend(X[50:]), lambda: graph.without([1])):
        with pytest.raises(error, match=words) as raised:
            change()
        assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("X_new", "words"),
    [
        (np.zeros((3, 5)), "5 features"),
        (np.full((2, 4), np.nan), "NaN"),
        (sparse.csr_array(np.ones((2, 4))), "dense"),
        (["a"], "2D array|numeric|could not"),
        (np.zeros(4), "2D"),
    ],
)
def test_points_that_cannot_join(X_new, words):
    with pytest.raises(FeatureError, match=words):
        PLAIN.extend(X_new)


@pytest.mark.parametrize(
    ("nodes", "error", "words"),
    [
        ([50], NodeIndexError, "no node 50.*0 to 49"),
        ([-1], NodeIndexError, "no node -1"),
        ([0.5], NodeIndexError, "whole numbers"),
        (["a"], NodeIndexError, "whole numbers"),
        ([True], NodeIndexError, "whole numbers"),
        (np.arange(49), GraphError, "1 would stay"),
        (np.arange(50), GraphError, "0 would stay"),
    ],
)
def test_nodes_that_cannot_leave(nodes, error, words):
    with pytest.raises(error, match=words):
        PLAIN.without(nodes)
