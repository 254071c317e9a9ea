"""Greedy coverage by balls."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy import sparse

from poise.active.acquisition.distances import edge_distances
from poise.active.acquisition.registry import acquisitions
from poise.active.snapshot import Snapshot
from poise.arrays import Bools, Floats, Ints
from poise.checks import real_number
from poise.errors import GraphError
from poise.graph import Graph


@dataclass(frozen=True, eq=False)
class Cover:
    """(n, n) balls, a node in its own among them, and (n,) mask of what they cover so far."""

    balls: sparse.csr_array
    covered: Bools

    def and_by(self, node: int) -> "Cover":
        covered = self.covered.copy()
        start, end = self.balls.indptr[node], self.balls.indptr[node + 1]
        covered[self.balls.indices[start:end]] = True
        return replace(self, covered=covered)


@acquisitions.register("probcover")
@dataclass(frozen=True)
class ProbCover:
    r"""The ball that covers most points not covered yet first: dense regions, one after the other.

    ``|B(x) \ union of B(z), z constrained|``, with B(x) the node and its neighbours in the graph
    at distance at most `radius`. Greedy, so that the balls of the nodes asked cover at least
    ``1 - 1/e`` of what as many balls can.

    By default every edge counts: on a k-NN graph, balls that adapt to the density. With a `radius`
    larger than d_k(x), the ball still holds only the nodes that x lists or that list x; on an
    epsilon graph of that radius balls are complete. The paper has one radius, chosen by the purity
    of k-means clusters, for which it needs the number of classes.

    scikit-activeml's `ProbCover` has the same values for complete balls, out of a dense (n, n)
    array. Costs one product with the edges per query, and keeps a copy of the edges.

    Parameters
    ----------
    radius : float, optional
        In the units of the metric.

    References
    ----------
    O. Yehuda, A. Dekel, G. Hacohen and D. Weinshall, "Active learning through a covering lens",
    2022.
    """

    radius: float | None = None

    uses_scores: ClassVar[bool] = False
    needs: ClassVar[str] = "neighbours"
    cost: ClassVar[str] = "one product with the edges"
    use: ClassVar[str] = "for few questions, on dense regions"

    def __post_init__(self) -> None:
        if self.radius is not None:
            real_number(
                self.radius,
                "radius",
                lambda radius: 0 < radius < np.inf,
                "expected a positive, finite number, or None for all edges",
            )

    def start(self, graph: Graph, labelled: Ints, seed: int) -> Cover:
        cover = Cover(balls(graph, self.radius), np.zeros(graph.n_nodes, dtype=bool))
        for node in labelled:
            cover = cover.and_by(int(node))
        return cover

    def advance(self, memory: Cover, node: int) -> Cover:
        return memory.and_by(node)

    def __call__(self, snapshot: Snapshot) -> Floats:
        cover: Cover = snapshot.memory
        return np.asarray(cover.balls @ (~cover.covered).astype(np.float64))


def balls(graph: Graph, radius: float | None) -> sparse.csr_array:
    """(n, n) ones where an edge is no longer than `radius`, and on the diagonal."""
    edges = graph.weights
    inside = np.ones(edges.nnz, dtype=bool)
    if radius is not None:
        lengths = edge_distances(graph)
        if lengths is None:
            raise GraphError(
                "the graph does not know the distances between its nodes: give features to "
                "Graph.from_weights, build it with keep_features=True, or leave radius=None"
            )
        edges, inside = lengths, lengths.data <= radius
    n = graph.n_nodes
    rows = np.repeat(np.arange(n), np.diff(edges.indptr))[inside]
    own = np.arange(n)
    ones = np.ones(rows.size + n, dtype=np.float32)
    coordinates = (np.concatenate([rows, own]), np.concatenate([edges.indices[inside], own]))
    return sparse.csr_array((ones, coordinates), shape=(n, n))
