"""Invalid graphs and features: each error is one line that says what to do."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

import poise
from poise.errors import DataError, FeatureError, GraphError

X = np.random.default_rng(0).normal(size=(30, 3))

FEATURES = {
    "one dimension": (X[:, 0], r"X has shape \(30,\): expected a 2D array.*X\.reshape\(-1, 1\)"),
    "a number": (3.0, r"X has shape \(\): expected a 2D array"),
    "nothing": (None, r"X has shape \(\)"),
    "three dimensions": (np.zeros((3, 3, 3)), r"X has shape \(3, 3, 3\)"),
    "complex numbers": (X * 1j, "X holds complex numbers; give their real and imaginary parts"),
    "sparse complex numbers": (sparse.csr_array(X * 1j), "X holds complex numbers"),
    "a generator": ((row for row in X), "X is a generator, which can be read only once: give a"),
    "a map": (map(list, X), "X is a map, which can be read only once"),
    "text": ([["a", "b"]] * 30, r"X holds values that are not numbers.*poise\.embed"),
    "a dict": ({1: 2}, r"X has shape \(\)"),
    "ragged rows": ([[1.0, 2.0], [3.0]], "rows are of different lengths"),
}


@pytest.mark.parametrize(("bad", "words"), FEATURES.values(), ids=list(FEATURES))
def test_invalid_features_are_refused(bad, words):
    with pytest.raises(FeatureError, match=words) as caught:
        poise.knn_graph(bad, k=3)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 250


def test_invalid_new_points_are_refused():
    model = poise.PWLL(k=3).fit(X, np.arange(30) % 2)
    for bad in (X[0], X * 1j, (row for row in X)):
        with pytest.raises(FeatureError, match="X "):
            model.predict(bad)


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array, sparse.coo_array])
def test_sparse_features_with_long_indices(form):
    small = form(sparse.random(30, 20, 0.3, random_state=0))
    large = form(small)
    for part in ("indices", "indptr", "row", "col"):
        if hasattr(large, part) and form is not sparse.coo_array:
            setattr(large, part, getattr(large, part).astype(np.int64))
    if form is sparse.coo_array:
        large.coords = tuple(part.astype(np.int64) for part in large.coords)
    expected = poise.knn_graph(small, k=4).fingerprint
    assert poise.knn_graph(large, k=4).fingerprint == expected


WEIGHTS = {
    "dense diagonal": (np.ones((3, 3)), r"call np\.fill_diagonal\(W, 0\) first"),
    "sparse diagonal": (sparse.csr_array(np.ones((3, 3))), r"call W\.setdiag\(0\) first"),
    "ragged rows": ([[0.0], [1.0, 0.0]], "a list, cannot become a matrix"),
}


@pytest.mark.parametrize(("bad", "words"), WEIGHTS.values(), ids=list(WEIGHTS))
def test_invalid_weights_are_refused(bad, words):
    with pytest.raises(GraphError, match=words):
        poise.Graph.from_weights(bad)


def test_the_advice_about_diagonals_works():
    dense, thin = np.ones((3, 3)), sparse.lil_array(np.ones((3, 3)))
    np.fill_diagonal(dense, 0)
    thin.setdiag(0)
    assert poise.Graph.from_weights(dense).fingerprint == poise.Graph.from_weights(thin).fingerprint


@pytest.mark.parametrize("scale", [1e-320, 1e-300, 1e-200, 1e200, 1e300])
def test_weights_of_another_scale_predict_the_same(scale):
    W = poise.knn_graph(X, k=5).weights
    y = np.where(np.arange(30) < 6, np.arange(30) % 2, -1)
    graph = poise.Graph.from_weights(W * scale)
    assert 0.25 < graph.weights.max() <= 1.0
    for model in (poise.PWLL, poise.LaplaceLearning, poise.PoissonLearning, poise.WNLL):
        expected = model().fit(poise.Graph.from_weights(W), y).transduction_
        np.testing.assert_array_equal(model().fit(graph, y).transduction_, expected)


def test_usual_weights_stay_as_they_are():
    W = np.array([[0, 1e-90], [1e-90, 0]])
    assert poise.Graph.from_weights(W).weights.max() == 1e-90


def test_a_networkx_graph():
    networkx = pytest.importorskip("networkx")
    G = networkx.Graph()
    G.add_edge("a", "b", weight=0.5)
    G.add_edge("b", "c")  # counts 1
    graph = poise.Graph.from_weights(G)
    expected = [[0, 0.5, 0], [0.5, 0, 1], [0, 1, 0]]
    np.testing.assert_array_equal(graph.weights.toarray(), expected)
    with pytest.raises(FeatureError, match=r"networkx graph: give it to poise\.Graph\.from_wei"):
        poise.knn_graph(G)
    with pytest.raises(GraphError, match="empty"):
        poise.Graph.from_weights(networkx.Graph())
    with pytest.raises(GraphError, match="not symmetric"):
        poise.Graph.from_weights(networkx.DiGraph([(0, 1)]))


def test_networkx_is_asked_only_if_the_caller_has_it(monkeypatch):
    class Graph:
        def __len__(self):
            return 2

    def matrix(graph, weight, dtype, format):
        return sparse.csr_array([[0.0, 2.0], [2.0, 0.0]])

    stand_in = SimpleNamespace(Graph=Graph, to_scipy_sparse_array=matrix)
    monkeypatch.setitem(sys.modules, "networkx", stand_in)
    assert poise.Graph.from_weights(Graph()).weights.max() == 2.0
    monkeypatch.delitem(sys.modules, "networkx")
    with pytest.raises(GraphError, match="square"):
        poise.Graph.from_weights(Graph())


def test_graphs_that_cannot_be_saved(tmp_path):
    graph = poise.knn_graph(X, k=3)
    with pytest.raises(DataError, match=r"there is no folder '.*missing': create it first"):
        graph.save(tmp_path / "missing" / "graph.npz")
    with pytest.raises(DataError, match="is a folder: name a file in it"):
        graph.save(tmp_path)
    with pytest.raises(DataError, match="path is None: expected the name of a file"):
        graph.save(None)
    assert list(tmp_path.iterdir()) == []
