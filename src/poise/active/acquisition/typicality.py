"""Most typical first."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy import sparse

from poise.active.acquisition.distances import (
    MIN_EDGE_LENGTH,
    ball_radius,
    edge_distances,
    edge_lengths,
    path_lengths,
)
from poise.active.acquisition.registry import acquisitions
from poise.active.snapshot import Snapshot
from poise.arrays import Floats, Ints
from poise.checks import real_number
from poise.graph import Graph

SHARE_EXPECTED = "expected a share of the nodes, above 0 and at most 1, e.g. 0.1"


@dataclass(frozen=True, eq=False)
class Surroundings:
    """Edges with their lengths, (n,) ranks by typicality, (n,) numbers of balls around a node."""

    lengths: sparse.csr_array
    ranks: Floats
    near: Ints


@acquisitions.register("typicality")
@dataclass(frozen=True)
class Typicality:
    """Most typical first, not near what was asked: seeds at the centres of dense regions.

    The value is ``r(x) - b(x)``: `r` in [0, 1) is the rank by typicality, ``1 / mean distance to
    the k nearest neighbours`` (see `typicality`), and `b` the number of constrained nodes whose
    ball holds x. A ball is the share `proportion` of all nodes that is nearest along the edges
    (their lengths: the distances, or else ``1 / weight``). So the nodes in no ball come first, then
    those in one.

    The first step of TypiClust, with balls in place of its clusters; scikit-activeml has it only
    inside `TypiClust`. Costs one Dijkstra per query.

    Parameters
    ----------
    proportion : float
        Share of the nodes in a ball, in (0, 1]. Passing over the direct neighbours alone would
        leave every question in the densest region.

    References
    ----------
    G. Hacohen, A. Dekel and D. Weinshall, "Active learning on a budget: opposite strategies suit
    high and low budgets", 2022.
    """

    proportion: float = 0.2

    uses_scores: ClassVar[bool] = False
    needs: ClassVar[str] = "distances to neighbours, or degrees"
    cost: ClassVar[str] = "one Dijkstra"
    use: ClassVar[str] = "for the first questions, on dense regions"

    def __post_init__(self) -> None:
        real_number(self.proportion, "proportion", lambda p: 0 < p <= 1, SHARE_EXPECTED)

    def start(self, graph: Graph, labelled: Ints, seed: int) -> Surroundings:
        nowhere = np.zeros(graph.n_nodes, dtype=np.int64)
        edges = edge_distances(graph)
        lengths = edge_lengths(graph) if edges is None else edges
        memory = Surroundings(lengths, typicality_ranks(graph, edges), nowhere)
        for node in labelled:
            memory = self.advance(memory, int(node))
        return memory

    def advance(self, memory: Surroundings, node: int) -> Surroundings:
        distances = path_lengths(memory.lengths, node)
        inside = np.isfinite(distances) & (distances <= ball_radius(distances, self.proportion))
        return replace(memory, near=memory.near + inside)

    def __call__(self, snapshot: Snapshot) -> Floats:
        return np.asarray(snapshot.memory.ranks - snapshot.memory.near)


def typicality_ranks(graph: Graph, edges: sparse.csr_array | None = None) -> Floats:
    """(n,) ranks by typicality in [0, 1), equal for equal typicality."""
    different, ranks = np.unique(typicality(graph, edges), return_inverse=True)
    return np.asarray(ranks / different.size)


def typicality(graph: Graph, edges: sparse.csr_array | None = None) -> Floats:
    """(n,) ``1 / mean distance to the k nearest neighbours``.

    Of a k-NN graph these are the ends of a node's edges no longer than d_k; if their distances are
    not known, 1 / d_k. Of any other graph it is the degree: the sum of a kernel of fixed width
    estimates the density too. `edges` are the `edge_distances`, if known already.
    """
    made, spacing = graph.construction, graph.spacing
    if made is None or made.k is None or spacing is None:
        return graph.degrees
    edges = edge_distances(graph) if edges is None else edges
    if edges is None:
        return np.asarray(1 / np.maximum(spacing.scale, MIN_EDGE_LENGTH))
    rows = np.repeat(np.arange(graph.n_nodes), np.diff(edges.indptr))
    listed = edges.data <= spacing.scale[rows] * (1 + 1e-9)  # the two may be rounded differently
    sums = np.bincount(rows[listed], edges.data[listed], graph.n_nodes)
    counts = np.bincount(rows[listed], minlength=graph.n_nodes)
    return np.asarray(counts / np.maximum(sums, MIN_EDGE_LENGTH))
