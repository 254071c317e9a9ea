"""PreparedLaplacian: the order of the rows, the groups, the coarse matrices."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from linear_systems import small_groups
from scipy import sparse

import poise
from poise.linalg import PreparedLaplacian, choose_preconditioner, prepare, solve
from poise.linalg.aggregates import MAX_GROUPS, aggregate
from poise.linalg.coarse import coarse_matrix
from poise.linalg.prepared import SORTED_ROWS
from poise.linalg.simultaneous import is_stiff
from strategies import Floats, as_csr, connected_weights, laplacian, seeds, weights_in_pieces

graphs = st.one_of(connected_weights(least=1), weights_in_pieces())


def indicators(prepared: PreparedLaplacian) -> Floats:
    """(n, m) matrix Z of the groups."""
    return (prepared.group[:, None] == np.arange(prepared.n_groups)).astype(float)


@settings(max_examples=100)
@given(graphs)
def test_the_layout_is_the_same_matrix_in_another_order(W: Floats) -> None:
    with small_groups():
        prepared = prepare(as_csr(W))
    n = len(W)
    assert sorted(prepared.order) == list(range(n))
    np.testing.assert_array_equal(prepared.position[prepared.order], np.arange(n))
    laid_out = sparse.csr_array((prepared.data, prepared.indices, prepared.indptr), shape=(n, n))
    np.testing.assert_array_equal(laid_out.toarray(), W[np.ix_(prepared.order, prepared.order)])
    np.testing.assert_allclose(prepared.degrees, W.sum(axis=1))
    assert prepared.ranges[0] == 0
    assert prepared.ranges[-1] == n
    assert np.all(np.diff(prepared.ranges) > 0)
    for g in range(prepared.n_groups):  # range g holds group g
        rows = prepared.order[prepared.ranges[g] : prepared.ranges[g + 1]]
        assert set(rows) == set(np.flatnonzero(prepared.group == g))
        assert len(set(prepared.components[rows])) == 1


def test_rows_of_a_block_have_ascending_lengths() -> None:
    X = np.random.default_rng(0).normal(size=(3000, 4)).astype(np.float32)
    prepared = prepare(poise.knn_graph(X, k=12).weights)
    lengths = np.diff(prepared.indptr.astype(np.int64))
    assert len(set(lengths)) > 1
    for first, last in pairwise(prepared.ranges):
        for start in range(first, last, SORTED_ROWS):
            assert np.all(np.diff(lengths[start : min(start + SORTED_ROWS, last)]) >= 0)


@settings(max_examples=100)
@given(graphs, seeds)
def test_product_is_the_laplacian(W: Floats, seed: int) -> None:
    prepared = prepare(as_csr(W))
    X = np.random.default_rng(seed).normal(size=(len(W), 3))
    np.testing.assert_allclose(prepared.product(X), laplacian(W) @ X, atol=1e-12)
    np.testing.assert_allclose(prepared.product(X[:, 0]), laplacian(W) @ X[:, 0], atol=1e-12)


@settings(max_examples=100)
@given(graphs, seeds)
def test_coarse_matrices_are_projections_of_the_operator(W: Floats, seed: int) -> None:
    with small_groups():
        prepared = prepare(as_csr(W))
    rng = np.random.default_rng(seed)
    q = rng.random(len(W)) * (rng.random(len(W)) < 0.5)
    free = rng.random(len(W)) < 0.7
    Z = indicators(prepared)
    np.testing.assert_allclose(prepared.coarse, Z.T @ laplacian(W) @ Z, atol=1e-12)
    Z = Z * free[:, None]
    expected = Z.T @ (laplacian(W) + np.diag(q)) @ Z
    expected[np.diag_indices(len(expected))] += Z.sum(axis=0) == 0  # groups without free nodes
    np.testing.assert_allclose(coarse_matrix(prepared, q, free), expected, atol=1e-12)


def test_the_inverse_of_the_singular_coarse_matrix_acts_on_vectors_without_mean() -> None:
    blocks = [np.eye(60, k=1) + np.eye(60, k=-1), 1 - np.eye(70)]
    prepared = prepare(as_csr(sparse.block_diag(blocks)))
    assert prepared.n_groups >= 3
    component = np.array(
        [prepared.components[prepared.group == g][0] for g in range(prepared.n_groups)]
    )
    r = np.random.default_rng(0).normal(size=prepared.n_groups)
    r -= (np.bincount(component, weights=r) / np.bincount(component))[component]
    np.testing.assert_allclose(prepared.coarse @ (prepared.coarse_inverse @ r), r, atol=1e-9)


def test_groups_without_a_free_node_do_no_harm() -> None:
    blocks = [1 - np.eye(70), np.array([[0.0, 1.0], [1.0, 0.0]])]
    prepared = prepare(as_csr(sparse.block_diag(blocks)))
    free = np.arange(72) == 71
    E = coarse_matrix(prepared, np.zeros(72), free)
    np.testing.assert_array_equal(E, np.eye(prepared.n_groups))
    solution = solve(prepared, np.ones(72), free=free, preconditioner="two-level").require()
    np.testing.assert_allclose(solution.value, np.arange(72) == 71)


def test_groups_lie_within_components_and_small_ones_have_none() -> None:
    blocks = [np.ones((n, n)) - np.eye(n) for n in (200, 100, 3, 1)]
    W = as_csr(sparse.block_diag(blocks))
    components = np.repeat(np.arange(4), [200, 100, 3, 1])
    group, order = aggregate(W, components)
    assert np.all(group[components < 2] >= 0)
    assert np.all(group[components >= 2] == -1)
    for g in range(group.max() + 1):
        assert len(set(components[group == g])) == 1
    np.testing.assert_array_equal(order, aggregate(W, components).order)


def test_there_are_never_more_groups_than_the_limit() -> None:
    n = 64 * MAX_GROUPS
    W = as_csr(sparse.diags_array([np.ones(n - 1)] * 2, offsets=[-1, 1]))
    prepared = prepare(W)
    assert MAX_GROUPS / 2 < prepared.n_groups <= MAX_GROUPS
    assert len(prepared.ranges) == prepared.n_groups + 1


def test_a_star_is_one_group() -> None:
    n = 1000
    star = np.zeros((n, n))
    star[0, 1:] = star[1:, 0] = 1.0
    group, order = aggregate(as_csr(star), np.zeros(n, dtype=np.int64))
    assert np.all(group == 0)
    assert sorted(order) == list(range(n))


def test_neighbours_are_close_in_the_order() -> None:
    """Points of the plane, numbered at random: most neighbours are a few rows away."""
    X = np.random.default_rng(0).uniform(size=(4_000, 2))
    W = poise.knn_graph(X, k=6).weights
    order = aggregate(W, np.zeros(len(X), dtype=np.int64)).order
    position = np.argsort(order)
    apart = np.abs(np.repeat(position, np.diff(W.indptr)) - position[W.indices])
    assert np.mean(apart < 100) > 0.8


def test_tiny_weights_do_not_break_the_groups() -> None:
    n = 100
    W = as_csr(sparse.diags_array([np.full(n - 1, 1e-300)] * 2, offsets=[-1, 1]))
    assert np.all(prepare(W).group >= 0)


@pytest.mark.parametrize(
    ("n", "q", "stiff", "expected"),
    [
        (20, 0.0, False, "jacobi"),
        (400, 0.0, False, "two-level"),
        (400, 0.0, True, "approx-chol"),
        (400, 9.0, True, "jacobi"),
    ],
)
def test_the_preconditioner_follows_size_diagonal_and_stiffness(
    n: int, q: float, stiff: bool, expected: str
) -> None:
    prepared = prepare(as_csr(sparse.diags_array([np.ones(n - 1)] * 2, offsets=[-1, 1])))
    chosen = choose_preconditioner(prepared, np.full(n, q), np.ones(n, dtype=bool), stiff)
    assert chosen == expected


def test_a_long_path_is_stiff_and_many_dimensions_are_not() -> None:
    n = 3_000
    path = prepare(as_csr(sparse.diags_array([np.ones(n - 1)] * 2, offsets=[-1, 1])))
    assert is_stiff(path)
    rhs = np.zeros(n)
    rhs[[0, -1]] = 1.0, -1.0
    solution = solve(path, rhs, singular=True).require()
    assert solution.steps[0] < 20  # a path is a tree: its factor is exact
    np.testing.assert_allclose(np.diff(solution.value), -1.0, atol=1e-8)
    rng = np.random.default_rng(0)
    far = sparse.random_array((n, n), density=20 / n, rng=rng)
    W = as_csr((far + far.T).tocsr())
    W.setdiag(0)
    W.eliminate_zeros()
    assert not is_stiff(prepare(W))
