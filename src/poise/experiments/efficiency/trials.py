"""Trials: a random part of a pool with its graph, the same for every method."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from poise import Graph, knn_graph
from poise.arrays import Ints
from poise.experiments.efficiency.sets import POOLS, Pool

#: Share of the pool in a trial, and maximal number of points, so that slow rivals can run too.
SHARE, POINTS = 0.8, 20_000
#: Neighbours per point, as in the app (docs/decisions/graph.md).
NEIGHBOURS = 10
#: Numbers of labels at which accuracy is measured.
BUDGETS = (5, 10, 15, 20, 30, 50, 75, 100)


@dataclass(frozen=True, eq=False)
class Trial:
    """One random part of a pool.

    Attributes
    ----------
    pool, number : the pool, and the number of the trial
    graph : its graph, with features
    classes : grouping -> (n,) class codes, from 0
    """

    pool: Pool
    number: int
    graph: Graph
    classes: dict[int, Ints]

    @property
    def X(self) -> npt.NDArray[np.float32]:
        features = self.graph.features
        assert isinstance(features, np.ndarray)
        return features

    @property
    def n_points(self) -> int:
        return self.graph.n_nodes


@lru_cache(maxsize=1)
def make_trial(name: str, number: int) -> Trial:
    """Trial `number` of the pool `name`; the most recent one stays in memory."""
    pool = POOLS[name]
    data = pool.load()
    rng = np.random.default_rng([number, 7])
    size = min(int(SHARE * data.n_points), POINTS)
    chosen = np.sort(rng.choice(data.n_points, size, replace=False))
    X = np.ascontiguousarray(data.X[chosen], dtype=np.float32)
    classes = {}
    for grouping in pool.groupings:
        groups = data.clusters[chosen] % grouping if grouping else data.classes[chosen]
        if pool.groupings[0] == 0 and not grouping and len(pool.groupings) > 1:
            groups = data.clusters[chosen]  # a data set whose own classes are groups
        classes[grouping] = np.unique(groups, return_inverse=True)[1].astype(np.int64)
    return Trial(pool, number, knn_graph(X, NEIGHBOURS, metric=pool.metric), classes)


def area(accuracy: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Mean height of accuracy curves over `BUDGETS` by the trapezoidal rule; (..., 8) -> (...)."""
    curves = np.asarray(accuracy, dtype=np.float64)
    return np.asarray(np.trapezoid(curves, BUDGETS, axis=-1) / (BUDGETS[-1] - BUDGETS[0]))
