"""Solve ``(L + diag(q)) x = b`` on a graph whose rows lie at several ranks.

The contract is that of `poise.linalg.solve`, for the rows of each rank; every rank calls it with
its own. PETSc multiplies by the weights, and the conjugate gradients run on top: its own solvers
for several columns assume one operator for all, and here every column has its own diagonal.
"""

import numpy as np
import numpy.typing as npt

from poise.arrays import Bools, Floats, Ints
from poise.distributed.partition import Partition
from poise.distributed.product import PACKET_COLUMNS
from poise.errors import InputError
from poise.linalg.arguments import DIAGONALS_NOT_FINITE, RHS_NOT_FINITE, columns_and_operators
from poise.linalg.nullspace import SINGULAR, outside_range
from poise.linalg.operators import INDEFINITE
from poise.linalg.status import Solution, Status

#: Relative residual at which a column stops. Jacobi leaves more of the smooth error than the
#: preconditioners of one machine do, at 1e-7: with 1e-9 both agree to 1e-6
#: (docs/decisions/distributed-solves.md).
RTOL = 1e-9
MAX_STEPS = 5_000


def solve(
    partition: Partition,
    rhs: Floats,
    *,
    diagonals: npt.ArrayLike | None = None,
    free: npt.ArrayLike | None = None,
    operator: npt.ArrayLike | None = None,
    rtol: float | None = None,
    max_steps: int = MAX_STEPS,
    singular: bool = False,
    sweep: bool = True,
) -> Solution:
    """Solve column j of ``(L + diag(q_k))_FF x_F = b_F``, k = operator[j], F the free nodes of k.

    Parameters
    ----------
    partition : Partition
    rhs : (rows,) or (rows, J)
        Right-hand sides; entries on nodes that are not free are ignored.
    diagonals : (rows,) or (rows, K), optional
        The `q_k` >= 0 of the operators; zero by default.
    free : (rows,) or (rows, K) bool, optional
        Nodes that are solved for; the solution is 0 on the others. All by default.
    operator : (J,) int, optional
        Operator of each column; by default all the same one (K = 1) or one each (K = J).
    rtol : float, optional
        A column ends when the norm of its residual, divided by the operator's diagonal, is at most
        `rtol` times that of its right-hand side; `RTOL` by default.
    singular : bool
        Declares that on components where every node is free and `q` is zero the nullspace of the
        operator is the constants. The right-hand side must sum to zero there; so will the solution.
    sweep : bool
        End with one Jacobi sweep.

    Returns
    -------
    Solution
        With this rank's rows of the values; status, steps and residuals are those of all ranks.
    """
    B, Q, F, which = columns_and_operators(partition.n_rows, rhs, diagonals, free, operator)
    B = B.copy()
    rtol = RTOL if rtol is None else rtol
    diagonal = partition.degrees + Q
    nullspace = _nullspaces(partition, Q, F)
    faults = np.array(
        [
            not np.isfinite(B).all(),
            not np.isfinite(Q).all(),
            np.any(F & ~nullspace & (diagonal <= 0)),
            nullspace.any() and not singular,
        ],
        dtype=np.int64,
    )
    for fault, message in zip(partition.ranks.total(faults), FAULTS, strict=True):
        if fault:
            raise InputError(message)
    F = F & (diagonal > 0)
    inverse = np.divide(1.0, diagonal, out=np.zeros(Q.shape), where=F)
    if partition.ranks.total(np.array([int(nullspace.any())]))[0]:
        _project(partition, B, nullspace[which], check=True)
    value = np.empty_like(B)
    status, steps = np.empty((2, len(B)), dtype=np.int64)
    residual = np.empty(len(B))
    for first in range(0, len(B), PACKET_COLUMNS):
        some = slice(first, first + PACKET_COLUMNS)
        value[some], status[some], steps[some], residual[some] = _iterate(
            partition, diagonal, inverse, which[some], B[some], rtol, max_steps, sweep
        )
    if partition.ranks.total(np.array([int(nullspace.any())]))[0]:
        _project(partition, value, nullspace[which], check=False)
    return Solution(value[0] if np.ndim(rhs) == 1 else value.T, status, steps, residual)


FAULTS = (RHS_NOT_FINITE, DIAGONALS_NOT_FINITE, INDEFINITE, SINGULAR)


def _iterate(
    partition: Partition,
    diagonal: Floats,
    inverse: Floats,
    which: Ints,
    B: Floats,
    rtol: float,
    max_steps: int,
    sweep: bool,
) -> tuple[Floats, Ints, Ints, Floats]:
    """Conjugate gradients with Jacobi on one packet of columns, from zero, all in step.

    The comments give the lines of Algorithm 9.1 in Y. Saad, "Iterative Methods for Sparse Linear
    Systems", 2nd ed., SIAM 2003.
    """
    from poise.distributed import passes  # numba: imported at the first solve

    ranks, n_columns = partition.ranks, len(B)
    P, Q = partition.product.buffers(n_columns)
    B = np.where(inverse[which] > 0, B, 0.0)
    X, R = np.zeros_like(B), B.copy()
    P[:] = Q[:] = 0.0
    still = np.zeros(n_columns)
    squares, rz = ranks.total(passes.advance(inverse, which, still, P, Q, X, R))
    scale = np.sqrt(squares)
    target, norm = rtol * scale, scale
    status = np.full(n_columns, Status.MAX_STEPS, dtype=np.int64)
    steps = np.zeros(n_columns, dtype=np.int64)
    active = np.ones(n_columns, dtype=bool)
    before = np.ones(n_columns)
    for step in range(max_steps + 1):
        steps[active] = step
        status[active & (norm <= target)] = Status.CONVERGED
        active &= norm > target
        broken = active & ~((rz > 0) & np.isfinite(rz))
        status[broken] = Status.BREAKDOWN
        active &= ~broken
        if not active.any() or step == max_steps:
            break
        beta = np.where(active & (step > 0), rz / before, 0.0)  # line 7
        passes.turn(inverse, which, beta, active, R, P)  # line 8
        before = np.where(rz > 0, rz, 1.0)
        partition.product.run(n_columns)
        curvature = ranks.total(passes.finish_product(diagonal, inverse, which, P, Q))
        broken = active & ~((curvature > 0) & np.isfinite(curvature))
        status[broken] = Status.BREAKDOWN
        active &= ~broken
        alpha = np.where(active, rz / np.where(curvature > 0, curvature, 1.0), 0.0)  # line 3
        # Lines 4 to 6.
        squares, rz = ranks.total(passes.advance(inverse, which, alpha, P, Q, X, R))
        norm = np.sqrt(squares)
    if sweep:
        P[:] = X
        partition.product.run(n_columns)
        passes.sweep(inverse, which, B, Q, X)
    return X, status, steps, norm / np.where(scale > 0, scale, 1.0)


def _nullspaces(partition: Partition, Q: Floats, F: Bools) -> Bools:
    """(K, rows) mask of the rows in components on which operator k maps the constants to zero."""
    held = (~F | (Q > 0)).astype(np.float64)
    return np.stack([partition.component_sums(row) == 0 for row in held])[:, partition.components]


def _project(partition: Partition, X: Floats, in_nullspace: Bools, *, check: bool) -> None:
    """Subtract the mean of each component in place where the constants are the nullspace.

    With `check`, refuse columns whose sum over such a component is more than rounding.
    """
    sizes = partition.component_sizes
    for j, (row, mask) in enumerate(zip(X, in_nullspace, strict=True)):
        part = np.where(mask, row, 0.0)
        sums = partition.component_sums(part)
        if check:
            size = float(partition.ranks.total(np.array([np.abs(part).sum()]))[0])
            if np.abs(sums).max() > 1e-8 * max(size, 1e-300):
                raise outside_range(j, sums)
        row -= np.where(mask, (sums / sizes)[partition.components], 0.0)
