"""Preconditioned conjugate gradients on many columns at once, compiled.

One pass over the weights serves up to twelve columns; every column has its own operator
``L + diag(q)`` on its own free nodes, its own step lengths and its own end. This is not a block
Krylov method: the operators differ, only the memory traffic is shared.

Twelve columns are a packet: (n, 12) arrays whose rows are handled as one (`lanes.py`). A packet may
be narrower, and is filled up with empty columns.

Arithmetic is strict IEEE in a fixed order (no fast-math, sums by row range, ranges in order), so a
column's bits depend neither on the other columns nor on the number of threads.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from poise.arrays import Floats, Ints
from poise.linalg.turns import Turns

# GNU OpenMP lets idle threads spin for milliseconds, and when another program wants the core the
# spinning thread is the one put to sleep while the others wait for it: on two busy cores a solve
# took 1,280 ms instead of 65 ms with one thread. Some ten microseconds of spinning keep what two
# threads gain on a quiet machine. Read when numba starts its threads; a user's choice stays.
os.environ.setdefault("GOMP_SPINCOUNT", "10000")

import numba
from numba import prange

from poise.linalg.lanes import (
    WIDTHS,
    add,
    load,
    multiply,
    store,
    subtract,
    times,
    where_positive,
)

#: Below this many multiplications a step, waking a second thread costs more than it saves.
SERIAL_WORK = 400_000
#: Columns solved together.
PACKET = max(WIDTHS)
#: Rows of the coarse inverse that one thread takes at a time.
COARSE_BLOCK = 64
#: The work-queue threading layer of numba may not be entered by two threads at once. They take
#: turns, packet by packet, so that a short solve need not wait for the end of a long one.
TURNS = Turns()


class Layout(NamedTuple):
    """The reordered weights and the row ranges of a `PreparedLaplacian`."""

    indptr: np.ndarray[Any, np.dtype[np.uint32]]
    indices: np.ndarray[Any, np.dtype[np.uint32]]
    data: np.ndarray[Any, np.dtype[Any]]
    ranges: Ints
    order: Ints
    position: Ints


@contextmanager
def _straight_line_vectorised() -> Iterator[None]:
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
def _product(indptr, indices, data, ranges, diagonal, inverse, P, Q, sums, zero):  # type: ignore[no-untyped-def]
    """``Q = (L + diag(q)) P`` on the free nodes, 0 elsewhere; per range the sums of ``P * Q``."""
    for g in prange(len(ranges) - 1):
        total = zero
        for i in range(ranges[g], ranges[g + 1]):
            s = zero
            for e in range(indptr[i], indptr[i + 1]):
                s = add(s, times(data[e], load(P, indices[e], zero)))
            p = load(P, i, zero)
            q = subtract(multiply(load(diagonal, i, zero), p), s)
            q = where_positive(load(inverse, i, zero), q, zero)
            store(Q, i, q)
            total = add(total, multiply(p, q))
        store(sums, g, total)


@_parallel
def _step(ranges, inverse, alpha, Q, R, squares, energies, group_sums, zero):  # type: ignore[no-untyped-def]
    """``R -= alpha Q``; per range the sums of Z^2, Z R and R, where Z is R over the diagonal."""
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
def _coarse_solve(coarse_inverse, coarse_of, group_sums, correction):  # type: ignore[no-untyped-def]
    """Per column the small dense product ``correction = (Z^T A Z)^-1 Z^T R``."""
    n_columns, m = correction.shape
    for block in prange((m + COARSE_BLOCK - 1) // COARSE_BLOCK):
        first = block * COARSE_BLOCK
        last = min(first + COARSE_BLOCK, m)
        for j in range(n_columns):
            k = coarse_of[j]
            for a in range(first, last):
                correction[j, a] = 0
            for b in range(m):
                s = group_sums[b, j]
                for a in range(first, last):
                    correction[j, a] += coarse_inverse[k, b, a] * s


@_parallel
def _direction(ranges, inverse, correction, alpha, beta, R, X, P, zero):  # type: ignore[no-untyped-def]
    """``X += alpha P``, then ``P = M^-1 R + beta P`` on the free nodes, 0 elsewhere."""
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
def _iterate(  # type: ignore[no-untyped-def]
    indptr,
    indices,
    data,
    ranges,
    diagonal,
    inverse,
    coarse_inverse,
    coarse_of,
    X,
    R,
    P,
    Q,
    target,
    max_steps,
    zero,
):
    """Run to the end. On entry `R` is ``B - A X``, `P` zero; `target` are the norms to reach."""
    width = X.shape[1]
    n_columns = len(target)
    n_ranges = len(ranges) - 1
    m = coarse_inverse.shape[1]
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
    status = np.full(n_columns, 1, dtype=np.int64)  # MAX_STEPS until shown otherwise
    active = np.ones(n_columns, dtype=np.bool_)
    step = 0
    while True:
        # On the first pass alpha is zero: only the sums are taken.
        _step(ranges, inverse, alpha, Q, R, squares, energies, group_sums, zero)
        if m > 0:
            _coarse_solve(coarse_inverse, coarse_of, group_sums, by_column)
            for j in range(n_columns):
                for a in range(m):
                    correction[a, j] = by_column[j, a]
        any_active = False
        for j in range(n_columns):
            beta[0, j] = 0
            if not active[j]:
                continue
            square = 0.0
            rz_new = 0.0
            for g in range(n_ranges):
                square += squares[g, j]
                rz_new += energies[g, j]
            for a in range(m):
                rz_new += group_sums[a, j] * correction[a, j]
            norm[j] = np.sqrt(square)
            steps[j] = step
            if norm[j] <= target[j]:
                status[j] = 0  # CONVERGED
                active[j] = False
            elif not (rz_new > 0.0 and np.isfinite(rz_new)):
                status[j] = 2  # BREAKDOWN
                active[j] = False
            else:
                beta[0, j] = rz_new / rz[j] if step > 0 else 0.0
                rz[j] = rz_new
                any_active = True
        # Also at the end: this is where X follows alpha.
        _direction(ranges, inverse, correction, alpha, beta, R, X, P, zero)
        if not any_active or step >= max_steps:
            break
        _product(indptr, indices, data, ranges, diagonal, inverse, P, Q, squares, zero)
        for j in range(n_columns):
            alpha[0, j] = 0
            if active[j]:
                curvature = 0.0
                for g in range(n_ranges):
                    curvature += squares[g, j]
                if curvature > 0.0 and np.isfinite(curvature):
                    alpha[0, j] = rz[j] / curvature
                else:
                    status[j] = 2  # BREAKDOWN
                    active[j] = False
        step += 1
    return status, steps, norm


@_parallel
def _lay_out(diagonal, inverse, operator, order, D, D_inverse, X, P, Q):  # type: ignore[no-untyped-def]
    """Each column's diagonals in the solver's order; `X`, `P` and `Q` become zero."""
    for i in prange(len(order)):
        node = order[i]
        for j in range(len(operator)):
            D[i, j] = diagonal[operator[j], node]
            D_inverse[i, j] = inverse[operator[j], node]
            X[i, j] = P[i, j] = Q[i, j] = 0.0
        for j in range(len(operator), D.shape[1]):
            D[i, j] = D_inverse[i, j] = X[i, j] = P[i, j] = Q[i, j] = 0.0


@_parallel
def _pack(rows, which, inverse, operator, position, packet):  # type: ignore[no-untyped-def]
    """``packet[position[i], j] = rows[which[j], i]`` on the free nodes, 0 elsewhere."""
    for i in prange(len(position)):
        p = position[i]
        for j in range(len(which)):
            packet[p, j] = inverse[operator[j], i]  # in the packet's precision
            packet[p, j] = rows[which[j], i] if packet[p, j] > 0.0 else 0.0
        for j in range(len(which), packet.shape[1]):
            packet[p, j] = 0.0


@_parallel
def _sweep(inverse, R, X, zero):  # type: ignore[no-untyped-def]
    """``X += R / diagonal``."""
    for i in prange(len(X)):
        z = multiply(load(inverse, i, zero), load(R, i, zero))
        store(X, i, add(load(X, i, zero), z))


@_parallel
def _unpack(packet, position, rows):  # type: ignore[no-untyped-def]
    """``rows[j, i] = packet[position[i], j]``."""
    for i in prange(len(position)):
        for j in range(len(rows)):
            rows[j, i] = packet[position[i], j]


class _Room:
    """Memory for the six arrays of a packet, kept for the next one; used during a turn only.

    Memory that is new to a program is slow at first: at a million nodes it took a fifth of a solve.
    """

    def __init__(self) -> None:
        self._bytes = np.empty(0, dtype=np.uint8)

    def arrays(self, n: int, width: int, kind: Any) -> Floats:
        """(6, n, width) numbers of any value."""
        size = 6 * n * width * np.dtype(kind).itemsize
        if self._bytes.size < size:
            self._bytes = np.empty(0, dtype=np.uint8)  # the old ones go first
            self._bytes = np.empty(size, dtype=np.uint8)
        arrays: Floats = self._bytes[:size].view(kind).reshape(6, n, width)
        return arrays


_room = _Room()


def _busy(threads: int) -> bool:
    """Whether other programs want the cores: then one thread is faster than several that wait.

    The answer changes no result, since bits do not depend on the number of threads.
    """
    return hasattr(os, "getloadavg") and os.getloadavg()[0] > threads + 0.8


def iterate(
    layout: Layout,
    diagonal: Floats,
    inverse: Floats,
    operator: Ints,
    coarse_inverse: Floats,
    coarse_of: Ints,
    B: Floats,
    X: Floats,
    rtol: float,
    max_steps: int,
    sweep: bool,
) -> tuple[Floats, Ints, Ints, Floats]:
    """Solve for many columns, packet by packet; all arrays are in the graph's own order.

    The numbers of `layout.data` decide about the precision: with single ones the whole iteration is
    in single precision, which halves the traffic of memory that bounds it.

    Parameters
    ----------
    diagonal, inverse : (K, n) diagonals of the K operators; the inverse is 0 on nodes not free
    operator : (J,) operator of each column
    coarse_inverse : (K', m, m), m = 0 for Jacobi alone
    coarse_of : (K,) coarse inverse of each operator
    B : (J, n) right-hand sides; entries on nodes not free are ignored
    X : (J, n) starts, or (1, n) for all
    rtol : norm of the residual to reach, relative to that of `B`, both over the diagonal
    sweep : end with one Jacobi sweep, which damps what is left of the rough part of the error

    Returns
    -------
    (J, n) solutions, status (J,), steps (J,), relative residuals reached before the sweep (J,)
    """
    n_columns, n = B.shape
    kind = layout.data.dtype.type
    coarse_inverse = coarse_inverse.astype(kind, copy=False)
    value = np.empty(B.shape)
    status, steps = np.empty((2, n_columns), dtype=np.int64)
    residual = np.empty(n_columns)
    matrix = (layout.indptr, layout.indices, layout.data, layout.ranges)
    cold = not X.any()
    threads = numba.get_num_threads()
    work = (len(layout.data) + 8 * n) * min(n_columns, PACKET)
    numba.set_num_threads(1 if work < SERIAL_WORK or _busy(threads) else threads)
    try:
        for first in range(0, n_columns, PACKET):
            columns = np.arange(first, min(first + PACKET, n_columns))
            k = operator[columns]
            width = next(w for w in WIDTHS if w >= len(columns))
            zero = (kind(0.0),) * width
            with TURNS, _straight_line_vectorised():
                D, D_inverse, x, r, P, Q = _room.arrays(n, width, kind)
                _lay_out(diagonal, inverse, k, layout.order, D, D_inverse, x, P, Q)
                _pack(B, columns, inverse, k, layout.position, r)
                sums = np.empty((3, len(layout.ranges) - 1, width), dtype=kind)
                still = np.zeros((1, width), dtype=kind)
                _step(layout.ranges, D_inverse, still, Q, r, *sums, zero)
                scale = np.sqrt(sums[0].sum(axis=0, dtype=np.float64))
                if not cold:
                    _pack(X, columns % len(X), inverse, k, layout.position, x)
                    x *= scale > 0  # a zero column needs no other start
                    _product(*matrix, D, D_inverse, x, Q, sums[0], zero)
                    r -= Q
                scale = scale[: len(columns)]
                status[columns], steps[columns], norm = _iterate(
                    *matrix,
                    D,
                    D_inverse,
                    coarse_inverse,
                    coarse_of[k],
                    x,
                    r,
                    P,
                    Q,
                    rtol * scale,
                    max_steps,
                    zero,
                )
                residual[columns] = norm / np.where(scale > 0, scale, 1.0)
                if sweep:
                    _sweep(D_inverse, r, x, zero)
                _unpack(x, layout.position, value[first : first + PACKET])
    finally:
        numba.set_num_threads(threads)
    return value, status, steps, residual
