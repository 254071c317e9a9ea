"""Local maxima: batches that spread over the graph."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from poise.active.policies.max import largest
from poise.active.policies.registry import policies
from poise.active.snapshot import Snapshot
from poise.graph import Graph
from poise.linalg.status import Bools, Floats, Ints


@policies.register("local-max")
@dataclass(frozen=True)
class LocalMax:
    """The largest local maxima: a whole batch from one set of values, spread over the graph.

    A candidate is a local maximum if no candidate joined to it has a larger value (J. Chapman et
    al., "Novel batch active learning approach and its application to synthetic aperture radar
    datasets", 2023). Best first, and never next to one chosen already, which matters where values
    tie; if these are too few, other nodes that are not next to a chosen one; then any. Ties as for
    `max`.

    Costs O(edges + n log n) for the whole batch, where `max` costs a solve per node. For one node
    it is `max`.
    """

    batch: ClassVar[bool] = True

    def __call__(
        self, values: Floats, snapshot: Snapshot, k: int, rng: np.random.Generator
    ) -> Ints:
        order = largest(values, snapshot, len(values), rng)
        peak = local_maxima(values, snapshot.graph)[order]
        W = snapshot.graph.weights
        beside = np.zeros(len(values), dtype=bool)
        chosen: dict[int, None] = {}
        for node in np.concatenate([order[peak], order[~peak]]).tolist():
            if len(chosen) == k:
                break
            if not beside[node]:
                chosen[node] = None
                beside[W.indices[W.indptr[node] : W.indptr[node + 1]]] = True
        rest = (node for node in order.tolist() if node not in chosen)
        chosen |= dict.fromkeys(node for node, _ in zip(rest, range(k - len(chosen)), strict=False))
        return np.array(list(chosen), dtype=np.int64)


def local_maxima(values: Floats, graph: Graph) -> Bools:
    """(n,) mask of the nodes whose value no neighbour exceeds; NaN is below everything."""
    W = graph.weights
    heights = np.where(np.isnan(values), -np.inf, values)
    largest_beside = np.full(len(values), -np.inf)
    joined = np.diff(W.indptr) > 0  # reduceat has no empty ranges
    if joined.any():
        largest_beside[joined] = np.maximum.reduceat(heights[W.indices], W.indptr[:-1][joined])
    return np.asarray(heights >= largest_beside)
