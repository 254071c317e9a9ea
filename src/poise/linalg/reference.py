"""Preconditioned conjugate gradients in plain NumPy and SciPy.

The textbook loop on the same problem as `compiled.py`. Every other path is checked against it, and
it accepts any preconditioner.

References
----------
Y. Saad, "Iterative Methods for Sparse Linear Systems", 2nd ed., SIAM 2003, Algorithm 9.1.
"""

from collections.abc import Callable

import numpy as np
from scipy import sparse

from poise.arrays import Floats, Ints
from poise.linalg.status import Status

Map = Callable[[Floats], Floats]


def iterate(
    apply: Map,
    precondition: Map,
    inverse: Floats,
    B: Floats,
    X: Floats,
    target: Floats,
    max_steps: int,
) -> tuple[Floats, Ints, Ints, Floats]:
    """Solve ``apply(X) = B`` column by column, all columns in step.

    Parameters
    ----------
    apply, precondition : maps of (n, J) arrays that keep nodes that are not free at zero
    inverse : (n, J) inverse diagonals, 0 on nodes not free
    B, X : (n, J) right-hand sides and start, zero on nodes not free
    target : (J,) norms of the residual divided by the diagonal, to reach

    Returns
    -------
    X, status (J,), steps (J,), norms reached (J,)
    """
    X = X.copy()
    R = B - apply(X)  # line 1
    n_columns = B.shape[1]
    status = np.full(n_columns, Status.MAX_STEPS, dtype=np.int64)
    steps = np.zeros(n_columns, dtype=np.int64)
    active = np.ones(n_columns, dtype=bool)
    P = np.zeros_like(X)
    rz = np.ones(n_columns)
    for step in range(max_steps + 1):
        norm = np.linalg.norm(inverse * R, axis=0)
        steps[active] = step
        status[active & (norm <= target)] = Status.CONVERGED
        active &= norm > target
        Z = precondition(R)  # lines 1 and 6
        rz_new = np.einsum("ij,ij->j", R, Z)
        broken = active & ~((rz_new > 0) & np.isfinite(rz_new))
        status[broken] = Status.BREAKDOWN
        active &= ~broken
        if not active.any() or step == max_steps:
            break
        beta = np.where(active & (step > 0), rz_new / np.where(rz == 0, 1, rz), 0.0)  # line 7
        P = np.where(active, Z + beta * P, 0.0)  # line 8
        rz = rz_new
        Q = apply(P)
        curvature = np.einsum("ij,ij->j", P, Q)
        broken = active & ~((curvature > 0) & np.isfinite(curvature))
        status[broken] = Status.BREAKDOWN
        active &= ~broken
        alpha = np.where(active, rz / np.where(curvature > 0, curvature, 1.0), 0.0)  # line 3
        X += alpha * P  # line 4
        R -= alpha * Q  # line 5
    return X, status, steps, np.linalg.norm(inverse * R, axis=0)


def shifted_laplacian(
    weights: sparse.csr_array, diagonal: Floats, free: Floats, operator: Ints
) -> Map:
    """The operators ``diag(diagonal) - W`` restricted to the free nodes; (n, K) arrays."""

    def apply(X: Floats) -> Floats:
        return np.asarray(free[:, operator] * (diagonal[:, operator] * X - weights @ X))

    return apply
