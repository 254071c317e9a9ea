"""Hierarchical sampling: random points of the clusters whose labels are least certain."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from poise.active.acquisition.feature_points import Space, node_points, principal_components
from poise.active.acquisition.registry import acquisitions
from poise.active.snapshot import Snapshot
from poise.arrays import Floats, Ints
from poise.checks import whole_number
from poise.graph import Graph

#: Dimensions in which clusters are made at most.
MAX_DIMENSIONS = 50
#: Nodes assigned to leaves at a time.
BLOCK_NODES = 2_000
#: A label is admissible if its error is surely at most this multiple of that of any other.
ADMISSIBLE_ERROR_RATIO = 2.0
#: Below every logarithm of a probability, chance included.
NOT_DRAWN_VALUE = -1e4


@dataclass(frozen=True, eq=False)
class Tree:
    """A binary tree of clusters: leaves 0..m-1, then the merges, the root last.

    Attributes
    ----------
    leaf : (n,) leaf of each graph node
    children : (m - 1, 2) what merge i, the cluster m + i, is made of
    sizes : (2m - 1,) graph nodes in each cluster
    parents : (2m - 1,) -1 for the root
    """

    leaf: Ints
    children: Ints
    sizes: Ints
    parents: Ints

    @classmethod
    def of(cls, leaf: Ints, children: Ints) -> "Tree":
        m = len(children) + 1
        sizes = np.zeros(2 * m - 1, dtype=np.int64)
        sizes[:m] = np.bincount(leaf, minlength=m)
        parents = np.full(2 * m - 1, -1, dtype=np.int64)
        for merge, pair in enumerate(children, start=m):
            sizes[merge] = sizes[pair].sum()
            parents[pair] = merge
        return cls(leaf, children, sizes, parents)


@dataclass(frozen=True, eq=False)
class Pruning:
    """Clusters that partition the nodes, and bounds on how wrong their labels are.

    Attributes
    ----------
    cluster : (n,) cluster of each node, numbered as in the tree
    error : (2m - 1,) upper bound on the share of nodes unlike the cluster's best label
    """

    cluster: Ints
    error: Floats


@acquisitions.register("hierarchical")
@dataclass(frozen=True)
class Hierarchical:
    """A random point of a random cluster, large clusters of uncertain label more often.

    The nodes are the leaves of a tree of clusters. In a cluster v with m_v labels, a share p of
    which has class c, the true share lies in ``p +- (1 / m_v + sqrt(p (1 - p) / m_v))``; c is
    admissible if its error is surely less than twice that of any other class. Of all prunings of
    the tree the one with the smallest error is taken, where a cluster with an admissible class
    counts the share of its labels of other classes, and one without counts as all wrong. Then a
    cluster is drawn with probability proportional to its size times the upper bound on its error,
    and of its candidates one with equal chances. The value is the logarithm of the probability
    plus an independent Gumbel variable, whose largest is such a draw.

    The paper refines one pruning from question to question; here the best one is found anew, so
    that it depends on nothing but the labels. Labels given at the start count as if they had been
    drawn.

    The tree is Ward's, of a random `sample` of the nodes (average linkage, if the metric is not
    Euclidean); the others join the nearest of the sample. Points of more than 50 dimensions are
    projected on their first 50 principal components; without features, they are the rows of the
    eigenvectors of the 20 smallest eigenvalues. Costs the tree once and milliseconds per query.

    Parameters
    ----------
    sample : int

    References
    ----------
    S. Dasgupta and D. Hsu, "Hierarchical sampling for active learning", 2008.
    """

    sample: int = 2_000

    uses_scores: ClassVar[bool] = False
    needs: ClassVar[str] = "features, or eigenpairs"
    cost: ClassVar[str] = "one tree of clusters, then milliseconds"
    use: ClassVar[str] = "for clusters that match the classes, at some scale"

    def __post_init__(self) -> None:
        whole_number(self.sample, "sample", 2)

    def start(self, graph: Graph, labelled: Ints, seed: int) -> Tree:
        return cluster_tree(graph, self.sample, seed)

    def advance(self, memory: Tree, node: int) -> Tree:
        return memory

    def __call__(self, snapshot: Snapshot) -> Floats:
        tree: Tree = snapshot.memory
        labels = snapshot.labels
        counts = label_counts(tree, labels.nodes, labels.codes, max(1, len(labels.classes)))
        pruning = best_pruning(tree, counts)
        weight = tree.sizes * pruning.error
        open_nodes = np.bincount(pruning.cluster[snapshot.candidates], minlength=len(tree.sizes))
        chance = weight[pruning.cluster] / np.maximum(open_nodes[pruning.cluster], 1)
        logarithms = np.full(len(chance), NOT_DRAWN_VALUE)
        np.log(chance, out=logarithms, where=chance > 0.0)
        return np.asarray(logarithms + snapshot.rng.gumbel(size=len(chance)))


def cluster_tree(graph: Graph, size: int, seed: int) -> Tree:
    """Ward's tree of a sample; every other node belongs to the leaf of the nearest sampled one."""
    points, metric = node_points(graph)
    if metric == "euclidean":
        points = principal_components(points, MAX_DIMENSIONS)
    space = Space.of_points(points, metric)
    n = graph.n_nodes
    nodes = np.arange(n)
    if size < n:
        nodes = np.sort(np.random.default_rng(seed).choice(n, size, replace=False))
    rows = space.rows(nodes)
    distances = np.sqrt(space.squares(rows, rows).astype(np.float64))
    distances = (distances + distances.T) / 2.0  # a product need not be symmetric to the last bit
    np.fill_diagonal(distances, 0.0)
    merges = np.empty((0, 4))  # of a single node
    if len(nodes) > 1:
        merges = linkage(squareform(distances), "ward" if metric == "euclidean" else "average")
    leaf = np.empty(n, dtype=np.int64)
    for first in range(0, n, BLOCK_NODES):
        some = np.arange(first, min(first + BLOCK_NODES, n))
        leaf[some] = np.argmin(space.squares(space.rows(some), rows), axis=1)
    leaf[nodes] = np.arange(len(nodes))  # also where points coincide
    return Tree.of(leaf, merges[:, :2].astype(np.int64))


def label_counts(tree: Tree, nodes: Ints, codes: Ints, n_classes: int) -> Floats:
    """(2m - 1, C) labels of each class in each cluster."""
    counts = np.zeros((len(tree.sizes), n_classes))
    at, codes = tree.leaf[nodes], codes
    while len(at):  # all labels climb the tree together
        np.add.at(counts, (at, codes), 1.0)
        at = tree.parents[at]
        at, codes = at[at >= 0], codes[at >= 0]
    return counts


def best_pruning(tree: Tree, counts: Floats) -> Pruning:
    """The pruning of smallest error, whole clusters where there is a tie."""
    own, error = cluster_errors(counts)
    m = len(tree.children) + 1
    sizes = tree.sizes
    best: list[float] = (own * sizes).tolist()  # nodes thought to be wrong, from the leaves up
    split = np.zeros(len(sizes), dtype=bool)
    for merge, (a, b) in enumerate(tree.children.tolist(), start=m):
        below = best[a] + best[b]
        # Sums of shares are rounded: a split must pay.
        if below < best[merge] * (1.0 - 1e-12):
            best[merge], split[merge] = below, True
    cluster: Any = np.arange(len(sizes))
    for child in range(len(sizes) - 2, -1, -1):  # from the root down
        parent = tree.parents[child]
        if not split[parent] or cluster[parent] != parent:
            cluster[child] = cluster[parent]
    return Pruning(cluster[tree.leaf], error)


def cluster_errors(counts: Floats) -> tuple[Floats, Floats]:
    """The error of each cluster with its best admissible class, 1 without; and its upper bound."""
    total = counts.sum(axis=1, keepdims=True)
    seen = np.maximum(total, 1.0)
    p = counts / seen
    width = np.where(total > 0, 1.0 / seen + np.sqrt(p * (1.0 - p) / seen), 1.0)
    lower, upper = np.maximum(p - width, 0.0), np.minimum(p + width, 1.0)
    own = np.argmax(p, axis=1)
    rows = np.arange(len(p))
    others = upper.copy()
    others[rows, own] = 0.0  # an unknown class: nothing is known against the one seen
    admissible = 1.0 - lower[rows, own] < ADMISSIBLE_ERROR_RATIO * (1.0 - others.max(axis=1))
    error = np.where(admissible, 1.0 - p[rows, own], 1.0)
    return error, 1.0 - lower[rows, own]
