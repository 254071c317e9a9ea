"""What a graph will cost, before it is begun: seconds and memory."""

from dataclasses import dataclass

import numpy as np

from poise.machine import check_room, gigabytes

#: Seconds of one core, measured: for a pair of points in 64 dimensions, compared all with all or in
#: lists; for a point in a k-d tree; for a point in small cells.
ALL_PAIRS, IN_LISTS, IN_TREE, IN_CELLS = 5.5e-9, 8e-9, 1e-4, 5e-5
#: Bytes of a number in an index (lists grow by more than they need), of an entry of the list of a
#: point (index and distance), and of an entry while weights are made symmetric and checked.
IN_INDEX, LISTED, WEIGHED = 6.5, 12, 80
#: Bytes of a point besides, and of what is loaded for the search.
BESIDES, LOADED = 100, 5e7


@dataclass(frozen=True)
class Cost:
    """An estimate.

    Attributes
    ----------
    seconds : on as many cores as were asked about
    memory : bytes at most, the points themselves not counted
    """

    seconds: float
    memory: float

    def __str__(self) -> str:
        return f"about {_duration(self.seconds)} and {gigabytes(self.memory)} of memory"


def knn_cost(n: int, d: int, k: int, backend: str, cores: int = 1) -> Cost:
    """What joining n points in d dimensions to k neighbours each costs, roughly.

    Parameters
    ----------
    backend : name of the backend, see `choose_backend`
    """
    width = max(d, 32) / 64
    index = IN_INDEX * d
    if backend == "faiss-cells":
        seconds = n * IN_CELLS * width
    elif backend == "faiss-ivf":
        seconds = 12 * n * float(np.sqrt(n)) * IN_LISTS * width
    elif backend == "kd-tree":
        seconds, index = n * IN_TREE, 16.0 * d
    else:
        seconds = float(n) * n * ALL_PAIRS * max(d, 64) / 64
        index = 4.0 * d if backend == "faiss-flat" else 8.0 * d
    each = max(index + LISTED * k, WEIGHED * k) + BESIDES
    return Cost(seconds / cores, n * each + LOADED)


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
