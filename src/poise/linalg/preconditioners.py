"""Preconditioners: how one is chosen, and how each is built."""

from typing import Literal

import numpy as np
from scipy import sparse

from poise.arrays import Bools, Floats, Ints
from poise.errors import InputError
from poise.linalg.coarse import coarse_inverses
from poise.linalg.operators import Operators
from poise.linalg.prepared import PreparedLaplacian
from poise.linalg.reference import Map

Preconditioner = Literal["auto", "jacobi", "two-level", "approx-chol"]

#: If the diagonal is stronger than this (median of q/(d + q) over the free nodes), the coarse space
#: gains nothing over Jacobi.
STRONG_DIAGONAL_SHARE = 0.1


def choose_preconditioner(
    prepared: PreparedLaplacian, q: Floats, free: Bools, stiff: bool
) -> Preconditioner:
    """The rule for one operator, from the measurements in docs/decisions/preconditioner.md.

    "jacobi" where the diagonal is strong or the graph too small for a coarse space; else
    "approx-chol" on stiff graphs (`simultaneous.is_stiff`: grids, curves, points in the plane) and
    "two-level" on all others.
    """
    if prepared.n_groups < 2 or not free.any():
        return "jacobi"
    # The median exceeds a share if more than half of the numbers do, which is quicker to find.
    if q.any():
        strong = q * (1.0 - STRONG_DIAGONAL_SHARE) > STRONG_DIAGONAL_SHARE * prepared.degrees
        if 2 * np.count_nonzero(strong & free) > np.count_nonzero(free):
            return "jacobi"
    return "approx-chol" if stiff else "two-level"


def two_level(
    prepared: PreparedLaplacian, inverse: Floats, mask: Floats, which: Ints, coarse: Floats
) -> Map:
    """``D^-1 + Z (Z^T A Z)^-1 Z^T`` as a map of (n, J) arrays; Jacobi alone without coarse space.

    `inverse` and `mask` are (n, K), `coarse` (K', m, m).
    """
    m = coarse.shape[1]
    grouped = prepared.group >= 0
    Z = sparse.csr_array(
        (np.ones(grouped.sum()), (np.flatnonzero(grouped), prepared.group[grouped])),
        shape=(prepared.n, prepared.n_groups),
    )

    def precondition(R: Floats) -> Floats:
        correction = inverse[:, which] * R
        if m:
            sums = np.asarray(Z.T @ R)
            small = np.einsum("jab,bj->aj", coarse[which % len(coarse)], sums)
            correction += mask[:, which] * (Z @ small)
        return correction

    return precondition


def approximate_cholesky(
    prepared: PreparedLaplacian, diagonal: Floats, F: Bools, which: Ints
) -> Map:
    """Factors of every operator on its free nodes; that of the Laplacian itself is kept."""
    import approx_chol

    factors = []
    for k in range(diagonal.shape[1]):
        nodes = np.flatnonzero(F[:, k])
        if len(nodes) == prepared.n and np.array_equal(diagonal[:, k], prepared.degrees):
            factors.append((nodes, prepared.factor))
            continue
        part = prepared.weights[nodes][:, nodes]
        # Weights from an iterative solve can make q slightly negative; the factors need rows that
        # are diagonally dominant.
        dominant = np.maximum(diagonal[nodes, k], prepared.degrees[nodes])
        A = sparse.csr_matrix(sparse.diags_array(dominant) - part)
        A.sort_indices()
        factors.append((nodes, approx_chol.factorize(A, approx_chol.Config(seed=0))))

    def precondition(R: Floats) -> Floats:
        correction = np.zeros_like(R)
        for j, k in enumerate(which):
            nodes, factor = factors[k]
            correction[nodes, j] = factor.solve(np.ascontiguousarray(R[nodes, j]))[: len(nodes)]
        return correction

    return precondition


def coarse_of_operators(operators: Operators, kind: Preconditioner) -> Floats:
    """Inverses of the coarse matrices, (K', m, m): one for all if singular, none for Jacobi."""
    prepared = operators.prepared
    if kind != "two-level" or prepared.n_groups < 2:
        return np.zeros((1, 0, 0))
    if operators.nullspace.all():
        return prepared.coarse_inverse[None]
    if operators.nullspace.any():
        raise InputError(
            "an operator is singular on some components only: bind the nodes of the others "
            "(free=False) and solve for them apart"
        )
    return coarse_inverses(prepared, operators.q, operators.free)
