"""Passes over the class shares of all nodes, compiled: for graphs on which NumPy's take seconds.

Each does what a line or two of NumPy do in `combined.py`, with one pass over memory instead of
several, on all cores.
"""

from typing import Any

import numba
import numpy as np
from numba import prange

from poise.arrays import Floats, Ints
from poise.linalg.prepared import PreparedLaplacian


def _parallel(function: Any) -> Any:
    return numba.njit(parallel=True, cache=True, nogil=True, error_model="numpy")(function)


def walk(
    prepared: PreparedLaplacian, values: Floats, held: Ints, shares: Floats, steps: int
) -> Floats:
    """(n, C) means of `values` over random walks; before each step and at the end the rows `held`
    are `shares`.
    """
    degrees = prepared.degrees[prepared.order]
    positions = prepared.position[held]
    now = values[prepared.order]
    ahead = np.empty_like(now)
    for _ in range(steps):
        now[positions] = shares
        _step(prepared.indptr, prepared.indices, prepared.data, degrees, now, ahead)
        now, ahead = ahead, now
    now[positions] = shares
    result: Floats = np.take(now, prepared.position, axis=0, out=ahead)
    return result


@_parallel
def _step(indptr, indices, data, degrees, P, Q):  # type: ignore[no-untyped-def]
    """``Q = D^-1 W P``; nodes without neighbours stay as they are."""
    n_columns = P.shape[1]
    for i in prange(len(P)):
        if degrees[i] == 0.0:
            Q[i] = P[i]
            continue
        for c in range(n_columns):
            Q[i, c] = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            j, w = indices[e], data[e]
            for c in range(n_columns):
                Q[i, c] += w * P[j, c]
        for c in range(n_columns):
            Q[i, c] /= degrees[i]


@_parallel
def geometric_mean(values, linear, factors, doubt, power):  # type: ignore[no-untyped-def]
    """``((values + doubt) (linear factors)^power)^(1 / (1 + power))``, each row summing to 1."""
    n, n_columns = values.shape
    means = np.empty((n, n_columns))
    for i in prange(n):
        total = 0.0
        for c in range(n_columns):
            far = (linear[i, c] * factors[c]) ** power
            means[i, c] = ((values[i, c] + doubt[c]) * far) ** (1.0 / (1.0 + power))
            total += means[i, c]
        for c in range(n_columns):
            means[i, c] /= total
    return means
