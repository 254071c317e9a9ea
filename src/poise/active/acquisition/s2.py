"""S2: bisect the shortest path between two classes."""

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from poise.active.acquisition.registry import acquisitions
from poise.active.snapshot import Snapshot
from poise.arrays import Floats, Ints
from poise.errors import InputError

Length = Literal["hops", "resistance"]


@acquisitions.register("s2")
@dataclass(frozen=True)
class S2:
    """Middle of the shortest path between two classes first: bisects, finds the cut edge by edge.

    Edges between nodes of different labels are cut. Among all paths that still join two nodes of
    different labels the shortest is bisected; where there is none, the order is random.

    The shortest of them is found in one pass: with ``d(x)`` the distance to the nearest label, it
    is the edge (x, y) of smallest ``d(x) + length + d(y)`` between nodes whose nearest labels are
    of different classes, prolonged to those labels. After the middle come the other nodes of that
    path, outwards; then nodes at which longer such paths cross over, shortest first; then the
    rest, in random order.

    Parameters
    ----------
    length : "hops" or "resistance"
        Every edge 1, as in the paper, or 1/w.

    Notes
    -----
    Nodes that cannot be asked (pending, skipped, excluded) are left out of the paths, so that a
    batch bisects different ones. Costs one Dijkstra search per query, O(edges log n).

    References
    ----------
    G. Dasarathy, R. Nowak and X. Zhu, "S2: an efficient graph based active learning algorithm with
    application to nonparametric classification", COLT 2015; with several classes, any two differ.
    """

    uses_scores: ClassVar[bool] = False
    needs: ClassVar[str] = "labels of two classes"
    cost: ClassVar[str] = "one shortest-path search"
    use: ClassVar[str] = "to find the edges between classes when labels are free of noise"

    length: Length = "hops"

    def __post_init__(self) -> None:
        if self.length not in get_args(Length):
            known = ", ".join(get_args(Length))
            raise InputError(f"length is {self.length!r}: there are {known}")

    def __call__(self, snapshot: Snapshot) -> Floats:
        W, nodes = snapshot.graph.weights, snapshot.labels.nodes
        n = W.shape[0]
        chance = snapshot.rng.random(n)
        if len(np.unique(snapshot.labels.codes)) < 2:
            return chance
        known = np.full(n, -1)  # class of labelled nodes
        known[nodes] = snapshot.labels.codes
        # Weights may be as small as the smallest float; a length must stay finite to be one.
        lengths = np.ones(W.nnz) if self.length == "hops" else 1.0 / np.maximum(W.data, 1e-150)
        usable = snapshot.candidates | (known >= 0)
        if not usable.all():
            lengths[~(np.repeat(usable, np.diff(W.indptr)) & usable[W.indices])] = np.inf
        for node in nodes:  # edges that are cut
            row = slice(W.indptr[node], W.indptr[node + 1])
            other = known[W.indices[row]]
            lengths[row][(other >= 0) & (other != known[node])] = np.inf
        paths = sparse.csr_array((lengths, W.indices, W.indptr), shape=W.shape)
        d, before, origin = dijkstra(paths, indices=nodes, min_only=True, return_predecessors=True)
        region = np.where(origin >= 0, known[np.maximum(origin, 0)], -1)
        near, far = np.repeat(region, np.diff(W.indptr)), region[W.indices]
        edge = np.flatnonzero((near != far) & (near >= 0) & (far >= 0) & np.isfinite(lengths))
        x = np.searchsorted(W.indptr, edge, side="right") - 1
        y = W.indices[edge]
        totals = d[x] + lengths[edge] + d[y]
        if len(totals) == 0:
            return chance
        shortest = int(np.argmin(totals))
        through = np.full(n, np.inf)
        np.minimum.at(through, x, totals)
        reached = np.isfinite(through)
        # Ratios keep the three groups apart whatever the weights are.
        values = chance - 2.0
        values[reached] = -1.0 + 1.0 / (2.0 + through[reached] / totals[shortest])
        path, along = _path(
            int(x[shortest]), int(y[shortest]), totals[shortest], d, before.astype(np.int64)
        )
        offset = np.abs(along / totals[shortest] - 0.5)
        values[path] = 1.0 - offset
        return values


def _path(x: int, y: int, total: float, d: Floats, before: Ints) -> tuple[Ints, Floats]:
    """The path over the edge (x, y) from label to label: its nodes, and how far along each is."""
    first, second = _to_label(x, before), _to_label(y, before)
    return (
        np.array(first[::-1] + second, dtype=np.int64),
        np.array([d[i] for i in first[::-1]] + [total - d[i] for i in second]),
    )


def _to_label(node: int, before: Ints) -> list[int]:
    nodes = [node]
    while before[nodes[-1]] >= 0:
        nodes.append(int(before[nodes[-1]]))
    return nodes
