"""Graph.out_of_sample_weights: averages over the nearest nodes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist

from poise.errors import FeatureError, GraphError
from poise.graph import Construction, Graph, epsilon_graph, kernels, knn_graph
from poise.graph.kernel import Gaussian

X = np.random.default_rng(0).normal(size=(200, 4))
NEW = np.random.default_rng(1).normal(size=(30, 4))


def test_the_gaussian_average_over_the_k_nearest():
    weights = knn_graph(X, 7).out_of_sample_weights(NEW).toarray()
    distances = cdist(NEW, X)
    for row, d in zip(weights, distances, strict=True):
        near = np.argsort(d)[:7]
        expected = np.exp(-4 * (d[near] / d[near[-1]]) ** 2)
        np.testing.assert_allclose(row[near], expected / expected.sum(), rtol=1e-12)
        assert np.count_nonzero(row) == 7


@given(
    name=st.sampled_from(sorted(kernels)),
    metric=st.sampled_from(["euclidean", "cosine", "manhattan", "chebyshev"]),
    k=st.integers(1, 15),
    copies=st.integers(1, 20),
    seed=st.integers(0, 2**20),
)
def test_rows_are_averages_also_at_the_nodes_themselves(name, metric, k, copies, seed):
    rng = np.random.default_rng(seed)
    nodes = np.vstack([rng.normal(size=(25, 3)), np.tile(rng.normal(size=(1, 3)), (copies, 1))])
    graph = knn_graph(nodes, k, kernel=name, metric=metric)
    new = np.vstack([nodes, rng.normal(size=(5, 3)), np.zeros((1, 3))])
    weights = graph.out_of_sample_weights(new)
    assert weights.shape == (len(new), len(nodes))
    assert np.isfinite(weights.data).all()
    assert (weights.data > 0).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=1e-12)


def test_a_point_equal_to_a_node_leans_on_it():
    for name in ("gaussian", "symmetric", "singular"):
        weights = knn_graph(X, 10, kernel=name).out_of_sample_weights(X[:20]).toarray()
        assert (weights.argmax(axis=1) == np.arange(20)).all()
    singular = knn_graph(X, 10, kernel="singular").out_of_sample_weights(X[:20])
    np.testing.assert_array_equal(singular.toarray(), np.eye(200)[:20])


def test_the_symmetric_kernel_knows_the_scales_of_the_nodes():
    graph = knn_graph(X, 7, kernel="symmetric")
    weights = graph.out_of_sample_weights(NEW[:1]).toarray()[0]
    d = cdist(NEW[:1], X)[0]
    near = np.argsort(d)[:7]
    expected = np.exp(-4 * d[near] ** 2 / (d[near[-1]] * graph.spacing.scale[near]))
    np.testing.assert_allclose(weights[near], expected / expected.sum(), rtol=1e-12)


def test_epsilon_graphs_use_the_radius_and_else_the_nearest_node():
    graph = epsilon_graph(np.array([[0.0], [1.0], [4.0]]), 1.5)
    weights = graph.out_of_sample_weights([[0.5], [2.2], [100.0], [-1.0]]).toarray()
    np.testing.assert_allclose(weights[0], [0.5, 0.5, 0])
    np.testing.assert_allclose(weights[1], [0, 1, 0])
    np.testing.assert_allclose(weights[2], [0, 0, 1])
    np.testing.assert_allclose(weights[3], [1, 0, 0])


def test_sparse_new_points():
    S = sparse.random_array((60, 90), density=0.1, rng=np.random.default_rng(2), format="csr")
    thin = knn_graph(S, 5).out_of_sample_weights(S[:8])
    dense = knn_graph(S.toarray(), 5).out_of_sample_weights(S[:8].toarray())
    assert abs(thin - dense).max() < 1e-12
    with pytest.raises(FeatureError, match="features are sparse and X is not"):
        knn_graph(S, 5).out_of_sample_weights(S[:8].toarray())


def test_float32_and_float64_mix():
    graph = knn_graph(X.astype(np.float32), 7)
    weights = graph.out_of_sample_weights(X.astype(np.float32).astype(np.float64)[:9])
    assert (weights.toarray().argmax(axis=1) == np.arange(9)).all()


def test_the_message_names_what_is_missing():
    with pytest.raises(GraphError, match="keep_features=True"):
        knn_graph(X, 5, keep_features=False).out_of_sample_weights(NEW)
    bare = Graph.from_weights(knn_graph(X, 5).weights)
    with pytest.raises(GraphError, match="holds no features"):
        bare.out_of_sample_weights(NEW)
    placed = Graph.from_weights(bare.weights, X)
    with pytest.raises(GraphError, match="made from weights"):
        placed.out_of_sample_weights(NEW)


def test_existing_weights_can_come_with_a_construction():
    made = knn_graph(X, 7)
    construction = Construction("euclidean", "gaussian", "mean", "mine", k=7, function=Gaussian())
    graph = Graph(made.weights, X, construction=construction)
    assert abs(graph.out_of_sample_weights(NEW) - made.out_of_sample_weights(NEW)).max() < 1e-15


@pytest.mark.parametrize(
    ("k", "radius"), [(None, None), (3, 1.0), (0, None), (2.5, None), (None, -1.0), (None, np.inf)]
)
def test_a_construction_has_either_k_or_a_radius(k, radius):
    with pytest.raises(GraphError, match="either a whole number"):
        Construction("euclidean", "gaussian", "mean", "mine", k=k, radius=radius)


@pytest.mark.parametrize(
    ("new", "words"),
    [
        (NEW[:, :3], "X has 3 features, but the graph is expecting 4 features"),
        (NEW[0], "expected a 2D array"),
        (NEW[:0], "0 sample"),
        (np.full((1, 4), np.nan), "NaN"),
    ],
)
def test_bad_new_points_are_refused(new, words):
    with pytest.raises(FeatureError, match=words):
        knn_graph(X, 5).out_of_sample_weights(new)
