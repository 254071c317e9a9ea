"""Solve ``(L + diag(q)) x = b`` on the free nodes, for many columns and operators at once."""

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from poise.arrays import Floats
from poise.errors import InputError
from poise.linalg import reference
from poise.linalg.arguments import (
    DIAGONALS_NOT_FINITE,
    RHS_NOT_FINITE,
    START_NOT_FINITE,
    as_rows,
    columns_and_operators,
)
from poise.linalg.breakdown import named_breakdown
from poise.linalg.nullspace import centre, into_range
from poise.linalg.operators import Limits, Operators, Solved, Systems, operators_of
from poise.linalg.preconditioners import (
    Preconditioner,
    approximate_cholesky,
    choose_preconditioner,
    coarse_of_operators,
    two_level,
)
from poise.linalg.prepared import PreparedLaplacian
from poise.linalg.status import Solution, Status

Backend = Literal["compiled", "scipy"]

#: Relative residual at which a column ends: max |u - u*| is then about 1e-6 on the data of
#: docs/decisions/preconditioner.md, a tenth of what poise promises.
RTOL = 1e-7
#: Up to so many nodes a tighter tolerance costs a few milliseconds. Paths and trees are worse
#: conditioned than graphs of neighbours; with it they keep the promise too (at 1e-7 their error was
#: ten times too large).
SMALL_MAX_NODES = 1_000
RTOL_SMALL = 1e-10
#: From this tolerance on, columns of more than `SMALL_MAX_NODES` nodes are solved for in single
#: precision. On graphs larger than the caches that takes two thirds of the time for the same error
#: (docs/decisions/single-precision.md). Numbers below 1e-38 are lost.
RTOL_SINGLE = 1e-5
MAX_STEPS = 5_000
#: Steps of the two-level method beyond which a graph is called stiff.
STIFF_STEPS = 120


@named_breakdown()
def solve(
    prepared: PreparedLaplacian,
    rhs: npt.ArrayLike,
    *,
    diagonals: npt.ArrayLike | None = None,
    free: npt.ArrayLike | None = None,
    operator: npt.ArrayLike | None = None,
    start: npt.ArrayLike | None = None,
    rtol: float | None = None,
    max_steps: int = MAX_STEPS,
    singular: bool = False,
    preconditioner: Preconditioner = "auto",
    backend: Backend = "compiled",
    sweep: bool = True,
) -> Solution:
    """Solve column j of ``(L + diag(q_k))_FF x_F = b_F``, k = operator[j], F the free nodes of k.

    Parameters
    ----------
    prepared : PreparedLaplacian
        From `prepare`, once per graph.
    rhs : (n,) or (n, J)
        Right-hand sides; entries on nodes that are not free are ignored.
    diagonals : (n,) or (n, K), optional
        The `q_k` >= 0 of the operators; zero by default.
    free : (n,) or (n, K) bool, optional
        Nodes that are solved for; the solution is 0 on the others. All by default.
    operator : (J,) int, optional
        Operator of each column; by default all the same one (K = 1) or one each (K = J).
    start : (n,) or (n, J), optional
        Where to start; zero by default. A start of zero preserves the relative accuracy of
        solutions that decay over many orders of magnitude; a warm start does not.
    rtol : float, optional
        A column ends when the norm of its residual, divided by the operator's diagonal, is at most
        `rtol` times that of its right-hand side. The division puts both into units of the solution.
        By default `RTOL`; up to `SMALL_MAX_NODES` nodes at most `RTOL_SMALL`. On more nodes and
        with `RTOL_SINGLE` or more, the compiled backend works in single precision, and again in
        double for columns that do not converge there. Its solution is in single precision, too,
        unless an operator is singular.
    singular : bool
        Declares that on components where every node is free and `q` is zero the nullspace of the
        operator is the constants. The right-hand side must sum to zero there; so will the solution.
    preconditioner : "auto", "jacobi", "two-level" or "approx-chol"
        "auto" follows `choose_preconditioner`.
    backend : "compiled" or "scipy"
    sweep : bool
        End with one Jacobi sweep: it damps the rough part of the error at the cost of one step.

    Returns
    -------
    Solution
        With a status for each column. A zero right-hand side gives zero after zero steps.
    """
    n = prepared.n
    rows, q, free_rows, which = columns_and_operators(n, rhs, diagonals, free, operator)
    starts = as_rows(0.0 if start is None else start, n, "start")
    if len(starts) not in (1, len(rows)):
        raise InputError(
            f"start has {len(starts)} columns for {len(rows)} of rhs: give one, or one each"
        )
    _check_choice("preconditioner", preconditioner, Preconditioner)
    _check_choice("backend", backend, Backend)
    _check_finite(rows, RHS_NOT_FINITE)
    _check_finite(q, DIAGONALS_NOT_FINITE)
    _check_finite(starts, START_NOT_FINITE)
    operators = operators_of(prepared, q, free_rows)
    rows = into_range(prepared, rows, operators.nullspace, which, singular)
    systems = Systems(which, rows, starts)
    limits = Limits(_tolerance(rtol, n), max_steps, sweep)
    value, status, steps, residual = _solve_by_kind(
        operators, systems, limits, preconditioner, backend
    )
    if operators.nullspace.any():  # means of single numbers would not be zero
        value = value.astype(np.float64, copy=False)
        centre(prepared, value, operators.nullspace[which])
    return Solution(value[0] if np.ndim(rhs) == 1 else value.T, status, steps, residual)


def is_stiff(prepared: PreparedLaplacian) -> bool:
    """Whether two-level conjugate gradients are slow on this graph; measured once.

    One Poisson equation with a fixed right-hand side, at most `STIFF_STEPS` steps. Graphs of
    neighbours in many dimensions end well before; grids, curves and points in the plane do not,
    and approximate Cholesky solves those several times faster and more accurately.
    """
    if prepared.n <= SMALL_MAX_NODES or prepared.n_groups < 2:
        return False
    if prepared.cache.stiff is None:
        rhs = np.random.default_rng(0).normal(size=prepared.n)
        means = np.bincount(prepared.components, weights=rhs) / np.bincount(prepared.components)
        probe = solve(
            prepared,
            rhs - means[prepared.components],
            singular=True,
            preconditioner="two-level",
            max_steps=STIFF_STEPS,
        )
        prepared.cache.stiff = not probe.converged
    return prepared.cache.stiff


def _solve_by_kind(
    operators: Operators,
    systems: Systems,
    limits: Limits,
    preconditioner: Preconditioner,
    backend: Backend,
) -> Solved:
    """Solve the columns of each kind of preconditioner together."""
    n_operators, n_columns = len(operators.q), len(systems.rhs)
    kinds = [preconditioner] * n_operators
    if preconditioner == "auto":
        stiff = is_stiff(operators.prepared)
        kinds = [
            choose_preconditioner(operators.prepared, q, free, stiff)
            for q, free in zip(operators.q, operators.free, strict=True)
        ]
    single = backend == "compiled" and _takes_single(operators.prepared.n, limits.rtol)
    value = np.empty(systems.rhs.shape, dtype=np.float32 if single else np.float64)
    residual = np.empty(n_columns)
    status, steps = np.empty((2, n_columns), dtype=np.int64)
    for kind in dict.fromkeys(kinds):
        numbers = np.flatnonzero([name == kind for name in kinds])
        columns = np.flatnonzero(np.isin(systems.operator, numbers))
        part = systems.some(columns)
        part = Systems(np.searchsorted(numbers, part.operator), part.rhs, part.start)
        run = _compiled if backend == "compiled" and kind != "approx-chol" else _reference
        solved, status[columns], steps[columns], residual[columns] = run(
            operators.some(numbers), part, limits, kind
        )
        if len(columns) == n_columns and solved.dtype == value.dtype:
            value = solved
        else:
            value[columns] = solved
    return value, status, steps, residual


def _compiled(
    operators: Operators, systems: Systems, limits: Limits, kind: Preconditioner
) -> Solved:
    from poise.linalg import packets  # numba: imported at the first solve, not with the package

    prepared, coarse = operators.prepared, coarse_of_operators(operators, kind)
    if not _takes_single(prepared.n, limits.rtol):
        return packets.iterate(operators, prepared.data, systems, coarse, limits)
    solved = packets.iterate(operators, prepared.single, systems, coarse, limits)
    # Badly conditioned columns (points on a line, say) break down in single precision.
    lost = np.flatnonzero(solved[1] != Status.CONVERGED)
    if lost.size:
        part = systems.some(lost)
        again = packets.iterate(operators, prepared.data, part, coarse, limits)
        for array, again_lost in zip(solved, again, strict=True):
            array[lost] = again_lost
    return solved


def _takes_single(n: int, rtol: float) -> bool:
    """Whether solves to this tolerance, and their solutions, are in single precision."""
    return n > SMALL_MAX_NODES and rtol >= RTOL_SINGLE


def _reference(
    operators: Operators, systems: Systems, limits: Limits, kind: Preconditioner
) -> Solved:
    prepared, which = operators.prepared, systems.operator
    diagonal, inverse = operators.diagonal.T, operators.inverse.T
    mask = operators.free.T.astype(np.float64)
    B = systems.rhs.T * mask[:, which]
    scale = np.linalg.norm(inverse[:, which] * B, axis=0)
    X = systems.start.T * mask[:, which] * (scale > 0)  # a zero column needs no other start
    apply = reference.shifted_laplacian(prepared.weights, diagonal, mask, which)
    if kind == "approx-chol":
        precondition = approximate_cholesky(prepared, diagonal, operators.free.T, which)
    else:
        coarse = coarse_of_operators(operators, kind)
        precondition = two_level(prepared, inverse, mask, which, coarse)
    Y, status, steps, norm = reference.iterate(
        apply, precondition, inverse[:, which], B, X, limits.rtol * scale, limits.max_steps
    )
    if limits.sweep:
        Y = inverse[:, which] * (B + prepared.weights @ Y)
    return Y.T, status, steps, norm / np.where(scale > 0, scale, 1.0)


def _tolerance(rtol: float | None, n: int) -> float:
    if rtol is not None and not rtol > 0:
        raise InputError(f"rtol is {rtol}: a relative tolerance must be positive")
    return min(rtol or RTOL_SMALL, RTOL_SMALL) if n <= SMALL_MAX_NODES else rtol or RTOL


def _check_finite(values: Floats, message: str) -> None:
    if not np.all(np.isfinite(values)):
        raise InputError(message)


def _check_choice(name: str, value: str, allowed: object) -> None:
    if value not in get_args(allowed):
        raise InputError(f"{name} is {value!r}: there are {', '.join(get_args(allowed))}")
