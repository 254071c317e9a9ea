"""Preconditioned conjugate gradients on many columns at once: the compiled code.

One pass over the weights serves up to twelve columns; every column has its own operator
``L + diag(q)`` on its own free nodes, its own step lengths and its own end. This is not a block
Krylov method: the operators differ, only the memory traffic is shared.

Arrays are (n, width) in the solver's order of the nodes, and a row is handled as one (`lanes.py`).
`packets.py` lays them out. All passes are in this file: numba's cache recompiles a function when
its own file changes, not when a file changes that it calls.

Arithmetic is strict IEEE in a fixed order (no fast-math, sums by row range, ranges in order), so a
column's bits depend neither on the other columns nor on the number of threads.

References
----------
Y. Saad, "Iterative Methods for Sparse Linear Systems", 2nd ed., SIAM 2003, Algorithm 9.1.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from poise.arrays import Floats, Ints
from poise.linalg.status import Status

# GNU OpenMP lets idle threads spin for milliseconds, and when another program wants the core the
# spinning thread is the one put to sleep while the others wait for it: on two busy cores a solve
# took 1,280 ms instead of 65 ms with one thread. Some ten microseconds of spinning keep what two
# threads gain on a quiet machine. Read when numba starts its threads; a user's choice stays.
os.environ.setdefault("GOMP_SPINCOUNT", "10000")

import numba
from numba import prange

from poise.linalg.lanes import (
    add,
    load,
    multiply,
    prefetch,
    store,
    subtract,
    times,
    where_positive,
)

#: Entries from the one that is worked on to the one whose row is prefetched.
AHEAD = np.uint32(256)
#: Rows of the coarse inverse that one thread takes at a time.
COARSE_BLOCK_ROWS = 64


class PacketOperators(NamedTuple):
    """The operators of a packet's columns, in the solver's order of the nodes.

    Attributes
    ----------
    indptr, indices, data, ranges : weights and row ranges of the `PreparedLaplacian`
    diagonal, inverse : (n,) if all columns have the same operator, which saves a tenth of
        the time, else (n, width); the inverse is 0 on nodes that are not free
    coarse_inverse : (K', m, m) inverses of coarse matrices; m = 0 for Jacobi alone
    coarse_of : (J,) coarse inverse of each column
    is_far : whether directions are too large for the caches, so that rows are prefetched
    """

    indptr: np.ndarray[Any, np.dtype[np.uint32]]
    indices: np.ndarray[Any, np.dtype[np.uint32]]
    data: np.ndarray[Any, np.dtype[Any]]
    ranges: Ints
    diagonal: Floats
    inverse: Floats
    coarse_inverse: Floats
    coarse_of: Ints
    is_far: bool


@contextmanager
def straight_line_vectorised() -> Iterator[None]:
    """Compile with SIMD for straight-line code, which numba leaves off by default.

    It puts the lanes of a packet into one register. Set only while functions here are compiled.
    """
    config: Any = numba.config
    before = config.SLP_VECTORIZE
    config.SLP_VECTORIZE = 1
    try:
        yield
    finally:
        config.SLP_VECTORIZE = before


def _parallel(function: Any) -> Any:
    # Without the interpreter's lock: other threads, such as a server's, go on during a solve.
    return numba.njit(parallel=True, cache=True, nogil=True, error_model="numpy")(function)


@_parallel
def product(operators, P, Q, sums, zero):  # type: ignore[no-untyped-def]
    """``Q = (L + diag(q)) P`` on the free nodes, 0 elsewhere; per range the sums of ``P * Q``.

    Neighbours' rows of P lie all over memory. The processor looks some three rows ahead, which is
    too late where P is larger than the caches: prefetching halves the time there.
    """
    indptr, indices, data = operators.indptr, operators.indices, operators.data
    ranges, diagonal, inverse = operators.ranges, operators.diagonal, operators.inverse
    is_far, last = operators.is_far, np.uint32(len(indices) - 1)
    for g in prange(len(ranges) - 1):
        total = zero
        for i in range(ranges[g], ranges[g + 1]):
            s = zero
            if is_far:
                for e in range(indptr[i], indptr[i + 1]):
                    prefetch(P, indices[min(e + AHEAD, last)], zero)
                    s = add(s, times(data[e], load(P, indices[e], zero)))
            else:
                for e in range(indptr[i], indptr[i + 1]):
                    s = add(s, times(data[e], load(P, indices[e], zero)))
            p = load(P, i, zero)
            q = subtract(multiply(load(diagonal, i, zero), p), s)
            q = where_positive(load(inverse, i, zero), q, zero)
            store(Q, i, q)
            total = add(total, multiply(p, q))
        store(sums, g, total)


@_parallel
def advance_residual(operators, alpha, Q, R, squares, energies, group_sums, zero):  # type: ignore[no-untyped-def]
    """``R -= alpha Q``; per range the sums of Z^2, Z R and R, where Z is R over the diagonal."""
    ranges, inverse = operators.ranges, operators.inverse
    for g in prange(len(ranges) - 1):
        a = load(alpha, 0, zero)
        square = zero
        energy = zero
        total = zero
        for i in range(ranges[g], ranges[g + 1]):
            r = subtract(load(R, i, zero), multiply(a, load(Q, i, zero)))
            store(R, i, r)
            z = multiply(load(inverse, i, zero), r)
            square = add(square, multiply(z, z))
            energy = add(energy, multiply(z, r))
            total = add(total, r)
        store(squares, g, square)
        store(energies, g, energy)
        store(group_sums, g, total)


@_parallel
def solve_coarse(operators, group_sums, correction):  # type: ignore[no-untyped-def]
    """Per column the small dense product ``correction = (Z^T A Z)^-1 Z^T R``."""
    coarse_inverse, coarse_of = operators.coarse_inverse, operators.coarse_of
    n_columns, m = correction.shape
    for block in prange((m + COARSE_BLOCK_ROWS - 1) // COARSE_BLOCK_ROWS):
        first = block * COARSE_BLOCK_ROWS
        last = min(first + COARSE_BLOCK_ROWS, m)
        for j in range(n_columns):
            k = coarse_of[j]
            for a in range(first, last):
                correction[j, a] = 0
            for b in range(m):
                s = group_sums[b, j]
                for a in range(first, last):
                    correction[j, a] += coarse_inverse[k, b, a] * s


@_parallel
def advance_solution(operators, correction, alpha, beta, R, X, P, zero):  # type: ignore[no-untyped-def]
    """``X += alpha P``, then ``P = M^-1 R + beta P`` on the free nodes, 0 elsewhere."""
    ranges, inverse = operators.ranges, operators.inverse
    m = len(correction)
    for g in prange(len(ranges) - 1):
        a = load(alpha, 0, zero)
        b = load(beta, 0, zero)
        coarse = load(correction, g, zero) if g < m else zero
        for i in range(ranges[g], ranges[g + 1]):
            p = load(P, i, zero)
            store(X, i, add(load(X, i, zero), multiply(a, p)))
            D = load(inverse, i, zero)
            z = add(multiply(D, load(R, i, zero)), where_positive(D, coarse, zero))
            store(P, i, add(z, multiply(b, p)))


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _column_sum(A, j):  # type: ignore[no-untyped-def]
    """Sum of column `j` from the top down, in double precision."""
    total = 0.0
    for g in range(len(A)):
        total += A[g, j]
    return total


@numba.njit(cache=True, nogil=True, error_model="numpy")
def conjugate_gradients(operators, X, R, P, Q, target, max_steps, zero):  # type: ignore[no-untyped-def]
    """Algorithm 9.1 of Saad on a packet: status (J,), steps (J,), norms of the residuals (J,).

    Parameters
    ----------
    operators : PacketOperators
    X, R, P, Q : (n, width)
        Starts, their residuals ``B - A X``, and zeros for directions and products. At the end `X`
        holds the solutions and `R` their residuals.
    target : (J,) norms of the residual over the diagonal, to reach
    zero : tuple of zeros, one per lane
    """
    width = X.shape[1]
    n_columns = len(target)
    n_ranges = len(operators.ranges) - 1
    m = operators.coarse_inverse.shape[1]
    squares = np.zeros((n_ranges, width), dtype=X.dtype)
    energies = np.zeros((n_ranges, width), dtype=X.dtype)
    group_sums = np.zeros((n_ranges, width), dtype=X.dtype)
    by_column = np.zeros((n_columns, m), dtype=X.dtype)
    correction = np.zeros((m, width), dtype=X.dtype)
    alpha = np.zeros((1, width), dtype=X.dtype)
    beta = np.zeros((1, width), dtype=X.dtype)
    rz = np.zeros(n_columns)
    norm = np.zeros(n_columns)
    steps = np.zeros(n_columns, dtype=np.int64)
    status = np.full(n_columns, Status.MAX_STEPS, dtype=np.int64)
    active = np.ones(n_columns, dtype=np.bool_)
    step = 0
    while True:
        # Line 5, r = r - alpha A p. On the first pass alpha is zero and only the sums are taken.
        advance_residual(operators, alpha, Q, R, squares, energies, group_sums, zero)
        # Line 6, z = M^-1 r: its part in the coarse space. The other part, r over the diagonal, is
        # never stored.
        if m > 0:
            solve_coarse(operators, group_sums, by_column)
            for j in range(n_columns):
                for a in range(m):
                    correction[a, j] = by_column[j, a]
        any_active = False
        for j in range(n_columns):
            beta[0, j] = 0
            if not active[j]:
                continue
            rz_new = _column_sum(energies, j)
            for a in range(m):
                rz_new += group_sums[a, j] * correction[a, j]
            norm[j] = np.sqrt(_column_sum(squares, j))
            steps[j] = step
            if norm[j] <= target[j]:
                status[j] = Status.CONVERGED
                active[j] = False
            elif not (rz_new > 0.0 and np.isfinite(rz_new)):
                status[j] = Status.BREAKDOWN
                active[j] = False
            else:
                # Line 7, beta = (r, z) / (r, z) of the step before; 0 on the first pass (line 1).
                beta[0, j] = rz_new / rz[j] if step > 0 else 0.0
                rz[j] = rz_new
                any_active = True
        # Line 4, x = x + alpha p, and line 8, p = z + beta p. The last pass is for line 4 alone.
        advance_solution(operators, correction, alpha, beta, R, X, P, zero)
        if not any_active or step >= max_steps:
            break
        # Line 3, alpha = (r, z) / (A p, p).
        product(operators, P, Q, squares, zero)
        for j in range(n_columns):
            alpha[0, j] = 0
            if active[j]:
                curvature = _column_sum(squares, j)
                if curvature > 0.0 and np.isfinite(curvature):
                    alpha[0, j] = rz[j] / curvature
                else:
                    status[j] = Status.BREAKDOWN
                    active[j] = False
        step += 1
    return status, steps, norm


@_parallel
def lay_out(diagonal, inverse, operator, order, D, D_inverse):  # type: ignore[no-untyped-def]
    """Diagonals in the solver's order: each column's, or those of the only operator."""
    for i in prange(len(order)):
        node = order[i]
        if D.ndim == 1:
            D[i] = diagonal[operator[0], node]
            D_inverse[i] = inverse[operator[0], node]
        else:
            for j in range(len(operator)):
                D[i, j] = diagonal[operator[j], node]
                D_inverse[i, j] = inverse[operator[j], node]
            for j in range(len(operator), D.shape[1]):
                D[i, j] = D_inverse[i, j] = 0.0


@_parallel
def clear(X, P, Q, zero):  # type: ignore[no-untyped-def]
    """Zeros, written by the threads that will work on them."""
    for i in prange(len(X)):
        store(X, i, zero)
        store(P, i, zero)
        store(Q, i, zero)


@_parallel
def pack(rows, which, inverse, operator, position, packet):  # type: ignore[no-untyped-def]
    """``packet[position[i], j] = rows[which[j], i]`` on the free nodes, 0 elsewhere."""
    for i in prange(len(position)):
        p = position[i]
        for j in range(len(which)):
            packet[p, j] = inverse[operator[j], i]  # in the packet's precision
            packet[p, j] = rows[which[j], i] if packet[p, j] > 0.0 else 0.0
        for j in range(len(which), packet.shape[1]):
            packet[p, j] = 0.0


@_parallel
def sweep(inverse, R, X, zero):  # type: ignore[no-untyped-def]
    """``X += R / diagonal``."""
    for i in prange(len(X)):
        z = multiply(load(inverse, i, zero), load(R, i, zero))
        store(X, i, add(load(X, i, zero), z))


@_parallel
def unpack(packet, position, rows):  # type: ignore[no-untyped-def]
    """``rows[j, i] = packet[position[i], j]``."""
    for i in prange(len(position)):
        for j in range(len(rows)):
            rows[j, i] = packet[position[i], j]
