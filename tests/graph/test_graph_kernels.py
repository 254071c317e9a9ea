"""Kernels: against GraphLearning on the same neighbour lists, and where distances are zero."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from poise.errors import InputError, UnknownNameError
from poise.graph import Kernel, Neighbours, epsilon_graph, kernels, knn_graph
from poise.graph.kernel import Gaussian, Profile, Singular, as_kernel, label, registered_name
from poise.graph.knn import knn_weights
from poise.graph.weights import symmetrised

THEIRS = {
    "gaussian": "gaussian",
    "symmetric": "symgaussian",
    "uniform": "uniform",
    "distance": "distance",
    "singular": "singular",
}


@pytest.fixture(scope="module")
def graphlearning():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the package does at import is its own affair
        return pytest.importorskip("graphlearning", reason="needs the package graphlearning")


def with_self(graph):
    """A graph's neighbour lists as GraphLearning keeps them: each point first in its own list."""
    n = graph.n_nodes
    near = graph.neighbours
    indices = np.hstack([np.arange(n)[:, None], near.indices]).astype(np.int64)
    return indices, np.hstack([np.zeros((n, 1)), near.distances])


@pytest.mark.parametrize("name", sorted(THEIRS))
def test_weights_agree_with_graphlearning(graphlearning, name):
    X = np.random.default_rng(0).normal(size=(400, 6))
    graph = knn_graph(X, 12, kernel=name, keep_neighbours=True)
    W = graphlearning.weightmatrix.knn(
        None, 12, kernel=THEIRS[name], symmetrize=True, knn_data=with_self(graph)
    )
    assert abs(graph.weights - sparse.csr_array(W)).max() < 1e-12 * max(1, abs(W).max())
    assert graph.weights.nnz == W.nnz


@pytest.mark.parametrize("name", sorted(THEIRS.keys() - {"symmetric"}))  # which it lacks here
def test_epsilon_weights_agree_with_graphlearning(graphlearning, name):
    X = np.random.default_rng(1).uniform(size=(300, 2))
    graph = epsilon_graph(X, 0.15, kernel=name)
    W = sparse.csr_array(graphlearning.weightmatrix.epsilon_ball(X, 0.15, kernel=THEIRS[name]))
    assert abs(graph.weights - W).max() < 1e-12 * max(1, abs(W).max())
    assert graph.weights.nnz == W.nnz


def test_every_registered_kernel_is_compared():
    assert set(kernels) == set(THEIRS)
    assert all(kernels.describe().values())


def test_a_callable_is_applied_to_the_scaled_squares():
    X = np.random.default_rng(2).normal(size=(100, 3))
    named = knn_graph(X, 7)
    own = knn_graph(X, 7, kernel=lambda t: np.exp(-4 * t))
    assert abs(named.weights - own.weights).max() < 1e-15
    assert own.construction.kernel == "<lambda>"
    assert own.construction.symmetrise == "mean"


def test_the_gaussian_is_the_papers_formula():
    X = np.array([[0.0], [1.0], [3.0], [7.0]])
    W = knn_graph(X, 2).weights.toarray()
    # 0 lists 1, 2 (d_k = 3); 1 lists 0, 2 (d_k = 2); 2 lists 1, 0 (d_k = 3); 3 lists 2, 1 (d_k = 6)
    assert W[0, 1] == pytest.approx((np.exp(-4 * 1 / 9) + np.exp(-4 * 1 / 4)) / 2, rel=1e-15)
    assert W[1, 3] == pytest.approx(np.exp(-4) / 2, rel=1e-15)
    assert W[0, 3] == 0


@pytest.mark.parametrize("how", ["mean", "max", "min"])
@pytest.mark.parametrize("name", sorted(THEIRS))
def test_symmetrise_overrides_the_kernels_habit(name, how):
    X = np.random.default_rng(3).normal(size=(60, 3))
    graph = knn_graph(X, 5, kernel=name, symmetrise=how, keep_neighbours=True)
    directed = knn_weights(graph.neighbours, as_kernel(name)).toarray()
    combine = {"max": np.maximum, "min": np.minimum, "mean": lambda a, b: (a + b) / 2}[how]
    np.testing.assert_array_equal(graph.weights.toarray(), combine(directed, directed.T))
    assert graph.construction.symmetrise == how


def test_mutual_neighbours_only():
    W = sparse.csr_array(np.array([[0, 1.0, 0], [2.0, 0, 3.0], [0, 0, 0]]))
    assert symmetrised(W, "min").toarray().tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]


@given(
    name=st.sampled_from(sorted(THEIRS)),
    copies=st.integers(1, 12),
    others=st.integers(1, 12),
    k=st.integers(1, 8),
    seed=st.integers(0, 2**20),
)
def test_weights_are_finite_whatever_coincides(name, copies, others, k, seed):
    rng = np.random.default_rng(seed)
    X = np.vstack([np.tile(rng.normal(size=(1, 3)), (copies, 1)), rng.normal(size=(others, 3))])
    k = min(k, len(X) - 1)
    graph = knn_graph(X, k, kernel=name, keep_neighbours=True)
    W = graph.weights
    assert np.isfinite(W.data).all()
    assert (W.data > 0).all()
    assert (W != W.T).nnz == 0
    assert not W.diagonal().any()
    if name not in ("distance", "singular"):
        assert W.data.max() <= 1


def test_copies_beyond_k_keep_their_tie_to_the_rest():
    """Scale 0 is replaced by the next distance known, so the symmetric kernel does not cut."""
    X = np.array([[0.0]] * 4 + [[1.0], [1.5]])
    graph = knn_graph(X, 2, kernel="symmetric", keep_neighbours=True)
    assert graph.neighbours.distances[0].tolist() == [0, 0]
    assert graph.spacing.nearest.tolist() == [0, 0, 0, 0, 0.5, 0.5]
    assert graph.spacing.scale.tolist() == [1, 0, 0, 0, 1, 1.5]  # only node 0 is listed by node 4
    assert graph.weights[4, 0] == pytest.approx(np.exp(-4.0))
    assert graph.weights[0, 1] == 1


def test_all_points_equal_gives_weights_of_one():
    neighbours = knn_graph(np.ones((9, 2)), 3, keep_neighbours=True).neighbours
    for name in ("gaussian", "symmetric", "uniform", "singular"):
        assert (knn_weights(neighbours, as_kernel(name)).data == 1).all()
    assert knn_graph(np.ones((9, 2)), 3, kernel="distance").weights.nnz == 0


def test_extreme_distances_stay_finite():
    near = Neighbours(np.array([[1], [0]]), np.array([[1e-300], [1e-300]]))
    for name in kernels:
        weights = knn_weights(near, as_kernel(name)).data
        assert np.isfinite(weights).all()
    assert np.isfinite(Singular()(np.full(10, 5e-324), np.ones(1), np.ones(1)).sum())


def test_a_custom_kernel():
    class Half(Kernel):
        """One half for every neighbour."""

        def __call__(self, d, s, r):
            return np.full(d.shape, 0.5)

    graph = knn_graph(np.random.default_rng(0).normal(size=(20, 2)), 3, kernel=Half())
    assert set(graph.weights.data) == {0.25, 0.5}
    assert graph.construction.kernel == "Half"
    assert registered_name(Half()) is None
    assert registered_name(Gaussian()) == "gaussian"
    assert label(Profile(np.exp)) == "exp"


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (lambda t: -t - 1, "negative"),
        (lambda t: np.full_like(t, np.nan), "NaN"),
        (lambda t: np.ones(3), "shape"),
        (3, "expected one of"),
    ],
)
def test_a_bad_kernel_is_refused(kernel, words):
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(InputError, match=words):
        knn_graph(X, 3, kernel=kernel)


def test_an_unknown_kernel_names_the_nearest_or_all():
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(UnknownNameError, match="did you mean gaussian"):
        knn_graph(X, 3, kernel="gausian")
    with pytest.raises(UnknownNameError, match="distance, gaussian, singular, symmetric, uniform"):
        knn_graph(X, 3, kernel="magic")
