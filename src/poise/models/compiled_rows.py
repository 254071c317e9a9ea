"""Compiled passes over the rows of large arrays, on all cores.

Each does what a line or two of NumPy do in `rows.py` or `combined.py`, with one pass over memory
instead of several.
"""

from typing import Any

import numba
import numpy as np
from numba import prange

from poise.arrays import Floats, Ints
from poise.linalg.prepared import PreparedLaplacian


def _parallel(function: Any) -> Any:
    return numba.njit(parallel=True, cache=True, nogil=True, error_model="numpy")(function)


@_parallel
def put(rows, places, out):  # type: ignore[no-untyped-def]
    """``out[i, places[j]] = rows[j, i]``."""
    for i in prange(len(out)):
        for j in range(len(places)):
            out[i, places[j]] = rows[j, i]


@_parallel
def two_largest_apart(scores):  # type: ignore[no-untyped-def]
    """(n,) largest minus second largest of each row."""
    n, n_columns = scores.shape
    differences = np.empty(n)
    for i in prange(n):
        first = max(scores[i, 0], scores[i, 1])
        second = min(scores[i, 0], scores[i, 1])
        for c in range(2, n_columns):
            score = scores[i, c]
            second = max(second, min(first, score))
            first = max(first, score)
        differences[i] = first - second
    return differences


@_parallel
def column_of_largest(scores, known, otherwise):  # type: ignore[no-untyped-def]
    """(n,) column of the largest score; `otherwise` where not `known` or all scores are 0."""
    n, n_columns = scores.shape
    columns = np.empty(n, dtype=np.int64)
    for i in prange(n):
        best, any_score = 0, scores[i, 0] != 0
        for c in range(1, n_columns):
            any_score |= scores[i, c] != 0
            if scores[i, c] > scores[i, best]:
                best = c
        columns[i] = best if known[i] and any_score else otherwise
    return columns


def means(prepared: PreparedLaplacian, values: Floats, steps: int) -> Floats:
    """(n,) means of `values` over random walks; nodes without neighbours stay as they are."""
    degrees, now = prepared.degrees[prepared.order], values[prepared.order]
    ahead, joined = np.empty_like(now), degrees > 0
    for _ in range(steps):
        _sum(prepared.indptr, prepared.indices, prepared.data, now, ahead)
        np.divide(ahead, degrees, out=now, where=joined)
    return np.asarray(now[prepared.position])


def sums(prepared: PreparedLaplacian, values: Floats) -> Floats:
    """(n,) weighted sums of the neighbours' `values`."""
    now = values[prepared.order]
    result = np.empty_like(now)
    _sum(prepared.indptr, prepared.indices, prepared.data, now, result)
    return np.asarray(result[prepared.position])


@_parallel
def _sum(indptr, indices, data, p, q):  # type: ignore[no-untyped-def]
    """``q = W p``."""
    for i in prange(len(p)):
        total = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            total += data[e] * p[indices[e]]
        q[i] = total


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
