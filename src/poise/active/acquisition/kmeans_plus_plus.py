"""D^2 sampling: the seeding of k-means++."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from poise.active.acquisition.distances import MIN_EDGE_LENGTH, RemembersNearest
from poise.active.acquisition.registry import acquisitions
from poise.active.snapshot import Snapshot
from poise.arrays import Floats

#: Beyond every logarithm of a squared distance, chance included.
UNREACHED_VALUE = 1e4


@acquisitions.register("kmeans++")
@dataclass(frozen=True)
class KMeansPlusPlus(RemembersNearest):
    """At random, far ones more often: seeds like k-means++, spread but hardly on outliers.

    Draws a node with probability proportional to ``D(x)^2``, `D` being the distance to the nearest
    constrained node as `coreset` measures it; the first node is uniform. The value is
    ``2 log D(x) + G(x)`` with independent Gumbel variables G, whose largest is such a draw, and
    whose k largest are draws without replacement.

    Without features, components with nothing constrained are infinitely far: the largest first.

    k-means++ itself is Euclidean; here the metric is the graph's. scikit-activeml has the draw only
    inside `Badge`, on gradients. Costs one distance per node and query; keeps n numbers.

    References
    ----------
    D. Arthur and S. Vassilvitskii, "k-means++: the advantages of careful seeding", 2007.
    """

    use: ClassVar[str] = "for the first questions, spread by chance"

    def __call__(self, snapshot: Snapshot) -> Floats:
        graph = snapshot.graph
        chance = snapshot.rng.gumbel(size=graph.n_nodes)
        if snapshot.constrained.size == 0 and graph.features is not None:
            return chance
        distances = snapshot.memory.distances
        size = graph.component_sizes[graph.components]
        # A coinciding point has probability 0: log(MIN_EDGE_LENGTH) is as good as -infinity.
        reached = np.where(np.isfinite(distances), distances, 1.0)
        values = 2 * np.log(np.maximum(reached, MIN_EDGE_LENGTH)) + chance
        return np.where(np.isfinite(distances), values, UNREACHED_VALUE + size)
