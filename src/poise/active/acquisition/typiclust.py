"""The most typical point of the largest cluster without a label."""

import warnings
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, ClassVar

import numpy as np
from threadpoolctl import ThreadpoolController

from poise.active.acquisition.distances import feature_space
from poise.active.acquisition.registry import acquisitions
from poise.active.acquisition.typicality import typicality_ranks
from poise.active.snapshot import Snapshot
from poise.arrays import Floats, Ints
from poise.checks import whole_number
from poise.graph import Graph
from poise.graph.features import Features
from poise.linalg.spectrum import smallest_eigenpairs
from poise.models.components import laplacian

#: Points that the centres are computed from; all points are then assigned to them.
SAMPLE_POINTS = 10_000
#: Most steps of k-means.
MAX_KMEANS_STEPS = 30
#: Dimensions in which k-means is done at most.
MAX_DIMENSIONS = 50
#: Eigenvectors that stand for features where there are none.
N_EIGENVECTORS = 20


@dataclass(frozen=True, eq=False)
class Clusters:
    """`count` clusters of the points, computed when first read."""

    points: Features
    count: int
    seed: int

    @cached_property
    def codes(self) -> Ints:
        """(n,) cluster of each point."""
        from sklearn.cluster import KMeans, kmeans_plusplus
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.metrics import pairwise_distances_argmin

        n = self.points.shape[0]
        points: Any = self.points
        sample = points
        if n > SAMPLE_POINTS:
            chosen = np.random.default_rng(self.seed).choice(n, SAMPLE_POINTS, replace=False)
            sample = points[np.sort(chosen)]
        # One thread: several add up in any order, and wait for each other on a busy machine.
        with thread_controller().limit(limits=1), warnings.catch_warnings():
            # Coinciding points make fewer clusters than asked for: the others stay empty.
            warnings.simplefilter("ignore", ConvergenceWarning)
            # One draw per centre, as k-means++ was published: sklearn's several cost more than
            # the steps of k-means that they save.
            first, _ = kmeans_plusplus(
                sample, self.count, random_state=self.seed % 2**32, n_local_trials=1
            )
            means = KMeans(self.count, init=first, n_init=1, max_iter=MAX_KMEANS_STEPS).fit(sample)
            nearest = means.labels_
            if sample is not points:
                nearest = pairwise_distances_argmin(points, means.cluster_centers_)
        return np.asarray(nearest, dtype=np.int64)


@cache
def thread_controller() -> ThreadpoolController:
    """Finds the libraries with threads once: that takes milliseconds."""
    return ThreadpoolController()


@dataclass(frozen=True, eq=False)
class Memory:
    """(n,) rank of each node by typicality in [0, 1), the clusters, the constrained nodes."""

    ranks: Floats
    clusters: Clusters
    n_constrained: int


@acquisitions.register("typiclust")
@dataclass(frozen=True)
class TypiClust:
    """The most typical point of the largest cluster without a label first.

    The points are clustered by k-means into one cluster more than there are constrained nodes, at
    most `max_clusters`. Clusters with the fewest constrained nodes come first, of these the
    largest, and in each the nodes of largest `typicality`; clusters of fewer than `min_size`
    nodes come last.

    The paper asks rounds of `batch` questions and clusters once for each; so does this with
    ``batch > 1``, a round ending where the number of constrained nodes is a multiple of `batch`.
    In the paper and in scikit-activeml's `TypiClust`, typicality looks for neighbours within the
    cluster; here it is that of the graph. scikit-activeml takes any node once every cluster has a
    label, and does not pass over small clusters.

    Without features the points are the rows of the eigenvectors of the 20 smallest eigenvalues of
    the normalised Laplacian, as in spectral clustering.

    Costs one k-means per round, of a sample of 10,000 points (of directions, for "cosine"), until
    `max_clusters` is reached; points of more than 50 dimensions are projected on their first 50
    principal components first.

    Parameters
    ----------
    max_clusters : int
    min_size : int
    batch : int

    References
    ----------
    G. Hacohen, A. Dekel and D. Weinshall, "Active learning on a budget: opposite strategies suit
    high and low budgets", 2022.
    """

    max_clusters: int = 500
    min_size: int = 5
    batch: int = 1

    uses_scores: ClassVar[bool] = False
    needs: ClassVar[str] = "features, or eigenpairs"
    cost: ClassVar[str] = "one k-means"
    use: ClassVar[str] = "for few questions, one per cluster"

    def __post_init__(self) -> None:
        whole_number(self.max_clusters, "max_clusters", 1)
        whole_number(self.min_size, "min_size", 1)
        whole_number(self.batch, "batch", 1)

    def start(self, graph: Graph, labelled: Ints, seed: int) -> Memory:
        points = spectral_coordinates(graph) if graph.features is None else feature_space(graph)[0]
        points = _few_dimensions(points)
        clusters = Clusters(points, self._count(labelled.size, graph.n_nodes), seed)
        return Memory(typicality_ranks(graph), clusters, labelled.size)

    def advance(self, memory: Memory, node: int) -> Memory:
        n_constrained = memory.n_constrained + 1
        clusters = memory.clusters
        count = self._count(n_constrained, memory.ranks.size)
        if count != clusters.count:
            clusters = replace(clusters, count=count)
        return replace(memory, clusters=clusters, n_constrained=n_constrained)

    def _count(self, n_constrained: int, n: int) -> int:
        rounds = n_constrained // self.batch + 1
        return min(rounds * self.batch, self.max_clusters, n)

    def __call__(self, snapshot: Snapshot) -> Floats:
        memory: Memory = snapshot.memory
        codes, count = memory.clusters.codes, memory.clusters.count
        sizes = np.bincount(codes, minlength=count)
        labelled = np.bincount(codes[snapshot.constrained], minlength=count)
        order = np.lexsort((-sizes, labelled, sizes < self.min_size))
        rank = np.empty(count)
        rank[order] = np.arange(count)
        return np.asarray(memory.ranks - rank[codes])


def _few_dimensions(points: Any) -> Any:
    """Points as they are, or their principal components where there are many dimensions."""
    if not isinstance(points, np.ndarray) or min(points.shape) <= MAX_DIMENSIONS:
        return points
    from sklearn.decomposition import PCA

    return PCA(MAX_DIMENSIONS, svd_solver="covariance_eigh").fit_transform(points)


def spectral_coordinates(graph: Graph) -> Floats:
    """(n, m) eigenvectors of the smallest eigenvalues of the normalised Laplacian."""
    m = min(N_EIGENVECTORS, graph.n_nodes)
    return smallest_eigenpairs(laplacian(graph), m, "normalised")[1]
