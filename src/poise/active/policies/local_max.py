"""Local maxima: batches that spread over the graph."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from poise.active.policies.max import largest
from poise.active.policies.registry import policies
from poise.active.snapshot import Snapshot
from poise.arrays import Floats, Ints
from poise.checks import whole_number
from poise.graph import Graph


@policies.register("local-max")
@dataclass(frozen=True)
class LocalMax:
    """The largest of what is left around it, again and again: a whole batch from one set of values.

    The best node is chosen, everything within `hops` edges of it is left out, of the rest the best
    is chosen, and so on: each is the maximum of its surroundings among what was left. When nothing
    is left the surroundings shrink by one hop, down to the nodes themselves. Ties as for `max`.

    LocalMax of J. Chapman et al., "Novel batch active learning approach and its application to
    synthetic aperture radar datasets", 2023, takes the nodes that no neighbour exceeds; ``hops=1``
    is near to it. With `norm` that is too close: the largest values are all in the same unexplored
    region. How batches fare: `poise bench acquisitions batches`.

    Costs a search over edges per node, where `max` costs a solve. For one node it is `max`.

    Parameters
    ----------
    hops : int, optional
        By default half as far as the farthest node of the first one's component.
    """

    hops: int | None = None

    batch: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.hops is not None:
            whole_number(self.hops, "hops", 1)

    def __call__(
        self, values: Floats, snapshot: Snapshot, k: int, rng: np.random.Generator
    ) -> Ints:
        k = min(k, int((~np.isnan(values)).sum()))
        distance = np.full(len(values), UNREACHED_HOPS)
        chosen: list[int] = []
        reach = 0
        while len(chosen) < k:
            left = np.where(distance > reach, values, np.nan)
            best = largest(left, snapshot, 1, rng).tolist()
            if not best:
                reach -= 1  # at 0 only the chosen ones themselves are left out
                continue
            chosen += best
            approach(snapshot.graph, best[0], distance)
            if len(chosen) == 1:
                reach = self.hops or max(1, int(distance[distance < UNREACHED_HOPS].max()) // 2)
        return np.array(chosen, dtype=np.int64)


#: More hops than any path has.
UNREACHED_HOPS = np.iinfo(np.int64).max


def approach(graph: Graph, node: int, distance: Ints) -> None:
    """Lower `distance`, edges to the nearest of some nodes, for one node more, in place.

    `UNREACHED_HOPS` means that there is no path. Edges are not followed from where another node is
    as near.
    """
    distance[node] = hops = 0
    front = np.array([node])
    while len(front):
        hops += 1
        near = graph.weights[front].indices
        closer = np.zeros(len(distance), dtype=bool)
        closer[near] = distance[near] > hops
        distance[closer] = hops
        front = np.flatnonzero(closer)
