"""The graph of a project whose items have changed: what stayed is not searched for again."""

from collections import defaultdict, deque

import numpy as np
import numpy.typing as npt

from poise import Graph
from poise.arrays import Ints

#: Least share of the old items that must still exist; with fewer, a new search is as quick.
LEAST_SHARE_STAYED = 0.5

Features = npt.NDArray[np.float32]


def grown(old: Graph, features: Features) -> Graph | None:
    """A graph of these features from a graph of most of them in any order; None if it does not pay.

    Items are recognised by their rows: equal rows have equal neighbours, whatever their items are
    called. So it does not matter which were added, removed or renamed.

    Parameters
    ----------
    old : with its features and its lists of neighbours
    features : (n, d) of all items as they are now
    """
    before = old.features
    k = old.construction.k if old.construction is not None else None
    if not isinstance(before, np.ndarray) or old.neighbours is None or k is None:
        return None
    if before.shape[1] != features.shape[1] or old.neighbours.indices.shape[1] < k:
        return None  # other features, or too few items for k neighbours when it was made
    rows = _rows(before, features)
    stayed = rows[rows >= 0]
    if len(stayed) < LEAST_SHARE_STAYED * len(before) or len(stayed) <= k:
        return None
    graph = old
    gone = np.setdiff1d(np.arange(len(before)), stayed)
    if gone.size:
        graph = graph.without(gone)
    new = np.flatnonzero(rows < 0)
    if new.size:
        graph = graph.extend(features[new])
    # Now the old items come first, in their old order, then the new ones.
    order = np.empty(len(features), dtype=np.int64)
    order[rows >= 0] = np.searchsorted(np.sort(stayed), stayed)
    order[new] = len(stayed) + np.arange(new.size)
    return graph if np.array_equal(order, np.arange(len(order))) else graph.reordered(order)


def _rows(before: Features, now: Features) -> Ints:
    """(n,) the row before that equals each row now, each used once; -1 where there is none."""
    waiting: defaultdict[bytes, deque[int]] = defaultdict(deque)
    for i, row in enumerate(np.ascontiguousarray(before)):
        waiting[row.tobytes()].append(i)
    rows = np.full(len(now), -1, dtype=np.int64)
    for i, row in enumerate(np.ascontiguousarray(now)):
        equal = waiting.get(row.tobytes())
        if equal:
            rows[i] = equal.popleft()
    return rows
