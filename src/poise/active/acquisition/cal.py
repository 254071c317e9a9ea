"""CAL: cautious active clustering with a localised kernel."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree

from poise.active.acquisition.eigenpairs import component_eigenpairs
from poise.active.acquisition.registry import acquisitions
from poise.active.snapshot import Snapshot
from poise.arrays import Floats
from poise.checks import decay, whole_number
from poise.errors import InputError
from poise.graph import Graph


class Level(NamedTuple):
    """The clusters at one degree of the kernel and one separation."""

    estimate: Floats  # (n,)
    cluster: npt.NDArray[np.int32]  # (n,), -1 in clusters too small
    sizes: npt.NDArray[np.int64]


@acquisitions.register("cal")
@dataclass(frozen=True)
class CAL:
    """One label for each cluster, well separated clusters first, finer ones later.

    With the eigenpairs ``lambda_l, phi_l`` of the normalised Laplacian and a smooth cut-off `h`
    (1 up to 1/2, 0 from 1) the localised kernel of degree `N` and the estimate of the support are

        Phi_N(x, y) = sum over l of h(sqrt(lambda_l) / N) phi_l(x) phi_l(y),
        F_N(x) = sum over y of Phi_N(x, y)^2 = sum over l of h(sqrt(lambda_l) / N)^2 phi_l(x)^2:

    large within clusters, small between them. The nodes with ``F_N >= theta`` fall into connected
    pieces of the graph. As theta sinks, a piece appears at a peak of `F_N` and ends at the
    threshold at which it meets one of a higher peak; it is a cluster of separation `eta` if that
    threshold is at most `eta` times its peak, and part of the other otherwise. Levels come by `N`
    (doubling), for each `N` by growing `eta`, such that the number of clusters doubles.

    At the first level with a cluster that holds no labelled or pending node, the node of largest
    `F_N` of each such cluster is asked, largest cluster first. When no level has one, nodes follow
    by the finest `F_N`.

    Parameters
    ----------
    m : int
        Eigenpairs, besides one for each further component (up to 100).
    bandwidth : float, optional
        Largest degree `N`; by default ``sqrt(lambda_m)``, all that `m` eigenpairs resolve.
    widths : int
        Number of degrees, each half the next.
    smallest : int
        Smaller pieces are not clusters.

    Notes
    -----
    The paper's kernel is made of Hermite polynomials of the coordinates: n^2 evaluations, and for
    few dimensions. Eigenvectors of the graph give a localised kernel that follows the data in any
    dimension, and turn the sum over `y` into one over `l`. The paper has one threshold, a fraction
    of the maximum of `F_N`, and joins what remains within a radius; clusters of different density
    need different thresholds, so all are considered, edges replace the radius, and its levels
    become those of `eta`. The paper extends labels by its kernel; here the model does that.

    Costs the eigenpairs and two spanning trees once, O(n) for each level per query.

    References
    ----------
    A. Cloninger and H. N. Mhaskar, "Cautious active clustering", Appl. Comput. Harmon. Anal. 54,
    2021.
    """

    uses_scores: ClassVar[bool] = False
    needs: ClassVar[str] = "the graph alone"
    cost: ClassVar[str] = "eigenpairs once, little per query"
    use: ClassVar[str] = "a first label for every cluster"

    m: int = 50
    bandwidth: float | None = None
    widths: int = 2
    smallest: int = 10

    def __post_init__(self) -> None:
        whole_number(self.m, "m", 2)
        whole_number(self.widths, "widths", 1)
        whole_number(self.smallest, "smallest", 1)
        if self.bandwidth is not None and decay(self.bandwidth, "bandwidth") == 0:
            raise InputError("bandwidth is 0: give a positive degree, or None for the default")

    def start(self, graph: Graph, labelled: npt.NDArray[np.int64], seed: int) -> tuple[Level, ...]:
        estimates = self.estimates(graph)
        return tuple(level for F in estimates for level in levels(graph, F, self.smallest))

    def advance(self, memory: tuple[Level, ...], node: int) -> tuple[Level, ...]:
        return memory

    def __call__(self, snapshot: Snapshot) -> Floats:
        memory: tuple[Level, ...] = snapshot.memory
        values = memory[-1].estimate / (memory[-1].estimate.max() or 1.0)
        for level in memory:
            asked = level.cluster[snapshot.constrained]
            is_open = np.ones(len(level.sizes), dtype=bool)
            is_open[asked[asked >= 0]] = False
            inside = np.flatnonzero((level.cluster >= 0) & snapshot.candidates)
            inside = inside[is_open[level.cluster[inside]]]
            if len(inside):
                cluster = level.cluster[inside]
                order = np.lexsort((level.estimate[inside], cluster))
                last = np.append(np.diff(cluster[order]) > 0, True)
                best = inside[order[last]]
                values[best] = 2.0 + level.sizes[level.cluster[best]] / len(values)
                break
        return values

    def estimates(self, graph: Graph) -> list[Floats]:
        """(n,) estimates ``F_N``, coarsest first."""
        eigenvalues, phi = component_eigenpairs(graph, self.m, "normalised")
        N = self.bandwidth or float(np.sqrt(eigenvalues[-1])) or 1.0
        degrees = [N / 2**j for j in reversed(range(self.widths))]
        return [phi**2 @ cut_off(np.sqrt(eigenvalues) / degree) ** 2 for degree in degrees]


def cut_off(t: Floats) -> Floats:
    """Smooth: 1 up to 1/2, 0 from 1 on."""
    s = np.clip(2.0 * t - 1.0, 0.0, 1.0)
    with np.errstate(divide="ignore"):
        down, up = np.exp(-1.0 / (1.0 - s)), np.exp(-1.0 / s)
    return np.asarray(down / (down + up))


def levels(graph: Graph, F: Floats, smallest: int) -> list[Level]:
    """Nested clusters of at least `smallest` nodes: 1, 2, 4, ... of them, the most separate."""
    order = np.argsort(-F, kind="stable")
    parent, saddle, sizes = merges(graph, order)
    peak, n = F[order], len(F)
    bar = np.where(saddle < n, peak[np.minimum(saddle, n - 1)], 0.0)
    eta = np.divide(bar, peak, out=np.ones(n), where=peak > 0)
    modes = np.flatnonzero((sizes >= smallest) & (eta < 1.0))
    modes = modes[np.argsort(eta[modes], kind="stable")]
    roots = np.flatnonzero(saddle == n)
    nested = []
    count = 1
    while True:
        kept = np.zeros(n, dtype=bool)
        kept[modes[:count]] = True
        holder = np.where(kept, np.arange(n), parent)
        holder[roots] = roots
        while (holder[holder] != holder).any():
            holder = holder[holder]
        number = np.where(kept, np.cumsum(kept) - 1, -1)
        cluster = np.empty(n, dtype=np.int32)
        cluster[order] = number[holder]
        nested.append(Level(F, cluster, np.bincount(cluster[cluster >= 0], minlength=kept.sum())))
        if count >= len(modes):
            return nested
        count *= 2


def merges(
    graph: Graph, order: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """How pieces of the graph meet when its nodes appear in `order`; as positions in that order.

    Returns
    -------
    parent : (n,) peak of the piece that swallowed the one with this peak; itself at the end
    saddle : (n,) position of the node at which they met; n if never
    sizes : (n,) nodes of the piece at that point
    """
    n, W = graph.n_nodes, graph.weights
    position = np.empty(n, dtype=np.int64)
    position[order] = np.arange(n)
    ends = np.repeat(position, np.diff(W.indptr)), position[W.indices]
    # An edge appears with the later of its ends. Only the edges of a spanning tree join anything.
    appears = np.maximum(*ends) + 1.0
    tree = minimum_spanning_tree(sparse.csr_array((appears, W.indices, W.indptr), W.shape)).tocoo()
    in_time = np.argsort(tree.data, kind="stable")
    top = list(range(n))
    parent, saddle, sizes = list(range(n)), [n] * n, [1] * n
    for x, y in zip(position[tree.row[in_time]], position[tree.col[in_time]], strict=True):
        pair = []
        for node in (int(x), int(y)):
            while top[node] != node:
                top[node] = top[top[node]]
                node = top[node]
            pair.append(node)
        higher, lower = min(pair), max(pair)
        top[lower] = parent[lower] = higher
        saddle[lower] = max(int(x), int(y))
        sizes[higher] += sizes[lower]
    return np.array(parent), np.array(saddle), np.array(sizes)
