"""Time and memory that a graph will take, estimated before it is built."""

from dataclasses import dataclass

import numpy as np

from poise.machine import check_room, gigabytes

#: Measured seconds of one core: per pair of points in 64 dimensions, all pairs or within lists; per
#: point in a k-d tree; per point in small cells.
PAIR_SECONDS, LIST_PAIR_SECONDS, TREE_POINT_SECONDS, CELL_POINT_SECONDS = 5.5e-9, 8e-9, 1e-4, 5e-5
#: Bytes per number in a search index (lists grow by more than they need), per entry of the list of
#: a point (node and distance), and per entry while weights are symmetrised and checked.
INDEX_NUMBER_BYTES, LIST_ENTRY_BYTES, WEIGHT_ENTRY_BYTES = 6.5, 12, 80
#: Further bytes per point, and bytes of the libraries loaded for the search.
POINT_BYTES, LIBRARY_BYTES = 100, 5e7


@dataclass(frozen=True)
class Cost:
    """An estimate.

    Attributes
    ----------
    seconds : on the given number of cores
    memory : at most so many bytes, without the points themselves
    """

    seconds: float
    memory: float

    def __str__(self) -> str:
        return f"about {_duration(self.seconds)} and {gigabytes(self.memory)} of memory"


def knn_cost(n: int, d: int, k: int, backend: str, cores: int = 1) -> Cost:
    """Rough cost of joining n points in d dimensions to k neighbours each.

    Parameters
    ----------
    backend : name of the backend, see `choose_backend`
    """
    width = max(d, 32) / 64
    index = INDEX_NUMBER_BYTES * d
    if backend == "faiss-cells":
        seconds = n * CELL_POINT_SECONDS * width
    elif backend == "faiss-ivf":
        seconds = 12 * n * float(np.sqrt(n)) * LIST_PAIR_SECONDS * width
    elif backend == "kd-tree":
        seconds, index = n * TREE_POINT_SECONDS, 16.0 * d
    else:
        seconds = float(n) * n * PAIR_SECONDS * max(d, 64) / 64
        index = 4.0 * d if backend == "faiss-flat" else 8.0 * d
    each = max(index + LIST_ENTRY_BYTES * k, WEIGHT_ENTRY_BYTES * k) + POINT_BYTES
    return Cost(seconds / cores, n * each + LIBRARY_BYTES)


def check_cost(n: int, k: int, cost: Cost) -> None:
    """Refuse a graph that needs more memory than is free."""
    check_room(
        cost.memory,
        f"joining {n:,} points to {k} neighbours each",
        "take fewer points, fewer neighbours, or a machine with more memory",
    )


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
