"""knn_graph: its properties, and its errors for invalid input."""

import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from poise.errors import FeatureError, InputError
from poise.graph import Graph, epsilon_graph, kernels, knn_graph
from poise.graph.features import check_features

X20 = np.random.default_rng(0).normal(size=(20, 3))


def with_value(value, row, column=1):
    X = X20.copy()
    X[row, column] = value
    return X


@given(
    n=st.integers(2, 60),
    d=st.integers(1, 12),
    k=st.integers(1, 20),
    name=st.sampled_from(sorted(kernels)),
    how=st.sampled_from(["auto", "mean", "max", "min"]),
    metric=st.sampled_from(["euclidean", "cosine", "manhattan"]),
    seed=st.integers(0, 2**20),
)
def test_every_graph_is_canonical(n, d, k, name, how, metric, seed):
    X = np.random.default_rng(seed).normal(size=(n, d))
    k = min(k, n - 1)
    W = knn_graph(X, k, kernel=name, symmetrise=how, metric=metric).weights
    assert (W != W.T).nnz == 0
    assert not W.diagonal().any()
    assert np.isfinite(W.data).all()
    assert (W.data > 0).all()
    if how != "min" and metric == "euclidean" and name in ("gaussian", "uniform"):
        assert (np.diff(W.indptr) >= k).all()


@given(
    n=st.integers(5, 60),
    d=st.integers(2, 12),
    name=st.sampled_from(sorted(kernels)),
    seed=st.integers(0, 2**20),
)
def test_the_order_of_the_points_does_not_matter(n, d, name, seed):
    """Permuting the points permutes the exact graph; normal points have no ties."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    order = rng.permutation(n)
    W = knn_graph(X, 4, kernel=name).weights.toarray()
    permuted = knn_graph(X[order], 4, kernel=name).weights.toarray()
    np.testing.assert_allclose(permuted, W[np.ix_(order, order)], rtol=1e-12)


@given(shift=st.floats(-1e3, 1e3), scale=st.floats(1e-3, 1e3), seed=st.integers(0, 2**20))
def test_the_self_tuned_graph_ignores_units(shift, scale, seed):
    X = np.random.default_rng(seed).normal(size=(40, 3))
    W = knn_graph(X, 5).weights
    moved = knn_graph(scale * X + shift, 5).weights
    assert abs(W - moved).max() < 1e-6


def test_the_signature_others_rely_on():
    expected = {
        "k": 20, "metric": "euclidean", "kernel": "gaussian", "symmetrise": "auto",
        "backend": "auto", "keep_features": True, "keep_neighbours": False, "seed": 0,
    }  # fmt: skip
    parameters = inspect.signature(knn_graph).parameters
    assert {name: parameters[name].default for name in expected} == expected


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_features_are_kept_as_they_came(dtype):
    X = X20.astype(dtype)
    graph = knn_graph(X, 3)
    assert graph.features.dtype == dtype
    assert np.shares_memory(graph.features, X)
    assert X.flags.writeable
    assert not graph.features.flags.writeable
    assert knn_graph(X, 3, keep_features=False).features is None


@pytest.mark.parametrize(
    ("dtype", "kept"),
    [(np.uint8, np.float32), (np.int16, np.float32), (bool, np.float32), (np.float16, np.float32),
     (np.int32, np.float64), (np.int64, np.float64)],
)  # fmt: skip
def test_other_numbers_become_the_smallest_float_that_holds_them(dtype, kept):
    X = (np.arange(60).reshape(20, 3) % 7).astype(dtype)
    assert knn_graph(X, 3).features.dtype == kept


def test_lists_and_fortran_order_are_accepted():
    expected = knn_graph(X20, 3).fingerprint
    assert knn_graph(X20.tolist(), 3).fingerprint == expected
    assert knn_graph(np.asfortranarray(X20), 3).fingerprint == expected
    assert knn_graph(X20, np.int64(3)).fingerprint == expected


def test_neighbours_are_kept_if_asked_for():
    graph = knn_graph(X20, 3, keep_neighbours=True)
    assert graph.neighbours.indices.shape == graph.neighbours.distances.shape == (20, 3)
    assert not graph.neighbours.indices.flags.writeable
    assert knn_graph(X20, 3).neighbours is None
    assert (graph.construction.k, graph.construction.radius) == (3, None)
    assert (
        repr(graph) == f"Graph(20 nodes, {graph.weights.nnz // 2} edges, k=3, euclidean, gaussian)"
    )


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (with_value(np.nan, 7), "NaN: 1 value(s) are not finite, the first in row 7"),
        (with_value(np.inf, 4), "infinity: 1 value(s) are not finite, the first in row 4"),
        (with_value(-np.inf, 4), "infinity"),
        (sparse.csr_array(with_value(np.nan, 9)), "the first in row 9"),
        (with_value(1e200, 4), "rescale"),
        (np.zeros((0, 3)), "0 sample(s)"),
        (np.zeros((5, 0)), "0 feature(s)"),
        (np.zeros((1, 3)), "minimum of 2"),
        (np.zeros(7), "expected a 2D array"),
        (np.zeros((3, 4, 5)), "2D array"),
        (3.0, "expected a 2D array"),
        (X20 + 1j, "Complex"),
        (np.array([["a", "b"], ["c", "d"], ["e", "f"]]), "could not convert"),
        (np.array([[1, {}], [2, 3], [4, 5]], dtype=object), "float"),
        ([[1, 2], [3]], "X"),
        (None, "2D array"),
    ],
)
def test_bad_features_are_refused_in_one_line(X, words):
    for build in (lambda: knn_graph(X, 1), lambda: epsilon_graph(X, 1.0)):
        with pytest.raises(FeatureError) as caught:
            build()
        assert words in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("k", "words"),
    [
        (20, "the largest k allowed is 19"),
        (500, "the largest k allowed is 19"),
        (0, "at least 1"),
        (-3, "at least 1"),
        (2.5, "whole number"),
        (3.0, "whole number"),
        (True, "whole number"),
        ("7", "whole number"),
        (None, "whole number"),
    ],
)
def test_a_bad_k_is_refused(k, words):
    with pytest.raises(InputError, match=words):
        knn_graph(X20, k)


@pytest.mark.parametrize("seed", [None, -1, 1.5, True])
def test_a_bad_seed_is_refused(seed):
    with pytest.raises(InputError, match="seed is"):
        knn_graph(X20, 3, seed=seed)


def test_a_bad_way_to_symmetrise_is_refused():
    with pytest.raises(InputError, match="'auto', 'mean', 'max' or 'min'"):
        knn_graph(X20, 3, symmetrise=True)


def test_two_points_are_a_graph():
    graph = knn_graph([[0.0], [1.0]], 1)
    assert graph.weights.toarray() == pytest.approx(np.exp(-4) * np.array([[0, 1], [1, 0]]))


def test_finite_features_pass_the_check_untouched():
    for X in (X20, X20.astype(np.float32)):
        assert np.shares_memory(check_features(X), X)
    assert check_features(sparse.csr_array((5, 4))).nnz == 0


def test_features_all_zero_and_sparse():
    graph = knn_graph(sparse.csr_array((6, 4)), 2)
    assert isinstance(graph, Graph)
    assert np.isfinite(graph.weights.data).all()


def test_progress_is_reported_to_its_end(monkeypatch):
    monkeypatch.setattr("poise.graph.search.BLOCK_QUERIES", 40)
    seen = []
    X = np.random.default_rng(0).normal(size=(100, 3))
    knn_graph(X, k=5, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(40, 100), (80, 100), (100, 100)]
