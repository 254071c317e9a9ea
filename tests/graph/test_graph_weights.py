"""Graph.from_weights: what is refused, what becomes canonical; degrees, components, Laplacians."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse import csgraph

from poise.errors import FeatureError, GraphError, InputError
from poise.graph import Graph


def path(n):
    """Weights of the path 0 - 1 - ... - (n - 1)."""
    return sparse.diags_array([np.ones(n - 1)] * 2, offsets=[-1, 1]).tocsr()


def random_weights(n, edges, seed):
    """Symmetric weights with about `edges` edges, often in several components."""
    rng = np.random.default_rng(seed)
    i, j = rng.integers(n, size=(2, edges))
    kept = i != j
    values = rng.uniform(0.1, 1, size=kept.sum())
    W = sparse.coo_array((values, (i[kept], j[kept])), shape=(n, n)).tocsr()
    return sparse.csr_array(W + W.T)


def assert_canonical(W):
    assert isinstance(W, sparse.csr_array)
    assert W.dtype == np.float64
    assert W.indices.dtype == W.indptr.dtype == np.int32
    assert W.has_sorted_indices
    assert W.has_canonical_format
    assert (W != W.T).nnz == 0
    assert not W.diagonal().any()
    assert (W.data > 0).all()
    assert np.isfinite(W.data).all()
    for part in (W.data, W.indices, W.indptr):
        assert not part.flags.writeable


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_every_sparse_format_becomes_canonical(form):
    graph = Graph.from_weights(random_weights(30, 60, 0).asformat(form))
    assert_canonical(graph.weights)
    assert graph.fingerprint == Graph.from_weights(random_weights(30, 60, 0)).fingerprint


def test_dense_weights_and_sparse_matrices_are_accepted():
    W = random_weights(20, 40, 1)
    for form in (W.toarray(), sparse.csr_matrix(W), W.astype(np.float32).toarray()):
        assert_canonical(Graph.from_weights(form).weights)
    assert Graph.from_weights([[0, 1], [1, 0]]).n_nodes == 2
    assert Graph.from_weights(np.array([[False, True], [True, False]])).degrees.tolist() == [1, 1]


def test_the_callers_matrix_is_neither_changed_nor_shared():
    W = path(4)
    graph = Graph.from_weights(W)
    W.data[:] = 7
    assert graph.weights.max() == 1
    assert W.data.flags.writeable


def test_explicit_zeros_vanish_and_repeated_entries_add():
    W = sparse.coo_array(([1.0, 1.0, 2.0, 0.0, 0.0], ([0, 0, 1, 1, 2], [1, 1, 0, 2, 1])))
    graph = Graph.from_weights(W)
    assert graph.weights.nnz == 2
    assert graph.weights[0, 1] == 2


def test_rounding_is_made_exactly_symmetric():
    W = random_weights(50, 200, 2)
    noisy = W.copy()
    noisy.data = noisy.data.astype(np.float32).astype(np.float64) * (
        1 + 1e-7 * np.random.default_rng(0).uniform(size=W.nnz)
    )
    assert (noisy != noisy.T).nnz > 0
    graph = Graph.from_weights(noisy)
    assert_canonical(graph.weights)
    assert abs(graph.weights - W).max() < 1e-6


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.ones((2, 3)), "square"),
        (np.ones(4), "square"),
        (np.zeros((0, 0)), "empty"),
        ([[0, -1], [-1, 0]], "negative"),
        ([[0, np.nan], [np.nan, 0]], "NaN"),
        ([[0, np.inf], [np.inf, 0]], "infinity"),
        ([[1, 1], [1, 0]], "np.fill_diagonal(W, 0)"),
        (sparse.csr_array([[1, 1], [1, 0]]), "W.setdiag(0)"),
        ([[0, 1], [0.5, 0]], "not symmetric"),
        ([[0, 1], [0, 0]], "not symmetric"),
        ([[0, 1j], [1j, 0]], "complex"),
        ([["a", "b"], ["c", "d"]], "real numbers"),
        (np.array([[None, 1], [1, None]]), "real numbers"),
    ],
)
def test_what_is_not_a_graph_is_refused_in_one_line(weights, words):
    with pytest.raises(GraphError) as caught:
        Graph.from_weights(weights)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_message_names_the_row():
    W = path(6).toarray()
    W[4, 5] = W[5, 4] = -2
    with pytest.raises(GraphError, match="row 4"):
        Graph.from_weights(W)
    W[4, 5] = 1.5
    W[5, 4] = 1.0
    with pytest.raises(GraphError, match=r"differ by up to 0.5 \(row 4\)"):
        Graph.from_weights(W)


def test_indices_out_of_range_are_refused():
    W = path(5)
    W.indices[0] = 99
    with pytest.raises(GraphError, match="not a valid sparse matrix"):
        Graph.from_weights(W)


def test_features_must_fit():
    graph = Graph.from_weights(path(3), np.eye(3, dtype=np.float32))
    assert graph.features.dtype == np.float32
    assert not graph.features.flags.writeable
    with pytest.raises(GraphError, match="4 rows and the graph 3 nodes"):
        Graph.from_weights(path(3), np.eye(4))
    with pytest.raises(FeatureError, match="NaN"):
        Graph.from_weights(path(2), [[np.nan], [1.0]])


def test_a_graph_is_frozen():
    graph = Graph.from_weights(path(3))
    with pytest.raises(dataclasses.FrozenInstanceError):
        graph.weights = path(4)
    for array in (graph.degrees, graph.components, graph.component_sizes, graph.weights.data):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 9
    assert graph.degrees is graph.degrees
    assert graph.components is graph.components


def test_equal_weights_have_equal_fingerprints():
    W = random_weights(40, 100, 3)
    graph, same = Graph.from_weights(W), Graph.from_weights(W.tocoo())
    assert graph.fingerprint == same.fingerprint
    assert len(graph.fingerprint) == 64
    changed = W * 1.0
    changed.data *= 1 + 1e-15
    assert Graph.from_weights(changed).fingerprint != graph.fingerprint
    larger = sparse.block_array([[W, None], [None, sparse.csr_array((1, 1))]])
    assert Graph.from_weights(larger).fingerprint != graph.fingerprint


def test_components_are_ordered_by_size_and_then_by_smallest_node():
    #            0 alone, {1, 2}, {3, 4, 5}, {6, 7}, 8 alone
    W = sparse.lil_array((9, 9))
    for i, j in ((1, 2), (3, 4), (4, 5), (6, 7)):
        W[i, j] = W[j, i] = 1
    graph = Graph.from_weights(W)
    assert graph.components.tolist() == [3, 1, 1, 0, 0, 0, 2, 2, 4]
    assert graph.component_sizes.tolist() == [3, 2, 2, 1, 1]
    assert graph.n_components == 5
    assert graph.degrees.tolist() == [0, 1, 1, 1, 2, 1, 1, 1, 0]


@given(n=st.integers(1, 40), edges=st.integers(0, 60), seed=st.integers(0, 2**20))
def test_components_agree_with_scipy(n, edges, seed):
    W = random_weights(n, edges, seed)
    graph = Graph.from_weights(W)
    count, theirs = csgraph.connected_components(W, directed=False)
    assert graph.n_components == count
    assert len(set(zip(theirs, graph.components, strict=True))) == count
    sizes = graph.component_sizes
    assert (np.diff(sizes) <= 0).all()
    smallest = [np.flatnonzero(graph.components == c)[0] for c in range(count)]
    for c in range(count - 1):
        assert sizes[c] > sizes[c + 1] or smallest[c] < smallest[c + 1]


@given(n=st.integers(1, 30), edges=st.integers(0, 60), seed=st.integers(0, 2**20))
def test_laplacians_agree_with_their_formulas(n, edges, seed):
    graph = Graph.from_weights(random_weights(n, edges, seed))
    W, d = graph.weights.toarray(), graph.degrees
    np.testing.assert_allclose(d, W.sum(axis=1), rtol=1e-14)
    L = graph.laplacian()
    assert isinstance(L, sparse.csr_array)
    np.testing.assert_allclose(L.toarray(), np.diag(d) - W, atol=1e-14)
    inverse = np.divide(1, d, out=np.zeros(n), where=d > 0)
    identity = np.diag((d > 0).astype(float))
    np.testing.assert_allclose(
        graph.laplacian("random-walk").toarray(), identity - inverse[:, None] * W, atol=1e-14
    )
    root = np.sqrt(inverse)
    normalised = graph.laplacian("normalised").toarray()
    np.testing.assert_allclose(normalised, identity - root[:, None] * W * root, atol=1e-13)
    theirs = csgraph.laplacian(graph.weights, normed=True).toarray()
    np.testing.assert_allclose(normalised, theirs, atol=1e-13)
    assert np.linalg.eigvalsh(normalised).min() > -1e-12


def test_an_unknown_laplacian_is_refused():
    with pytest.raises(InputError, match="combinatorial, normalised, random-walk"):
        Graph.from_weights(path(3)).laplacian("signless")


def test_one_node_and_no_edges_are_graphs():
    graph = Graph.from_weights(np.zeros((1, 1)))
    assert (graph.n_nodes, graph.n_components, graph.degrees.tolist()) == (1, 1, [0])
    lonely = Graph.from_weights(sparse.csr_array((3, 3)))
    assert lonely.components.tolist() == [0, 1, 2]
    assert lonely.report().isolated == 3
    assert "3 nodes, 0 edges" in repr(lonely)
