"""Large groups of coinciding points need no search: each point lists the next ones of its group.

An approximate search puts coinciding points into one cell and compares each with all of them:
quadratic in their number.
"""

import numpy as np
import numpy.typing as npt

from poise.graph.features import FloatArray

#: Smaller groups are searched as quickly.
LARGE_GROUP_POINTS = 1_000

IntArray = npt.NDArray[np.int64]


def large_groups(X: FloatArray, least: int = LARGE_GROUP_POINTS) -> list[IntArray]:
    """Groups of at least `least` equal rows, each in ascending order."""
    if X.shape[0] < least:
        return []
    # Equal rows have equal projections; the few groups of equal projections are compared in full.
    # Not by a matrix product: it may add in another order at the end of a block of rows.
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
    """(size, k) the k points that follow each point of a group in a circle, in ascending order."""
    positions = (np.arange(group.size)[:, None] + np.arange(1, k + 1)) % group.size
    return np.sort(group[positions], axis=1)
