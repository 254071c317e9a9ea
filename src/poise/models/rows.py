"""Passes over the rows of large arrays: NumPy for small ones, compiled code for large ones.

NumPy reads the memory once for every operation, on one core; at a million nodes a question spent
more time on that than on half of its solves.
"""

from collections.abc import Sequence

import numpy as np

from poise.arrays import Bools, Floats, Ints
from poise.graph import Graph
from poise.models.components import laplacian

#: From this number of rows on, compiled code is faster. Loading it takes a tenth of a second once.
COMPILED_MIN_ROWS = 20_000


def put_columns(columns: Floats, places: Sequence[int], out: Floats) -> None:
    """``out[:, places[j]] = columns[:, j]``."""
    if len(out) < COMPILED_MIN_ROWS:
        out[:, list(places)] = columns
        return
    from poise.models.compiled_rows import put

    put(columns.T, np.array(places, dtype=np.int64), out)


def first_minus_second(scores: Floats) -> Floats:
    """(n,) largest minus second largest of each row of at least two."""
    if len(scores) < COMPILED_MIN_ROWS:
        top = np.partition(scores, -2, axis=1)[:, -2:]
        return np.asarray(top[:, 1] - top[:, 0])
    from poise.models.compiled_rows import two_largest_apart

    return np.asarray(two_largest_apart(np.ascontiguousarray(scores)))


def largest(scores: Floats, known: Bools, otherwise: int) -> Ints:
    """(n,) column of the largest score; `otherwise` where not `known` or all scores are 0."""
    if len(scores) < COMPILED_MIN_ROWS:
        return np.where(known & scores.any(axis=1), np.argmax(scores, axis=1), otherwise)
    from poise.models.compiled_rows import column_of_largest

    return np.asarray(column_of_largest(np.ascontiguousarray(scores), known, otherwise))


def neighbour_sums(graph: Graph, values: Floats) -> Floats:
    """(n, T) ``W values``."""
    if len(values) < COMPILED_MIN_ROWS:
        return np.asarray(graph.weights @ values)
    from poise.models.compiled_rows import sums

    prepared = laplacian(graph)
    return np.array([sums(prepared, column) for column in values.T]).T
