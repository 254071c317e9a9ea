"""Columns in packets: what the compiled conjugate gradients work on, laid out and read back.

Twelve columns are a packet: (n, 12) arrays in the solver's order of the nodes. A packet may be
narrower, and is filled up with empty columns.
"""

import os
from collections.abc import Sequence
from math import prod
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from poise.arrays import Floats, Ints
from poise.linalg import compiled
from poise.linalg.lanes import LINE_BYTES, WIDTHS, row_stride
from poise.linalg.operators import Limits, Operators, Solved, Systems
from poise.linalg.turns import TURNS

#: Below this many multiplications per step, waking a second thread costs more than it saves.
MIN_PARALLEL_WORK = 400_000
#: Load of the machine beyond the solver's own threads from which on one thread is faster.
MAX_OTHER_LOAD = 0.8
#: Directions of more bytes do not stay in the caches of a core, and their rows are prefetched
#: (docs/decisions/compiled-kernel.md).
NEAR_BYTES = 4_000_000
#: Columns solved together.
PACKET_COLUMNS = max(WIDTHS)


class Workspace:
    """Memory for the arrays of a packet, kept for the next one; used during a turn only.

    Memory that is new to a program is slow at first: at a million nodes it took a fifth of a solve.
    """

    def __init__(self) -> None:
        self._bytes = np.empty(0, dtype=np.uint8)

    def arrays(self, shapes: Sequence[tuple[int, ...]], dtype: Any) -> list[Floats]:
        """Arrays of these shapes, each beginning with a line, with numbers of any value."""
        sizes = [prod(shape) * np.dtype(dtype).itemsize for shape in shapes]
        starts = np.cumsum([0, *(-(-size // LINE_BYTES) * LINE_BYTES for size in sizes)])
        needed = int(starts[-1]) + LINE_BYTES
        if self._bytes.size < needed:
            self._bytes = np.empty(0, dtype=np.uint8)  # frees the old memory first
            self._bytes = np.empty(needed, dtype=np.uint8)
        starts += -self._bytes.ctypes.data % LINE_BYTES
        return [
            self._bytes[start : start + size].view(dtype).reshape(shape)
            for start, size, shape in zip(starts[:-1].tolist(), sizes, shapes, strict=True)
        ]


_workspace = Workspace()


def _busy(threads: int) -> bool:
    """Whether other programs want the cores: then one thread is faster than several that wait.

    The answer changes no result, since bits do not depend on the number of threads.
    """
    return hasattr(os, "getloadavg") and os.getloadavg()[0] > threads + MAX_OTHER_LOAD


def iterate(
    operators: Operators,
    data: npt.NDArray[np.floating[Any]],
    systems: Systems,
    coarse_inverse: Floats,
    limits: Limits,
) -> Solved:
    """Solve for many columns, packet by packet; all arrays are in the graph's own order.

    Parameters
    ----------
    data : `data` of the prepared Laplacian, or its `single`
        Its numbers decide on the precision: with single ones the whole iteration is in single
        precision, which halves the memory traffic that bounds its speed.
    coarse_inverse : (K, m, m), or (1, m, m) for all operators; m = 0 for Jacobi alone

    Returns
    -------
    Solved
        Solutions in the precision of `data`; the residuals are those before the sweep.
    """
    n_columns, n = systems.rhs.shape
    coarse_inverse = coarse_inverse.astype(data.dtype, copy=False)
    value = np.empty(systems.rhs.shape, dtype=data.dtype)
    status, steps = np.empty((2, n_columns), dtype=np.int64)
    residual = np.empty(n_columns)
    threads = numba.get_num_threads()
    work = (len(data) + 8 * n) * min(n_columns, PACKET_COLUMNS)
    numba.set_num_threads(1 if work < MIN_PARALLEL_WORK or _busy(threads) else threads)
    try:
        for first in range(0, n_columns, PACKET_COLUMNS):
            columns = np.arange(first, min(first + PACKET_COLUMNS, n_columns))
            with TURNS, compiled.straight_line_vectorised():
                status[columns], steps[columns], residual[columns] = _solve_packet(
                    operators, data, systems, coarse_inverse, limits, columns, value
                )
    finally:
        numba.set_num_threads(threads)
    return value, status, steps, residual


def _solve_packet(
    operators: Operators,
    data: npt.NDArray[np.floating[Any]],
    systems: Systems,
    coarse_inverse: Floats,
    limits: Limits,
    columns: Ints,
    value: Floats,
) -> tuple[Ints, Ints, Floats]:
    """Solve for these columns, at most a packet, into their rows of `value`.

    Returns
    -------
    status, steps and relative residuals of the columns
    """
    prepared, k = operators.prepared, systems.operator[columns]
    inverse, position = operators.inverse, prepared.position
    n, dtype = prepared.n, data.dtype.type
    # A diagonal that all columns share is read once for all of them. Other packets have one
    # width: each width has code of its own, which takes seconds to compile.
    is_shared = (k == k[0]).all()
    width = next(w for w in WIDTHS if w >= len(columns)) if is_shared else PACKET_COLUMNS
    diagonals = (n,) if is_shared else (n, width)
    zero = (dtype(0.0),) * width
    P, X, R, Q, D, D_inverse = _workspace.arrays(
        [(n, row_stride(width, data.itemsize))] + [(n, width)] * 3 + [diagonals] * 2, dtype
    )
    packet = compiled.PacketOperators(
        prepared.indptr,
        prepared.indices,
        data,
        prepared.ranges,
        D,
        D_inverse,
        coarse_inverse,
        k % len(coarse_inverse),
        P.nbytes > NEAR_BYTES,
    )
    compiled.lay_out(operators.diagonal, inverse, k, prepared.order, D, D_inverse)
    compiled.clear(X, P, Q, zero)
    compiled.pack(systems.rhs, columns, inverse, k, position, R)
    sums = np.empty((3, len(prepared.ranges) - 1, width), dtype=dtype)
    still = np.zeros((1, width), dtype=dtype)
    compiled.advance_residual(packet, still, Q, R, *sums, zero)
    scale = np.sqrt(sums[0].sum(axis=0, dtype=np.float64))
    if systems.start.any():
        starts = columns % len(systems.start)
        compiled.pack(systems.start, starts, inverse, k, position, X)
        X *= scale > 0  # a zero column needs no other start
        compiled.product(packet, X, Q, sums[0], zero)
        R -= Q
    scale = scale[: len(columns)]
    status, steps, norm = compiled.conjugate_gradients(
        packet, X, R, P, Q, limits.rtol * scale, limits.max_steps, zero
    )
    if limits.sweep:
        compiled.sweep(D_inverse, R, X, zero)
    compiled.unpack(X, position, value[columns[0] : columns[-1] + 1])
    return status, steps, norm / np.where(scale > 0, scale, 1.0)
