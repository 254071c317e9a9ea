"""Solve ``(L + diag(q)) x = b`` on the free nodes, for many columns and operators at once."""

from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from poise.arrays import Bools, Floats, Ints
from poise.errors import InputError
from poise.linalg import reference
from poise.linalg.arguments import as_rows, operator_of_columns
from poise.linalg.breakdown import named_breakdown
from poise.linalg.kernel import centre, check_kernel, kernel_of
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

#: Relative residual at which a column stops: max |u - u*| is then about 1e-6 on the data of
#: docs/decisions/preconditioner.md, a tenth of what poise promises.
RTOL = 1e-7
#: Up to so many nodes a tighter tolerance costs a few milliseconds, and paths and trees, worse
#: conditioned than graphs of neighbours, keep the promise too (at 1e-7 they missed it by ten).
SMALL = 1_000
RTOL_SMALL = 1e-10
#: From this tolerance on, columns of more than `SMALL` nodes are solved for in single precision:
#: two thirds of the time on graphs larger than the caches, to the same error
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
        Where to start; zero by default. A start of zero keeps the relative accuracy of solutions
        that decay over many orders of magnitude, a warm one does not.
    rtol : float, optional
        A column ends when the norm of its residual, divided by the operator's diagonal, is at most
        `rtol` times that of its right-hand side. The division puts both into units of the solution.
        By default `RTOL`; up to `SMALL` nodes `RTOL_SMALL`, whatever is asked for. From
        `RTOL_SINGLE` on, and beyond `SMALL` nodes, the compiled backend works in single precision,
        and again in double for columns that break down there.
    singular : bool
        Declares that on components where every node is free and `q` is zero the operator's kernel
        is the constants. The right-hand side must sum to zero there, and so will the solution.
    preconditioner : "auto", "jacobi", "two-level" or "approx-chol"
        "auto" follows `choose_preconditioner`.
    backend : "compiled" or "scipy"
    sweep : bool
        End with one Jacobi sweep: it damps the rough rest of the error for the price of a step.

    Returns
    -------
    Solution
        With a status for every column. A zero right-hand side gives zero in no steps.
    """
    flat = np.ndim(rhs) == 1
    n = prepared.n
    # From here on columns are rows, (J, n) and (K, n): contiguous, as the kernel wants them.
    B = as_rows(rhs, n, "rhs")
    Q = as_rows(0.0 if diagonals is None else diagonals, n, "diagonals")
    F = as_rows(True if free is None else free, n, "free") > 0
    n_operators = max(len(Q), len(F))
    Q, F = np.broadcast_to(Q, (n_operators, n)), np.broadcast_to(F, (n_operators, n))
    which = operator_of_columns(operator, len(B), n_operators)
    X = as_rows(0.0 if start is None else start, n, "start")
    if len(X) not in (1, len(B)):
        raise InputError(f"start has {len(X)} columns for {len(B)} of rhs: give one, or one each")
    _known("preconditioner", preconditioner, Preconditioner)
    _known("backend", backend, Backend)
    if not np.all(np.isfinite(B)):
        raise InputError("rhs has NaN or infinite entries: a right-hand side must be finite")
    if not np.all(np.isfinite(Q)):
        raise InputError("diagonals have NaN or infinite entries: they must be finite")
    if not np.all(np.isfinite(X)):
        raise InputError("start has NaN or infinite entries: it must be finite")
    if rtol is not None and not rtol > 0:
        raise InputError(f"rtol is {rtol}: a relative tolerance must be positive")
    rtol = min(rtol or RTOL_SMALL, RTOL_SMALL) if n <= SMALL else rtol or RTOL
    kernel = kernel_of(prepared, Q, F)
    diagonal = prepared.degrees + Q
    if np.any(F & ~kernel & (diagonal <= 0)):
        raise InputError("diagonals make an operator indefinite: they must be >= 0 on free nodes")
    F = F & (diagonal > 0)  # an isolated node without a diagonal is a kernel of its own
    inverse = np.divide(1.0, diagonal, out=np.zeros((n_operators, n)), where=F)
    B = check_kernel(prepared, B, kernel, which, singular)
    status, steps = np.empty((2, len(B)), dtype=np.int64)
    value, residual = np.empty_like(B), np.empty(len(B))
    chosen = [preconditioner] * n_operators
    if preconditioner == "auto":
        stiff = is_stiff(prepared)
        chosen = [choose_preconditioner(prepared, Q[k], F[k], stiff) for k in range(n_operators)]
    for kind in dict.fromkeys(chosen):
        operators = np.flatnonzero([name == kind for name in chosen])
        columns = np.flatnonzero(np.isin(which, operators))
        run = _compiled if backend == "compiled" and kind != "approx-chol" else _reference
        found, status[columns], steps[columns], residual[columns] = run(
            prepared,
            kind,
            _rows_of(Q, operators),
            _rows_of(F, operators),
            _rows_of(kernel, operators),
            _rows_of(inverse, operators),
            np.searchsorted(operators, which[columns]),
            _rows_of(B, columns),
            _rows_of(X, columns) if len(X) > 1 else X,
            rtol,
            max_steps,
            sweep,
        )
        if len(columns) == len(B):
            value = found
        else:
            value[columns] = found
    centre(prepared, value, kernel[which])
    return Solution(value[0] if flat else value.T, status, steps, residual)


def is_stiff(prepared: PreparedLaplacian) -> bool:
    """Whether two-level conjugate gradients are slow on this graph: found once, by trying.

    One Poisson equation with a fixed right-hand side, at most `STIFF_STEPS` steps. Graphs of
    neighbours in many dimensions end well before; grids, curves and points in the plane do not,
    and approximate Cholesky solves those several times faster and more accurately.
    """
    if prepared.n <= SMALL or prepared.n_groups < 2:
        return False
    if "stiff" not in prepared.__dict__:
        rhs = np.random.default_rng(0).normal(size=prepared.n)
        means = np.bincount(prepared.components, weights=rhs) / np.bincount(prepared.components)
        probe = solve(
            prepared,
            rhs - means[prepared.components],
            singular=True,
            preconditioner="two-level",
            max_steps=STIFF_STEPS,
        )
        prepared.__dict__["stiff"] = not probe.converged
    return bool(prepared.__dict__["stiff"])


def _compiled(
    prepared: PreparedLaplacian,
    preconditioner: Preconditioner,
    Q: Floats,
    F: Bools,
    kernel: Bools,
    inverse: Floats,
    which: Ints,
    B: Floats,
    X: Floats,
    rtol: float,
    max_steps: int,
    sweep: bool,
) -> tuple[Floats, Ints, Ints, Floats]:
    from poise.linalg import compiled  # numba: imported at the first solve, not with the package

    coarse = coarse_of_operators(prepared, Q, F, kernel, preconditioner)

    def run(
        data: npt.NDArray[np.floating[Any]], columns: Ints, start: Floats
    ) -> tuple[Floats, Ints, Ints, Floats]:
        return compiled.iterate(
            compiled.Layout(
                prepared.indptr,
                prepared.indices,
                data,
                prepared.ranges,
                prepared.order,
                prepared.position,
            ),
            prepared.degrees + Q,
            inverse,
            which[columns],
            coarse,
            np.arange(len(Q)) % len(coarse),
            _rows_of(B, columns),
            start,
            rtol,
            max_steps,
            sweep,
        )

    every = np.arange(len(B))
    if prepared.n <= SMALL or rtol < RTOL_SINGLE:
        return run(prepared.data, every, X)
    value, status, steps, residual = run(prepared.single, every, X)
    # Badly conditioned columns (points on a line, say) break down in single precision.
    lost = np.flatnonzero(status != Status.CONVERGED)
    if lost.size:
        start = X[lost] if len(X) > 1 else X
        again = run(prepared.data, lost, start)
        value[lost], status[lost], steps[lost], residual[lost] = again
    return value, status, steps, residual


def _reference(
    prepared: PreparedLaplacian,
    preconditioner: Preconditioner,
    Q: Floats,
    F: Bools,
    kernel: Bools,
    inverse: Floats,
    which: Ints,
    B: Floats,
    X: Floats,
    rtol: float,
    max_steps: int,
    sweep: bool,
) -> tuple[Floats, Ints, Ints, Floats]:
    diagonal, inverse = (prepared.degrees + Q).T, inverse.T
    mask = F.T.astype(np.float64)
    B = B.T * mask[:, which]
    scale = np.linalg.norm(inverse[:, which] * B, axis=0)
    X = X.T * mask[:, which] * (scale > 0)  # a zero column needs no other start
    apply = reference.shifted_laplacian(prepared.weights, diagonal, mask, which)
    if preconditioner == "approx-chol":
        precondition = approximate_cholesky(prepared, diagonal, F.T, which)
    else:
        coarse = coarse_of_operators(prepared, Q, F, kernel, preconditioner)
        precondition = two_level(prepared, inverse, mask, which, coarse)
    Y, status, steps, norm = reference.iterate(
        apply, precondition, inverse[:, which], B, X, rtol * scale, max_steps
    )
    if sweep:
        Y = inverse[:, which] * (B + prepared.weights @ Y)
    return Y.T, status, steps, norm / np.where(scale > 0, scale, 1.0)


def _rows_of(array: Any, numbers: Ints) -> Any:
    """Some rows, in ascending order; without a copy if these are all of them."""
    return array if len(numbers) == len(array) else array[numbers]


def _known(name: str, value: str, allowed: object) -> None:
    if value not in get_args(allowed):
        raise InputError(f"{name} is {value!r}: there are {', '.join(get_args(allowed))}")
