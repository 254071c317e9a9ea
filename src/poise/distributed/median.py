"""The median of numbers at several ranks, without gathering them."""

import numpy as np

from poise.arrays import Floats
from poise.distributed.ranks import Ranks


def median(ranks: Ranks, values: Floats) -> float | None:
    """Exact median of non-negative numbers at all ranks; None if there are none.

    Non-negative doubles are ordered like their bits read as integers, so bisection over the
    integers finds the middle ones with at most 63 counts.
    """
    ordered = np.sort(values).view(np.int64)
    count = int(ranks.total(np.array([len(ordered)]))[0])
    if not count:
        return None
    middle = [_at(ranks, ordered, n_smaller) for n_smaller in {(count - 1) // 2, count // 2}]
    return float(np.mean(np.array(middle, dtype=np.int64).view(np.float64)))


def _at(ranks: Ranks, ordered: "np.ndarray[tuple[int], np.dtype[np.int64]]", n_smaller: int) -> int:
    """The bits of the number with `n_smaller` smaller ones."""
    low, high = 0, int(np.float64(np.inf).view(np.int64))
    while low < high:
        half = (low + high) // 2
        below = int(np.searchsorted(ordered, half, side="right"))
        if int(ranks.total(np.array([below]))[0]) > n_smaller:
            high = half
        else:
            low = half + 1
    return low
