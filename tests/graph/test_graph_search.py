"""Neighbour search: against brute force, among duplicates, and its recall where approximate."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist

from poise.errors import InputError, UnknownNameError
from poise.graph import backends, knn_graph
from poise.graph.backend import Brute, FaissFlat, FaissIVF, as_backend
from poise.graph.metrics import check_metric, pair_distances
from poise.graph.search import choose_backend, nearest_neighbours, nearest_nodes

EXACT = ["brute", "kd-tree", "faiss-flat"]


def brute_force(X, k, metric="euclidean"):
    """k nearest others by distance and then by index: every pair, by differences, in float64."""
    distances = cdist(X.astype(np.float64), X.astype(np.float64), metric)
    np.fill_diagonal(distances, np.inf)
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(distances, order, axis=1)


def assert_sound(lists, X):
    """No point lists itself, nobody is listed twice, distances ascend."""
    n = len(X)
    assert (lists.indices != np.arange(n)[:, None]).all()
    assert ((lists.indices >= 0) & (lists.indices < n)).all()
    ordered = np.sort(lists.indices, axis=1)
    assert (np.diff(ordered, axis=1) > 0).all()
    assert (np.diff(lists.distances, axis=1) >= 0).all()
    assert lists.indices.dtype == np.int32
    assert lists.distances.dtype == np.float64


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("backend", EXACT)
def test_exact_backends_agree_with_brute_force(backend, dtype):
    X = np.random.default_rng(0).normal(size=(500, 8)).astype(dtype)
    lists = nearest_neighbours(X, 15, backend=backend)
    indices, distances = brute_force(X, 15)
    np.testing.assert_array_equal(lists.indices, indices)
    np.testing.assert_allclose(lists.distances, distances, rtol=1e-14)
    assert_sound(lists, X)


@pytest.mark.parametrize("backend", EXACT)
def test_far_away_clusters_do_not_lose_close_pairs(backend):
    """Squares of float32 products would drown distances of 1 at an offset of 1e5."""
    rng = np.random.default_rng(1)
    centres = 1e5 * rng.normal(size=(5, 6))
    X = centres[rng.integers(5, size=400)] + rng.normal(size=(400, 6)) + 1e6
    lists = nearest_neighbours(X, 10, backend=backend)
    indices, distances = brute_force(X, 10)
    np.testing.assert_array_equal(lists.indices, indices)
    np.testing.assert_allclose(lists.distances, distances, rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-140, 1e-30, 1e30, 1e140])
@pytest.mark.parametrize("backend", [*EXACT, "faiss-ivf", "faiss-cells"])
def test_units_do_not_matter(backend, scale):
    X = np.random.default_rng(2).normal(size=(300, 5))
    lists = nearest_neighbours(X, 8, backend=backend)
    scaled = nearest_neighbours(X * scale, 8, backend=backend)
    agree = (lists.indices == scaled.indices).mean()
    assert agree == 1 if backend in EXACT else agree > 0.99
    np.testing.assert_allclose(scaled.distances[:, 0], lists.distances[:, 0] * scale, rtol=1e-10)


@pytest.mark.parametrize("backend", [*EXACT, "faiss-ivf", "faiss-cells"])
@pytest.mark.parametrize("copies", [2, 5, 40])
def test_a_point_never_lists_itself_among_its_copies(backend, copies):
    X = np.repeat(np.random.default_rng(3).normal(size=(20, 4)), copies, axis=0)
    lists = nearest_neighbours(X, 10, backend=backend)
    assert_sound(lists, X)
    zeros = (lists.distances == 0).sum(axis=1)
    assert (zeros == min(copies - 1, 10)).all()


@pytest.mark.parametrize("backend", [*EXACT, "faiss-ivf", "faiss-cells"])
@pytest.mark.parametrize(("n", "k"), [(2, 1), (5, 4), (60, 59)])
def test_as_many_neighbours_as_there_are(backend, n, k):
    X = np.random.default_rng(4).normal(size=(n, 3)).astype(np.float32)
    lists = nearest_neighbours(X, k, backend=backend)
    assert_sound(lists, X)
    np.testing.assert_array_equal(lists.indices, brute_force(X, k)[0])


@given(
    n=st.integers(2, 40),
    d=st.integers(1, 6),
    k=st.integers(1, 12),
    levels=st.integers(1, 4),
    seed=st.integers(0, 2**20),
    backend=st.sampled_from(EXACT),
)
def test_distances_are_right_even_with_ties(n, d, k, levels, seed, backend):
    """On a small grid nearly all distances tie: lists may differ, their distances may not."""
    X = np.random.default_rng(seed).integers(levels, size=(n, d)).astype(np.float64)
    k = min(k, n - 1)
    lists = nearest_neighbours(X, k, backend=backend)
    assert_sound(lists, X)
    np.testing.assert_allclose(lists.distances, brute_force(X, k)[1], rtol=1e-14)


@pytest.mark.parametrize(
    ("metric", "theirs"),
    [("manhattan", "cityblock"), ("chebyshev", "chebyshev"), ("canberra", "canberra")],
)
def test_other_metrics(metric, theirs):
    X = np.random.default_rng(5).normal(size=(200, 12))
    lists = nearest_neighbours(X, 9, metric=metric)
    indices, distances = brute_force(X, 9, theirs)
    np.testing.assert_array_equal(lists.indices, indices)
    np.testing.assert_allclose(lists.distances, distances, rtol=1e-12)


@pytest.mark.parametrize("backend", EXACT)
def test_cosine_is_the_chord_between_directions(backend):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(200, 5)) * rng.uniform(0.1, 10, size=(200, 1))
    unit = X / np.linalg.norm(X, axis=1)[:, None]
    lists = nearest_neighbours(X, 9, metric="cosine", backend=backend)
    indices, distances = brute_force(unit, 9)
    np.testing.assert_array_equal(lists.indices, indices)
    np.testing.assert_allclose(lists.distances, distances, rtol=1e-9)
    assert (
        knn_graph(X, 9, metric="angular").fingerprint
        == knn_graph(X, 9, metric="cosine").fingerprint
    )


def test_cosine_of_a_zero_row_is_defined():
    X = np.vstack([np.zeros((1, 3)), np.random.default_rng(7).normal(size=(10, 3))])
    graph = knn_graph(X, 4, metric="cosine", keep_neighbours=True)
    assert np.isfinite(graph.weights.data).all()
    np.testing.assert_allclose(graph.neighbours.distances[0], 1)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
def test_sparse_features_give_the_graph_of_dense_ones(metric):
    S = sparse.random_array((150, 400), density=0.05, rng=np.random.default_rng(8), format="csr")
    dense, thin = knn_graph(S.toarray(), 8, metric=metric), knn_graph(S, 8, metric=metric)
    assert abs(dense.weights - thin.weights).max() < 1e-9
    assert sparse.issparse(thin.features)
    for form in (S.tocoo(), S.tocsc(), sparse.csr_matrix(S)):
        assert knn_graph(form, 8, metric=metric).fingerprint == thin.fingerprint


def test_sparse_duplicates_are_at_distance_zero():
    S = sparse.random_array((30, 200), density=0.05, rng=np.random.default_rng(9), format="csr")
    doubled = sparse.vstack([S, S * 1.0]).tocsr()
    lists = nearest_neighbours(sparse.csr_array(doubled), 3)
    assert (lists.distances[:, 0] == 0).all()
    assert (lists.indices[:, 0] == np.roll(np.arange(60), 30)).all()


def test_float32_is_never_worse_than_its_input():
    """Exact distances of float32 features, not float32 distances."""
    X = np.random.default_rng(10).normal(size=(300, 20)).astype(np.float32)
    X[150:] = X[:150] + np.float32(1e-4)
    lists = nearest_neighbours(X, 5, backend="faiss-flat")
    np.testing.assert_allclose(lists.distances, brute_force(X, 5)[1], rtol=1e-13)


def test_pair_distances_count_gaps_as_infinite():
    X = np.arange(6.0).reshape(3, 2)
    d = pair_distances(X, X, np.array([[0, -1], [2, 0], [-1, -1]]), "euclidean")
    assert d.tolist() == [[0, np.inf], [np.sqrt(8), np.sqrt(8)], [np.inf, np.inf]]


def test_cells_with_too_few_points_are_filled_exactly():
    X = np.random.default_rng(11).normal(size=(2_000, 12))
    lists = nearest_neighbours(X, 50, backend=FaissIVF(lists_per_root=4, probes=1))
    assert_sound(lists, X)
    assert np.isfinite(lists.distances).all()


def test_many_dimensions_are_searched_along_few():
    """Points near a plane in 300 dimensions: the plane finds candidates, true distances decide."""
    rng = np.random.default_rng(17)
    X = rng.normal(size=(3_000, 8)) @ rng.normal(size=(8, 300)) + 0.3 * rng.normal(
        size=(3_000, 300)
    )
    backend = FaissIVF(probes=1_000)  # every cell: only the projection is approximate
    lists = nearest_neighbours(X, 10, backend=backend)
    true = nearest_neighbours(X, 10, backend="exact")
    assert_sound(lists, X)
    hits = [len(set(a) & set(b)) for a, b in zip(lists.indices, true.indices, strict=True)]
    assert np.mean(hits) / 10 > 0.95
    same = lists.indices == true.indices
    np.testing.assert_array_equal(lists.distances[same], true.distances[same])


def test_new_points_find_themselves():
    X = np.random.default_rng(12).normal(size=(300, 12))
    for backend in ("auto", "exact", "brute", "faiss-flat"):
        lists = nearest_nodes(X, X[50:60], 4, backend=backend)
        assert lists.indices[:, 0].tolist() == list(range(50, 60))
        assert (lists.distances[:, 0] == 0).all()


@pytest.mark.parametrize("backend", sorted(backends))
def test_same_seed_same_lists(backend):
    X = np.random.default_rng(13).normal(size=(3_000, 10)).astype(np.float32)
    first = nearest_neighbours(X, 10, backend=backend, seed=5)
    second = nearest_neighbours(X, 10, backend=backend, seed=5)
    np.testing.assert_array_equal(first.indices, second.indices)
    np.testing.assert_array_equal(first.distances, second.distances)


@pytest.mark.data
def test_recall_on_the_mnist_embedding(poise_data):
    with np.load(poise_data / "mnist_vae.npz") as file:
        X = file["X"]
    assert X.dtype == np.float32
    lists = nearest_neighbours(X, 20, backend="faiss-ivf")
    rows = np.random.default_rng(0).choice(len(X), 1_000, replace=False)
    true = nearest_nodes(X, X[rows], 21, backend="faiss-flat")
    hits = [
        len(set(lists.indices[row]) & set(near) - {row})
        for row, near in zip(rows, true.indices, strict=True)
    ]
    assert np.sum(hits) / (20 * rows.size) >= 0.98


@pytest.mark.parametrize(
    ("n", "d", "metric", "options", "expected"),
    [
        (1_797, 64, "euclidean", {}, "brute"),
        (1_797, 64, "cosine", {}, "brute"),
        (1_000_000, 3, "euclidean", {}, "kd-tree"),
        (1_000_000, 3, "manhattan", {}, "kd-tree"),
        (7_797, 617, "euclidean", {}, "faiss-flat"),
        (20_000, 20, "euclidean", {}, "faiss-flat"),
        (70_000, 20, "euclidean", {}, "faiss-ivf"),
        (70_000, 20, "euclidean", {"exact": True}, "faiss-flat"),
        (70_000, 784, "cosine", {}, "faiss-ivf"),
        (199_999, 32, "euclidean", {}, "faiss-ivf"),
        (200_000, 32, "euclidean", {}, "faiss-cells"),
        (1_000_000, 64, "cosine", {}, "faiss-cells"),
        (1_000_000, 32, "euclidean", {"exact": True}, "faiss-flat"),
        (100_000, 32, "euclidean", {"queries": 10}, "brute"),
        (1_000_000, 32, "euclidean", {"queries": 10}, "faiss-flat"),
        (1_000_000, 32, "euclidean", {"queries": 1_000}, "faiss-flat"),
        (70_000, 20, "manhattan", {}, "brute"),
        (70_000, 20, "chebyshev", {}, "brute"),
        (70_000, 3, "euclidean", {"sparse": True}, "brute"),
    ],
)
def test_the_rule(n, d, metric, options, expected):
    assert choose_backend(n, d, metric, **options) == expected
    assert expected in backends


def test_the_graph_says_which_backend_it_used():
    X = np.random.default_rng(14).normal(size=(300, 12))
    assert knn_graph(X, 5).construction.backend == "brute"
    assert knn_graph(X, 5, backend="faiss-ivf").construction.backend == "faiss-ivf"
    assert knn_graph(X, 5, backend=FaissIVF(probes=64)).construction.backend == "faiss-ivf"


def test_what_a_backend_cannot_do_is_refused():
    X = np.random.default_rng(15).normal(size=(50, 3))
    with pytest.raises(InputError, match="cannot search with the metric 'chebyshev'"):
        knn_graph(X, 3, metric="chebyshev", backend="kd-tree")
    with pytest.raises(InputError, match="cannot search sparse features"):
        knn_graph(sparse.csr_array(X), 3, backend="faiss-flat")
    with pytest.raises(
        UnknownNameError, match="brute, faiss-cells, faiss-flat, faiss-ivf, kd-tree"
    ):
        knn_graph(X, 3, backend="annoy")
    with pytest.raises(InputError, match="expected 'auto', 'exact'"):
        as_backend(7)
    assert as_backend(FaissFlat()) == FaissFlat()
    assert as_backend("brute") == Brute()


def test_unknown_metrics_list_the_known_ones():
    X = np.random.default_rng(16).normal(size=(50, 3))
    with pytest.raises(UnknownNameError, match=r"cosine.*euclidean.*manhattan"):
        knn_graph(X, 3, metric="euclid")
    with pytest.raises(UnknownNameError, match="metric for sparse features is called 'chebyshev'"):
        knn_graph(sparse.csr_array(X), 3, metric="chebyshev")
    with pytest.raises(UnknownNameError, match="precomputed"):
        knn_graph(X, 3, metric="precomputed")
    assert check_metric("l1", False) == check_metric("cityblock", False) == "manhattan"


def test_every_backend_describes_itself():
    assert all(backends.describe().values())
