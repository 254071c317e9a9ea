"""Singular Laplacians: declared, compatible, and solved on every component apart."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from linear_systems import PRECONDITIONERS, path, small_groups
from scipy import sparse

from poise.errors import InputError
from poise.linalg import prepare, solve
from strategies import (
    Floats,
    as_csr,
    connected_weights,
    laplacian,
    random_weights,
    seeds,
    weights_in_pieces,
)


def compatible(components: np.ndarray, rhs: Floats) -> Floats:
    """`rhs` without its mean over each component."""
    means = np.bincount(components, weights=rhs) / np.bincount(components)
    return np.asarray(rhs - means[components])


@settings(max_examples=100)
@given(
    st.one_of(connected_weights(least=1), weights_in_pieces()),
    seeds,
    st.sampled_from(PRECONDITIONERS),
    st.sampled_from(["compiled", "scipy"]),
)
def test_the_solution_is_the_pseudo_inverse(W, seed, preconditioner, backend):  # type: ignore[no-untyped-def]
    with small_groups():
        prepared = prepare(as_csr(W))
    rng = np.random.default_rng(seed)
    rhs = np.column_stack([compatible(prepared.components, rng.normal(size=len(W))) for _ in "ab"])
    solution = solve(
        prepared, rhs, singular=True, rtol=1e-12, preconditioner=preconditioner, backend=backend
    ).require()
    expected = np.linalg.pinv(laplacian(W), rcond=1e-10, hermitian=True) @ rhs
    size = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(solution.value, expected, atol=1e-8 * size)
    for column in solution.value.T:
        sums = np.bincount(prepared.components, weights=column)
        assert np.all(np.abs(sums) <= 1e-12 * size * len(W))


def test_a_singular_operator_must_be_declared() -> None:
    with pytest.raises(InputError, match=r"singular .* declare it with singular=True"):
        solve(path(5), np.zeros(5))


def test_one_component_without_a_bound_node_makes_it_singular() -> None:
    W = np.zeros((5, 5))
    W[0, 1] = W[1, 0] = W[2, 3] = W[3, 2] = 1.0  # and node 4 alone
    free = np.array([False, True, True, True, True])
    with pytest.raises(InputError, match="declare it with singular=True"):
        solve(prepare(as_csr(W)), np.zeros(5), free=free)


def test_a_right_hand_side_out_of_range_is_refused() -> None:
    with pytest.raises(InputError, match=r"column 1 of rhs sums to 1.00e\+00 over component 0"):
        solve(path(5), np.eye(5)[:, :2] * [0.0, 1.0], singular=True)


def test_a_single_node_is_its_own_nullspace() -> None:
    prepared = prepare(as_csr((1, 1)))
    assert solve(prepared, np.zeros(1), singular=True).require().value.tolist() == [0.0]
    assert solve(prepared, np.ones(1), diagonals=np.full(1, 4.0)).require().value == 0.25
    with pytest.raises(InputError, match="sums to"):
        solve(prepared, np.ones(1), singular=True)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("preconditioner", PRECONDITIONERS)
def test_tiny_graphs(n: int, preconditioner: str) -> None:
    prepared = path(n)
    rhs, q = np.arange(1.0, n + 1), np.arange(n) + 0.5
    solution = solve(prepared, rhs, diagonals=q, preconditioner=preconditioner).require()
    A = laplacian(prepared.weights.toarray()) + np.diag(q)
    np.testing.assert_allclose(A @ solution.value, rhs, atol=1e-6)


@pytest.mark.parametrize("backend", ["compiled", "scipy"])
def test_components_of_one_group_each_do_not_amplify_rounding(backend: str) -> None:
    parts = [random_weights(40, "tree", seed) for seed in (0, 1, 2)]
    W = sparse.block_diag(parts).toarray()
    prepared = prepare(as_csr(W))
    assert prepared.n_groups == 3
    rhs = compatible(prepared.components, np.random.default_rng(0).normal(size=120))
    options = {"preconditioner": "two-level", "backend": backend, "rtol": 1e-11}
    solution = solve(prepared, rhs, singular=True, **options).require()
    expected = np.linalg.pinv(laplacian(W), hermitian=True) @ rhs
    np.testing.assert_allclose(solution.value, expected, atol=1e-7 * np.abs(expected).max())


def test_singular_and_regular_components_can_be_solved_together() -> None:
    W = np.zeros((7, 7))
    W[:4, :4] = np.eye(4, k=1) + np.eye(4, k=-1)
    W[4:, 4:] = 1 - np.eye(3)
    rhs = np.array([0.0, 0, 0, 1, 1, -1, 0])
    free = np.arange(7) > 0
    solution = solve(prepare(as_csr(W)), rhs, free=free, singular=True).require()
    np.testing.assert_allclose(solution.value, [0, 1, 2, 3, 1 / 3, -1 / 3, 0], atol=1e-6)
