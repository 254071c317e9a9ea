"""Several nodes from one set of values, far from each other, as the policy "local-max" chooses.

`poise.active.policies.local_max` follows edges; here, products with the weights do.
"""

from collections.abc import Sequence

import numpy as np

from poise.active.policies.local_max import UNREACHED_HOPS
from poise.arrays import Bools, Floats, Ints
from poise.distributed.choice import choose
from poise.distributed.partition import Partition


def choose_apart(
    partition: Partition, values: Floats, candidates: Bools, k: int, seed: Sequence[int]
) -> list[int]:
    """The best node, then the best of those far from it, and so on; fewer if fewer are left.

    Parameters
    ----------
    values : (rows,) larger = ask first
    candidates : (rows,) mask of the rows that may be asked
    seed : for ties, as for `choose`
    """
    ranks = partition.ranks
    left = candidates & ~np.isnan(values)
    k = min(k, int(ranks.total(np.array([left.sum()]))[0]))
    distance = np.full(partition.n_rows, UNREACHED_HOPS)
    chosen: list[int] = []
    reach = 0
    while len(chosen) < k:
        far = left & (distance > reach)
        if not ranks.total(np.array([far.sum()]))[0]:
            reach -= 1  # at 0 only the chosen ones themselves are left out
            continue
        chosen.append(choose(partition, values, far, [*seed, len(chosen)]))
        if len(chosen) == k:
            break
        approach(partition, chosen[-1], distance)
        if len(chosen) == 1:
            own = distance[distance < UNREACHED_HOPS].max(initial=0, keepdims=True)
            reach = max(1, int(ranks.largest(own)[0]) // 2)
    return chosen


def approach(partition: Partition, node: int, distance: Ints) -> None:
    """Lower (rows,) `distance`, edges to the nearest of some nodes, for one node more, in place.

    Every step is a product with the weights; edges are not followed from where another node is as
    near.
    """
    front = np.zeros(partition.n_rows, dtype=bool)
    front[partition.rows_of([node])[1]] = True
    distance[front] = hops = 0
    while partition.ranks.total(np.array([front.sum()]))[0]:
        hops += 1
        front = (partition.product(front.astype(np.float64)) > 0) & (distance > hops)
        distance[front] = hops
