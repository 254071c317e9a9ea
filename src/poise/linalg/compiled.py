"""Preconditioned conjugate gradients on many columns at once, compiled.

One pass over the weights serves all columns; every column has its own operator
``L + diag(q)`` on its own free nodes, its own step lengths and its own end. This is not a block
Krylov method: the operators differ, only the memory traffic is shared.

Columns are stored as rows, (J, n), so that everything but the product runs over contiguous memory;
the directions are kept a second time as (n, J), which is how the product gathers them.

Arithmetic is strict IEEE in a fixed order (no fast-math, sums by row range, ranges in order), so a
column's bits depend neither on the other columns nor on the number of threads.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from poise.linalg.status import Floats, Ints

# GNU OpenMP lets idle threads spin for milliseconds, and when another program wants the core the
# spinning thread is the one put to sleep while the others wait for it: on two busy cores a solve
# took 1,280 ms instead of 65 ms with one thread. Some ten microseconds of spinning keep what two
# threads gain on a quiet machine. Read when numba starts its threads; a user's choice stays.
os.environ.setdefault("GOMP_SPINCOUNT", "10000")

import numba
from numba import prange

#: Below this many multiplications a step, waking a second thread costs more than it saves.
SERIAL_WORK = 400_000
#: Below this many entries, the steps between two products are done by one thread: sharing them
#: saves less than the wait for the others costs.
SHARED_WORK = 130_000
#: Columns solved together: more do not fit in the cache, fewer do not share enough of it.
BLOCK = 8
#: Rows of the coarse inverse that one thread takes at a time.
COARSE_BLOCK = 64
#: The work-queue threading layer of numba may not be entered by two threads at once.
_one_at_a_time = threading.Lock()


class Layout(NamedTuple):
    """The reordered weights and the row ranges of a `PreparedLaplacian`."""

    indptr: np.ndarray[Any, np.dtype[np.uint32]]
    indices: np.ndarray[Any, np.dtype[np.uint32]]
    data: Floats
    ranges: Ints


@contextmanager
def _straight_line_vectorised() -> Iterator[None]:
    """Compile with SIMD for straight-line code, which numba leaves off by default.

    It puts the four columns of the product into one register: 1.04 ms instead of 1.87 ms for four
    columns of 37,631 points, the same as for one. Set only while the product is compiled.
    """
    config: Any = numba.config
    before = config.SLP_VECTORIZE
    config.SLP_VECTORIZE = 1
    try:
        yield
    finally:
        config.SLP_VECTORIZE = before


def _product(indptr, indices, data, ranges, diagonal, inverse, operator, gathered, P, Q, sums):  # type: ignore[no-untyped-def]
    """``Q = (L + diag(q)) P`` on the free nodes, 0 elsewhere; per range the sums of ``P * Q``."""
    n_columns = P.shape[0]
    for g in prange(len(ranges) - 1):
        for i in range(ranges[g], ranges[g + 1]):
            first = indptr[i]
            last = indptr[i + 1]
            j = 0
            if n_columns == 1:
                s0 = 0.0
                for e in range(first, last):
                    s0 += data[e] * P[0, indices[e]]
                Q[0, i] = s0
                j = 1
            # Four columns in registers: half the time of a loop that stores every partial sum.
            # `gathered` is padded to a multiple of four: three columns cost less than one by one.
            while j < n_columns:
                s0 = 0.0
                s1 = 0.0
                s2 = 0.0
                s3 = 0.0
                for e in range(first, last):
                    k = indices[e]
                    w = data[e]
                    s0 += w * gathered[k, j]
                    s1 += w * gathered[k, j + 1]
                    s2 += w * gathered[k, j + 2]
                    s3 += w * gathered[k, j + 3]
                Q[j, i] = s0
                if j + 1 < n_columns:
                    Q[j + 1, i] = s1
                if j + 2 < n_columns:
                    Q[j + 2, i] = s2
                if j + 3 < n_columns:
                    Q[j + 3, i] = s3
                j += 4
        for j in range(n_columns):
            k = operator[j]
            total = 0.0
            for i in range(ranges[g], ranges[g + 1]):
                value = diagonal[k, i] * P[j, i] - Q[j, i]
                Q[j, i] = value if inverse[k, i] > 0.0 else 0.0
                total += P[j, i] * Q[j, i]
            sums[j, g] = total


with _straight_line_vectorised():
    _operator: Any = numba.njit(
        "void(uint32[::1], uint32[::1], float64[::1], int64[::1], float64[:, ::1], "
        "float64[:, ::1], int64[::1], float64[:, ::1], float64[:, ::1], float64[:, ::1], "
        "float64[:, ::1])",
        parallel=True,
        cache=True,
        error_model="numpy",
    )(_product)


def _step(ranges, inverse, operator, alpha, P, Q, X, R, squares, energies, group_sums):  # type: ignore[no-untyped-def]
    """``X += alpha P``, ``R -= alpha Q``; per range the sums of Z^2, Z R and R, Z = R/diagonal."""
    for g in prange(len(ranges) - 1):
        for j in range(P.shape[0]):
            k = operator[j]
            square = 0.0
            energy = 0.0
            total = 0.0
            for i in range(ranges[g], ranges[g + 1]):
                X[j, i] += alpha[j] * P[j, i]
                r = R[j, i] - alpha[j] * Q[j, i]
                R[j, i] = r
                z = inverse[k, i] * r
                square += z * z
                energy += z * r
                total += r
            squares[j, g] = square
            energies[j, g] = energy
            group_sums[j, g] = total


def _coarse_solve(coarse_inverse, coarse_of, operator, group_sums, correction):  # type: ignore[no-untyped-def]
    """Per column the small dense product ``correction = (Z^T A Z)^-1 Z^T R``."""
    n_columns, m = correction.shape
    for block in prange((m + COARSE_BLOCK - 1) // COARSE_BLOCK):
        first = block * COARSE_BLOCK
        last = min(first + COARSE_BLOCK, m)
        for j in range(n_columns):
            k = coarse_of[operator[j]]
            for a in range(first, last):
                correction[j, a] = 0.0
            for b in range(m):
                s = group_sums[j, b]
                for a in range(first, last):
                    correction[j, a] += coarse_inverse[k, b, a] * s


def _direction(ranges, inverse, operator, correction, beta, R, P, gathered):  # type: ignore[no-untyped-def]
    """``P = M^-1 R + beta P`` on the free nodes, 0 elsewhere, in both layouts."""
    n_columns = P.shape[0]
    m = correction.shape[1]
    for g in prange(len(ranges) - 1):
        for j in range(n_columns):
            k = operator[j]
            coarse = correction[j, g] if g < m else 0.0
            for i in range(ranges[g], ranges[g + 1]):
                D = inverse[k, i]
                z = D * R[j, i] + (coarse if D > 0.0 else 0.0)
                P[j, i] = z + beta[j] * P[j, i]
        if n_columns > 1:  # else both layouts are one array
            for i in range(ranges[g], ranges[g + 1]):
                for j in range(n_columns):
                    gathered[i, j] = P[j, i]


def _serial_and_parallel(function: Any) -> tuple[Any, Any]:
    """`function` compiled for one thread and for all, each under a name of its own in the cache."""
    serial = FunctionType(function.__code__, function.__globals__, f"{function.__name__}_serial")
    serial.__module__ = function.__module__
    compile_serial = numba.njit(cache=True, error_model="numpy")
    compile_parallel = numba.njit(parallel=True, cache=True, error_model="numpy")
    return compile_serial(serial), compile_parallel(function)


_step_serial, _step_parallel = _serial_and_parallel(_step)
_coarse_serial, _coarse_parallel = _serial_and_parallel(_coarse_solve)
_direction_serial, _direction_parallel = _serial_and_parallel(_direction)


@numba.njit(cache=True, error_model="numpy")
def _iterate(  # type: ignore[no-untyped-def]
    indptr,
    indices,
    data,
    ranges,
    diagonal,
    inverse,
    operator,
    coarse_inverse,
    coarse_of,
    X,
    R,
    target,
    max_steps,
):
    """Run to the end. `R` holds ``B - A X`` on entry; `target` the norms to reach."""
    n_columns, n = X.shape
    n_ranges = len(ranges) - 1
    m = coarse_inverse.shape[1]
    shared = n * n_columns > SHARED_WORK
    P = np.zeros((n_columns, n))
    gathered = np.zeros((n, -(-n_columns // 4) * 4)) if n_columns > 1 else P.reshape(n, 1)
    Q = np.zeros((n_columns, n))
    squares = np.zeros((n_columns, n_ranges))
    energies = np.zeros((n_columns, n_ranges))
    group_sums = np.zeros((n_columns, n_ranges))
    correction = np.zeros((n_columns, m))
    alpha = np.zeros(n_columns)
    beta = np.zeros(n_columns)
    rz = np.zeros(n_columns)
    norm = np.zeros(n_columns)
    steps = np.zeros(n_columns, dtype=np.int64)
    status = np.full(n_columns, 1, dtype=np.int64)  # MAX_STEPS until shown otherwise
    active = np.ones(n_columns, dtype=np.bool_)
    step = 0
    while True:
        # On the first pass alpha is zero: only the sums are taken.
        if shared:
            _step_parallel(
                ranges, inverse, operator, alpha, P, Q, X, R, squares, energies, group_sums
            )
            if m > 0:
                _coarse_parallel(coarse_inverse, coarse_of, operator, group_sums, correction)
        else:
            _step_serial(
                ranges, inverse, operator, alpha, P, Q, X, R, squares, energies, group_sums
            )
            if m > 0:
                _coarse_serial(coarse_inverse, coarse_of, operator, group_sums, correction)
        any_active = False
        for j in range(n_columns):
            if not active[j]:
                continue
            square = 0.0
            rz_new = 0.0
            for g in range(n_ranges):
                square += squares[j, g]
                rz_new += energies[j, g]
            for a in range(m):
                rz_new += group_sums[j, a] * correction[j, a]
            norm[j] = np.sqrt(square)
            steps[j] = step
            if norm[j] <= target[j]:
                status[j] = 0  # CONVERGED
                active[j] = False
            elif not (rz_new > 0.0 and np.isfinite(rz_new)):
                status[j] = 2  # BREAKDOWN
                active[j] = False
            else:
                beta[j] = rz_new / rz[j] if step > 0 else 0.0
                rz[j] = rz_new
                any_active = True
        if not any_active or step >= max_steps:
            break
        if shared:
            _direction_parallel(ranges, inverse, operator, correction, beta, R, P, gathered)
        else:
            _direction_serial(ranges, inverse, operator, correction, beta, R, P, gathered)
        _operator(
            indptr, indices, data, ranges, diagonal, inverse, operator, gathered, P, Q, squares
        )
        for j in range(n_columns):
            alpha[j] = 0.0
            if active[j]:
                curvature = 0.0
                for g in range(n_ranges):
                    curvature += squares[j, g]
                if curvature > 0.0 and np.isfinite(curvature):
                    alpha[j] = rz[j] / curvature
                else:
                    status[j] = 2  # BREAKDOWN
                    active[j] = False
        step += 1
    return status, steps, norm


def _busy(threads: int) -> bool:
    """Whether other programs want the cores: then one thread is faster than several that wait.

    The answer changes no result, since bits do not depend on the number of threads.
    """
    return hasattr(os, "getloadavg") and os.getloadavg()[0] > threads + 0.8


def _gathered(X: Floats) -> Floats:
    """`X` as the product gathers it: (n, J), J padded to a multiple of four."""
    gathered = np.zeros((X.shape[1], -(-len(X) // 4) * 4))
    gathered[:, : len(X)] = X.T
    return gathered


def iterate(
    layout: Layout,
    diagonal: Floats,
    inverse: Floats,
    operator: Ints,
    coarse_inverse: Floats,
    coarse_of: Ints,
    B: Floats,
    X: Floats,
    target: Floats,
    max_steps: int,
    sweep: bool,
) -> tuple[Floats, Ints, Ints, Floats]:
    """Solve in the solver's layout; `X` is the start and is overwritten.

    Parameters
    ----------
    diagonal, inverse : (K, n) diagonals of the K operators; the inverse is 0 on nodes not free
    operator : (J,) operator of each column
    coarse_inverse : (K', m, m), m = 0 for Jacobi alone
    coarse_of : (K,) coarse inverse of each operator
    B, X : (J, n), zero on nodes not free
    target : (J,) norms of the residual divided by the diagonal, to reach
    sweep : end with one Jacobi sweep, which damps what is left of the rough part of the error

    Returns
    -------
    X, status (J,), steps (J,), norms reached before the sweep (J,)
    """
    n_columns = len(B)
    status, steps = np.empty((2, n_columns), dtype=np.int64)
    norm = np.empty(n_columns)

    with _one_at_a_time:
        threads = numba.get_num_threads()
        work = (len(layout.data) + 8 * X.shape[1]) * min(n_columns, BLOCK)
        numba.set_num_threads(1 if work < SERIAL_WORK or _busy(threads) else threads)
        try:
            for first in range(0, n_columns, BLOCK):
                block = slice(first, first + BLOCK)
                problem = (*layout, diagonal, inverse, operator[block])
                Q = np.zeros_like(X[block])
                sums = np.empty((len(Q), len(layout.ranges) - 1))
                if X[block].any():
                    _operator(*problem, _gathered(X[block]), X[block], Q, sums)
                R = B[block] - Q
                status[block], steps[block], norm[block] = _iterate(
                    *problem, coarse_inverse, coarse_of, X[block], R, target[block], max_steps
                )
                if sweep:
                    _operator(*problem, _gathered(X[block]), X[block], Q, sums)
                    X[block] += inverse[operator[block]] * (B[block] - Q)
        finally:
            numba.set_num_threads(threads)
    return X, status, steps, norm
