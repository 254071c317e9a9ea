"""Compiled passes of conjugate gradients over the rows of a rank; PETSc computes the product.

Columns are rows here, (J, n) arrays: each is contiguous, as in PETSc. Sums are taken over blocks of
rows, each in order, so that they are the same every time and have small rounding errors.
"""

import numba
import numpy as np

#: Rows per partial sum.
BLOCK_ROWS = 2048


def _compiled(function):  # type: ignore[no-untyped-def]
    return numba.njit(cache=True, nogil=True, error_model="numpy")(function)


@_compiled
def finish_product(diagonal, inverse, which, P, Q):  # type: ignore[no-untyped-def]
    """Make ``Q = W P`` the product with the operators, and return the sums of ``P Q``.

    ``Q = diagonal P - W P`` on the free nodes, those with an inverse, and 0 elsewhere.
    """
    n_columns, n = P.shape
    sums = np.zeros(n_columns)
    for j in range(n_columns):
        k = which[j]
        for begin in range(0, n, BLOCK_ROWS):
            total = 0.0
            for i in range(begin, min(begin + BLOCK_ROWS, n)):
                q = diagonal[k, i] * P[j, i] - Q[j, i] if inverse[k, i] > 0 else 0.0
                Q[j, i] = q
                total += P[j, i] * q
            sums[j] += total
    return sums


@_compiled
def advance(inverse, which, alpha, P, Q, X, R):  # type: ignore[no-untyped-def]
    """``X += alpha P``, ``R -= alpha Q``; sums of ``Z^2`` and ``Z R``, Z the residual over D."""
    n_columns, n = P.shape
    sums = np.zeros((2, n_columns))
    for j in range(n_columns):
        k, a = which[j], alpha[j]
        for begin in range(0, n, BLOCK_ROWS):
            square, energy = 0.0, 0.0
            for i in range(begin, min(begin + BLOCK_ROWS, n)):
                X[j, i] += a * P[j, i]
                r = R[j, i] - a * Q[j, i]
                R[j, i] = r
                z = inverse[k, i] * r
                square += z * z
                energy += z * r
            sums[0, j] += square
            sums[1, j] += energy
    return sums


@_compiled
def turn(inverse, which, beta, active, R, P):  # type: ignore[no-untyped-def]
    """The next directions: ``P = Z + beta P``, 0 in columns that have ended."""
    n_columns, n = P.shape
    for j in range(n_columns):
        k, b = which[j], beta[j]
        if active[j]:
            for i in range(n):
                P[j, i] = inverse[k, i] * R[j, i] + b * P[j, i]
        else:
            P[j, :] = 0.0


@_compiled
def sweep(inverse, which, B, Q, X):  # type: ignore[no-untyped-def]
    """One Jacobi sweep, ``X = (B + W X) / D``; `Q` holds ``W X``."""
    n_columns, n = X.shape
    for j in range(n_columns):
        k = which[j]
        for i in range(n):
            X[j, i] = inverse[k, i] * (B[j, i] + Q[j, i])
