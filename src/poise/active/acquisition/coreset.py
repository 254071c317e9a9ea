"""k-centre greedy."""

from dataclasses import dataclass
from typing import ClassVar

from poise.active.acquisition.distances import RemembersNearest, distances_to_mean, unreached_first
from poise.active.acquisition.registry import acquisitions
from poise.active.snapshot import Snapshot
from poise.arrays import Floats


@acquisitions.register("coreset")
@dataclass(frozen=True)
class CoreSet(RemembersNearest):
    """Farthest from everything asked so far first: covers the data evenly, outliers included.

    k-centre greedy: ``min_{z constrained} d(x, z)``, with `d` the metric that the graph was built
    with on its features (Euclidean if that is not known). The largest distance left is at most
    twice the least that as many nodes, those given at the start among them, could leave. With
    nothing constrained, the node nearest to the mean of the features (of their directions, for
    "cosine") comes first.

    Without features, `d` is the length of the shortest path along the edges, whose lengths are the
    recorded distances or else ``1 / weight``. A component with nothing constrained counts as
    farther than everything else, the largest component first.

    scikit-activeml's `CoreSet` asks the same nodes, but for the first one, which it draws, and
    compares all points with all labelled ones at every call. Costs one distance per node and
    query, or one Dijkstra without features, and keeps n numbers.

    References
    ----------
    T. Gonzalez, "Clustering to minimize the maximum intercluster distance", 1985; O. Sener and
    S. Savarese, "Active learning for convolutional neural networks: a core-set approach", 2018.
    """

    use: ClassVar[str] = "to cover clean data evenly"

    def __call__(self, snapshot: Snapshot) -> Floats:
        graph = snapshot.graph
        if snapshot.constrained.size == 0 and graph.features is not None:
            return -distances_to_mean(graph)
        return unreached_first(snapshot.memory.distances, graph)
