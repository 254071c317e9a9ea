"""Solve ``(L + diag(q)) x = b`` on the free nodes, for many columns and operators at once."""

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
from scipy import sparse

from poise.errors import InputError
from poise.linalg import reference
from poise.linalg.coarse import coarse_inverses
from poise.linalg.prepared import PreparedLaplacian
from poise.linalg.status import Bools, Floats, Ints, Solution

Preconditioner = Literal["auto", "jacobi", "two-level", "approx-chol"]
Backend = Literal["compiled", "scipy"]

#: Relative residual at which a column stops: max |u - u*| is then about 1e-6 on the data of
#: docs/decisions/preconditioner.md, a tenth of what poise promises.
RTOL = 1e-7
MAX_STEPS = 5_000
#: Columns solved together: more do not fit in the cache, fewer do not share enough of it.
BLOCK = 8
#: A diagonal this strong (median of q/(d + q) over the free nodes) leaves Jacobi nothing to gain
#: from the coarse space.
STRONG_DIAGONAL = 0.1


def solve(
    prepared: PreparedLaplacian,
    rhs: npt.ArrayLike,
    *,
    diagonals: npt.ArrayLike | None = None,
    free: npt.ArrayLike | None = None,
    operator: npt.ArrayLike | None = None,
    start: npt.ArrayLike | None = None,
    rtol: float = RTOL,
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
    rtol : float
        A column ends when the norm of its residual, divided by the operator's diagonal, is at most
        `rtol` times that of its right-hand side. The division puts both into units of the solution.
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
    B = _columns(rhs, prepared.n, "rhs")
    Q = _columns(0.0 if diagonals is None else diagonals, prepared.n, "diagonals")
    F = _columns(True if free is None else free, prepared.n, "free").astype(bool)
    n_operators = max(Q.shape[1], F.shape[1])
    Q = np.broadcast_to(Q, (prepared.n, n_operators))
    F = np.broadcast_to(F, (prepared.n, n_operators))
    which = _operator_of_columns(operator, B.shape[1], n_operators)
    if not np.all(np.isfinite(B)):
        raise InputError("rhs has NaN or infinite entries: a right-hand side must be finite")
    if not np.all(np.isfinite(Q)):
        raise InputError("diagonals have NaN or infinite entries: they must be finite")
    if rtol <= 0:
        raise InputError(f"rtol is {rtol}: a relative tolerance must be positive")
    kernel = _kernel(prepared, Q, F)
    diagonal = prepared.degrees[:, None] + Q
    if np.any(F & ~kernel & (diagonal <= 0)):
        raise InputError("diagonals make an operator indefinite: they must be >= 0 on free nodes")
    F = F & (diagonal > 0)  # an isolated node without a diagonal is a kernel of its own
    B = _check_kernel(prepared, B, kernel, which, singular) * F[:, which]
    X = np.zeros_like(B) if start is None else _columns(start, prepared.n, "start") * F[:, which]
    X = np.ascontiguousarray(np.broadcast_to(X, B.shape), dtype=np.float64)
    if preconditioner == "auto":
        preconditioner = choose_preconditioner(prepared, Q, F)
    _known("preconditioner", preconditioner, Preconditioner)
    _known("backend", backend, Backend)
    inverse = np.where(F, 1.0 / np.where(F, diagonal, 1.0), 0.0)
    scale = np.linalg.norm(inverse[:, which] * B, axis=0)
    target = rtol * scale
    coarse = _coarse(prepared, Q, F, kernel, preconditioner)
    if backend == "compiled" and preconditioner != "approx-chol":
        X, status, steps, norm = _compiled(
            prepared, diagonal, inverse, which, coarse, B, X, target, max_steps, sweep
        )
    else:
        X, status, steps, norm = _reference(
            prepared,
            diagonal,
            inverse,
            which,
            coarse,
            B,
            X,
            target,
            max_steps,
            sweep,
            preconditioner,
        )
    _centre(prepared, X, kernel[:, which])
    return Solution(X[:, 0] if flat else X, status, steps, norm / np.where(scale > 0, scale, 1.0))


def choose_preconditioner(prepared: PreparedLaplacian, Q: Floats, F: Bools) -> Preconditioner:
    """The rule, from the measurements in docs/decisions/preconditioner.md.

    "jacobi" where the diagonal is strong or the graph too small for a coarse space, else
    "two-level". "approx-chol" is never chosen by itself.
    """
    if prepared.n_groups < 2:
        return "jacobi"
    strength = Q / (prepared.degrees[:, None] + Q + 1e-300)
    typical = np.median(strength[F[:, 0], 0]) if F[:, 0].any() else 1.0
    return "jacobi" if typical > STRONG_DIAGONAL else "two-level"


def _compiled(
    prepared: PreparedLaplacian,
    diagonal: Floats,
    inverse: Floats,
    which: Ints,
    coarse: Floats,
    B: Floats,
    X: Floats,
    target: Floats,
    max_steps: int,
    sweep: bool,
) -> tuple[Floats, Ints, Ints, Floats]:
    from poise.linalg import compiled  # numba: imported at the first solve, not with the package

    order = prepared.order
    diagonal = np.ascontiguousarray(diagonal.T[:, order])
    inverse = np.ascontiguousarray(inverse.T[:, order])
    layout = compiled.Layout(prepared.indptr, prepared.indices, prepared.data, prepared.ranges)
    coarse_of = np.arange(len(diagonal)) % max(len(coarse), 1)
    n_columns = B.shape[1]
    value = np.empty_like(B)
    status, steps = np.empty((2, n_columns), dtype=np.int64)
    norm = np.empty(n_columns)
    for block in np.array_split(np.arange(n_columns), -(-n_columns // BLOCK)):
        solved, status[block], steps[block], norm[block] = compiled.iterate(
            layout,
            diagonal,
            inverse,
            which[block],
            coarse,
            coarse_of,
            np.ascontiguousarray(B.T[np.ix_(block, order)]),
            np.ascontiguousarray(X.T[np.ix_(block, order)]),
            target[block],
            max_steps,
            sweep,
        )
        value[np.ix_(order, block)] = solved.T
    return value, status, steps, norm


def _reference(
    prepared: PreparedLaplacian,
    diagonal: Floats,
    inverse: Floats,
    which: Ints,
    coarse: Floats,
    B: Floats,
    X: Floats,
    target: Floats,
    max_steps: int,
    sweep: bool,
    preconditioner: Preconditioner,
) -> tuple[Floats, Ints, Ints, Floats]:
    mask = (inverse > 0).astype(np.float64)
    apply = reference.shifted_laplacian(prepared.weights, diagonal, mask, which)
    if preconditioner == "approx-chol":
        precondition = _approximate_cholesky(prepared, diagonal, inverse > 0, which)
    else:
        precondition = _two_level(prepared, inverse, mask, which, coarse)
    X, status, steps, norm = reference.iterate(
        apply, precondition, inverse[:, which], B, X, target, max_steps
    )
    if sweep:
        X = inverse[:, which] * (B + prepared.weights @ X)
    return X, status, steps, norm


def _two_level(
    prepared: PreparedLaplacian, inverse: Floats, mask: Floats, which: Ints, coarse: Floats
) -> reference.Operator:
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


def _approximate_cholesky(
    prepared: PreparedLaplacian, diagonal: Floats, F: Bools, which: Ints
) -> reference.Operator:
    """Factors of every operator on its free nodes; the plain Laplacian's is kept for good."""
    import approx_chol

    factors = []
    for k in range(diagonal.shape[1]):
        nodes = np.flatnonzero(F[:, k])
        if len(nodes) == prepared.n and np.array_equal(diagonal[:, k], prepared.degrees):
            factors.append((nodes, prepared.factor))
            continue
        part = prepared.weights[nodes][:, nodes]
        A = sparse.csr_matrix(sparse.diags_array(diagonal[nodes, k]) - part)
        A.sort_indices()
        factors.append((nodes, approx_chol.factorize(A, approx_chol.Config(seed=0))))

    def precondition(R: Floats) -> Floats:
        correction = np.zeros_like(R)
        for j, k in enumerate(which):
            nodes, factor = factors[k]
            correction[nodes, j] = factor.solve(np.ascontiguousarray(R[nodes, j]))[: len(nodes)]
        return correction

    return precondition


def _coarse(
    prepared: PreparedLaplacian, Q: Floats, F: Bools, kernel: Bools, preconditioner: str
) -> Floats:
    if preconditioner != "two-level" or prepared.n_groups < 2:
        return np.zeros((1, 0, 0))
    if kernel.all():
        return prepared.coarse_inverse[None]
    if kernel.any():
        raise InputError(
            "an operator is singular on some components only: bind the nodes of the others "
            "(free=False) and solve for them apart"
        )
    return coarse_inverses(prepared, Q, F)


def _kernel(prepared: PreparedLaplacian, Q: Floats, F: Bools) -> Bools:
    """(n, K) mask of the nodes in components on which operator k has the constants as kernel."""
    held = ~F | (Q > 0)
    kernel = np.empty(held.shape, dtype=bool)
    for k in range(held.shape[1]):
        holds = np.bincount(prepared.components, weights=held[:, k]) > 0
        kernel[:, k] = ~holds[prepared.components]
    return kernel


def _check_kernel(
    prepared: PreparedLaplacian, B: Floats, kernel: Bools, which: Ints, singular: bool
) -> Floats:
    """Refuse a singular operator that was not declared, and right-hand sides outside its range."""
    in_kernel = kernel[:, which]
    if not in_kernel.any():
        return B
    if not singular:
        raise InputError(
            "the operator is singular (a component with no bound node and no diagonal): "
            "declare it with singular=True, or bind a node there"
        )
    B = B.copy()
    sizes = np.bincount(prepared.components)
    for j in range(B.shape[1]):
        column = np.where(in_kernel[:, j], B[:, j], 0.0)
        sums = np.bincount(prepared.components, weights=column)
        if np.abs(sums).max() > 1e-8 * max(np.abs(column).sum(), 1e-300):
            worst = int(np.argmax(np.abs(sums)))
            raise InputError(
                f"column {j} of rhs sums to {sums[worst]:.2e} over component {worst}, where the "
                "operator's kernel is the constants: subtract the component's mean first"
            )
        B[:, j] -= np.where(in_kernel[:, j], (sums / sizes)[prepared.components], 0.0)
    return B


def _centre(prepared: PreparedLaplacian, X: Floats, in_kernel: Bools) -> None:
    """Remove the mean of each component in place where the constants are the kernel."""
    if not in_kernel.any():
        return
    sizes = np.bincount(prepared.components)
    for j in range(X.shape[1]):
        means = np.bincount(prepared.components, weights=X[:, j]) / sizes
        X[:, j] -= np.where(in_kernel[:, j], means[prepared.components], 0.0)


def _columns(values: npt.ArrayLike, n: int, name: str) -> npt.NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 0:
        array = np.full((n, 1), array)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or len(array) != n:
        raise InputError(f"{name} has shape {np.shape(values)}: expected ({n},) or ({n}, columns)")
    return array


def _operator_of_columns(operator: npt.ArrayLike | None, n_columns: int, n_operators: int) -> Ints:
    if operator is None:
        if n_operators not in (1, n_columns):
            raise InputError(
                f"{n_operators} operators for {n_columns} columns: say which with operator="
            )
        return np.arange(n_columns) if n_operators > 1 else np.zeros(n_columns, dtype=np.int64)
    which = np.asarray(operator, dtype=np.int64)
    if which.shape != (n_columns,) or which.min() < 0 or which.max() >= n_operators:
        raise InputError(
            f"operator must hold {n_columns} numbers from 0 to {n_operators - 1}, got {operator!r}"
        )
    return which


def _known(name: str, value: str, allowed: object) -> None:
    if value not in get_args(allowed):
        raise InputError(f"{name} is {value!r}: there are {', '.join(get_args(allowed))}")
