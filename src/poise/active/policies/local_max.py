"""Local maxima: batches that spread over the graph."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from poise.active.policies.max import largest
from poise.active.policies.registry import policies
from poise.active.snapshot import Snapshot
from poise.checks import whole_number
from poise.graph import Graph
from poise.linalg.status import Floats, Ints


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

    Costs a search over the edges per node, where `max` costs a solve. For one node it is `max`.

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
        order = largest(values, snapshot, len(values), rng)
        k = min(k, len(order))
        if k <= 1:
            return order[:k]
        distance = hops_from(snapshot.graph, int(order[0]))
        chosen = [int(order[0])]
        reach = self.hops or max(1, int(distance[distance < FAR].max()) // 2)
        while len(chosen) < k:
            left = order[distance[order] > reach]
            if not len(left):
                reach -= 1  # at 0 only the chosen ones themselves are left out
                continue
            chosen.append(int(left[0]))
            distance = np.minimum(distance, hops_from(snapshot.graph, chosen[-1]))
        return np.array(chosen, dtype=np.int64)


#: More hops than any path has.
FAR = np.iinfo(np.int64).max


def hops_from(graph: Graph, node: int) -> Ints:
    """(n,) edges on the shortest path from a node; `FAR` where there is none."""
    distance = np.full(graph.n_nodes, FAR)
    distance[node] = 0
    W = graph.weights
    reached = np.zeros(graph.n_nodes)
    reached[node] = 1.0
    hops = 0
    while True:
        hops += 1
        new = (W @ reached > 0) & (distance == FAR)
        if not new.any():
            return distance
        distance[new] = hops
        reached[new] = 1.0
