"""The largest values away from outliers."""

from dataclasses import dataclass

import numpy as np

from poise.active.policies.max import largest
from poise.active.policies.registry import policies
from poise.active.snapshot import Snapshot
from poise.arrays import Floats, Ints
from poise.checks import real_number
from poise.graph import Graph


@policies.register("kde")
@dataclass(frozen=True)
class KDE:
    """The largest values among all but the sparsest nodes: outliers are not asked.

    Density is ``rho(x) = 1 / |x - x_k|`` with x_k the k-th neighbour (paper, supplement, "Kernel
    density estimator"). Nodes with ``rho < T`` are left out, T the largest value that leaves out
    at most `percent` per cent of all nodes; nodes that tie at T stay. (The paper keeps ``rho >
    T``: one node fewer, or none at all where every density is the same.) Graphs without distances
    to a k-th neighbour, from `Graph.from_weights` or `epsilon_graph`, have the degree as density.

    When nothing else is left the outliers are asked after all, again by largest value. Costs
    O(n). A component of outliers alone is found last.

    Parameters
    ----------
    percent : float, 0 <= percent < 100
    """

    percent: float = 10.0

    def __post_init__(self) -> None:
        expected = "it must be a number from 0 to below 100, 10 is the paper's choice"
        percent = real_number(self.percent, "percent", lambda share: 0 <= share < 100, expected)
        object.__setattr__(self, "percent", percent)

    def __call__(
        self, values: Floats, snapshot: Snapshot, k: int, rng: np.random.Generator
    ) -> Ints:
        density = density_of(snapshot.graph)
        rank = int(self.percent / 100 * len(density))
        outlier = density < np.partition(density, rank)[rank]
        chosen = largest(np.where(outlier, np.nan, values), snapshot, k, rng)
        if len(chosen) < k:
            rest = np.where(outlier, values, np.nan)
            chosen = np.concatenate([chosen, largest(rest, snapshot, k - len(chosen), rng)])
        return chosen


def density_of(graph: Graph) -> Floats:
    """(n,) densities up to a factor: 1 / d_k, or the degree where no d_k is known."""
    if graph.neighbours is not None:
        distance = graph.neighbours.distances[:, -1]
    elif graph.spacing is not None and graph.construction is not None and graph.construction.k:
        distance = graph.spacing.scale
    else:
        return graph.degrees
    with np.errstate(divide="ignore"):  # more than k coinciding points: as dense as can be
        return np.asarray(1.0 / distance)
