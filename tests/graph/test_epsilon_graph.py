"""epsilon_graph: against brute force, and radii that make no sense."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist

from poise.errors import GraphError, InputError
from poise.graph import epsilon_graph


@given(
    n=st.integers(2, 60),
    d=st.integers(1, 14),
    seed=st.integers(0, 2**20),
    metric=st.sampled_from(["euclidean", "manhattan", "chebyshev"]),
)
def test_joined_exactly_within_the_radius(n, d, seed, metric):
    X = np.random.default_rng(seed).normal(size=(n, d))
    distances = cdist(X, X, {"manhattan": "cityblock"}.get(metric, metric))
    radius = float(np.quantile(distances[distances > 0], 0.3))
    graph = epsilon_graph(X, radius, metric=metric)
    expected = np.where(distances <= radius, np.exp(-4 * (distances / radius) ** 2), 0)
    np.fill_diagonal(expected, 0)
    close = np.isclose(distances, radius, rtol=1e-12)  # rounding may decide the pair at the radius
    np.testing.assert_allclose(
        np.where(close, 0, graph.weights.toarray()), np.where(close, 0, expected), atol=1e-12
    )
    assert (graph.weights != graph.weights.T).nnz == 0
    assert graph.construction.radius == radius
    assert graph.construction.k is None


def test_points_on_the_radius_are_joined():
    graph = epsilon_graph(np.array([[0.0], [1.0], [2.0], [9.0]]), 1.0, kernel="uniform")
    assert graph.weights.toarray().tolist() == [
        [0, 1, 0, 0],
        [1, 0, 1, 0],
        [0, 1, 0, 0],
        [0, 0, 0, 0],
    ]
    assert graph.report().isolated == 1
    assert graph.spacing.nearest.tolist() == [1, 1, 1, np.inf]


def test_cosine_and_sparse_features():
    S = sparse.random_array((80, 50), density=0.2, rng=np.random.default_rng(0), format="csr")
    for metric, radius in (("euclidean", 2.2), ("cosine", 1.2)):
        thin = epsilon_graph(S, radius, metric=metric)
        dense = epsilon_graph(S.toarray(), radius, metric=metric)
        assert abs(thin.weights - dense.weights).max() < 1e-9
        assert thin.weights.nnz > 0


def test_duplicates_are_joined():
    graph = epsilon_graph(np.array([[0.0, 0.0]] * 3 + [[5.0, 5.0]] * 2), 1.0)
    assert graph.component_sizes.tolist() == [3, 2]
    assert (graph.weights.data == 1).all()
    assert graph.report().duplicates == 5


def test_a_radius_that_joins_nothing_is_refused_with_a_suggestion():
    X = np.random.default_rng(0).normal(size=(100, 3))
    with pytest.raises(GraphError, match="the graph is empty: try radius=") as caught:
        epsilon_graph(X, 1e-9)
    suggested = float(str(caught.value).split("radius=")[1].split(" ")[0])
    counts = np.diff(epsilon_graph(X, suggested).weights.indptr)
    assert 10 < counts.mean() < 40


def test_a_radius_that_joins_everything_is_refused_with_a_suggestion():
    X = np.random.default_rng(0).uniform(size=(6_000, 2))
    with pytest.raises(GraphError, match="about 5,999 neighbours per point") as caught:
        epsilon_graph(X, 10.0)
    suggested = float(str(caught.value).split("radius=")[1].split(" ")[0])
    counts = np.diff(epsilon_graph(X, suggested).weights.indptr)
    assert 10 < counts.mean() < 40


@pytest.mark.parametrize("radius", [0, -1.0, np.nan, np.inf, "1", None, True])
def test_a_bad_radius_is_refused(radius):
    with pytest.raises(InputError, match="positive, finite number"):
        epsilon_graph(np.eye(4), radius)
