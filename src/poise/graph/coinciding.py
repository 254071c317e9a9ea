"""Large groups of coinciding points, which need no search: each lists the next ones of its group.

An approximate search puts coinciding points into one cell and compares each with all of them:
quadratic in their number.
"""

import numpy as np
import numpy.typing as npt

from poise.graph.features import FloatArray

#: Points of a group at least: smaller ones are searched as quickly.
LARGE = 1_000

IntArray = npt.NDArray[np.int64]


def large_groups(X: FloatArray, least: int = LARGE) -> list[IntArray]:
    """Rows that are equal, in groups of `least` or more, each in rising order."""
    if X.shape[0] < least:
        return []
    # Equal rows have equal projections; the few groups of equal ones are then compared in full.
    # Not by matrix product: that may add up in another order where a block of rows ends.
    direction = np.asarray(np.random.default_rng(0).normal(size=X.shape[1]), dtype=X.dtype)
    projected = np.einsum("nd,d->n", X, direction)
    _, group, sizes = np.unique(projected, return_inverse=True, return_counts=True)
    groups = []
    for number in np.flatnonzero(sizes >= least):
        rows = np.flatnonzero(group == number)
        rows = rows[(X[rows] == X[rows[0]]).all(axis=1)]
        if rows.size >= least:
            groups.append(rows)
    return groups


def next_in_group(group: IntArray, k: int) -> IntArray:
    """The k points that follow each of a group in a circle, by index: (size, k)."""
    positions = (np.arange(group.size)[:, None] + np.arange(1, k + 1)) % group.size
    return np.sort(group[positions], axis=1)
