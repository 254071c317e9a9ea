"""Dijkstra's Annulus Core-Set."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy import sparse

from poise.active.acquisition.distances import (
    MIN_EDGE_LENGTH,
    ball_radius,
    edge_lengths,
    path_lengths,
)
from poise.active.acquisition.registry import acquisitions
from poise.active.acquisition.typicality import SHARE_EXPECTED
from poise.active.snapshot import Snapshot
from poise.arrays import Bools, Floats, Ints
from poise.checks import real_number
from poise.graph import Graph


@dataclass(frozen=True, eq=False)
class Annuli:
    """Edges with their lengths, and what the balls around the constrained nodes leave.

    Attributes
    ----------
    seen : (n,) mask, in the outer ball of a constrained node
    annulus : (n,) mask, seen and in no inner ball
    distances : (n,) to the nearest constrained node, infinite where there is none
    """

    lengths: sparse.csr_array
    seen: Bools
    annulus: Bools
    distances: Floats


@acquisitions.register("dac")
@dataclass(frozen=True)
class DAC:
    """Just beyond the reach of what was asked first: walks over the graph at even steps.

    Around every constrained node, the outer ball holds the share `proportion` of all nodes, the
    nearest along the edges (whose lengths are the distances, or else ``1 / weight``), and the inner
    ball half of them. First come the nodes in an outer ball and in no inner one; if there are none,
    those in no ball, largest component first; once everything is in a ball, the farthest. Among
    equals chance decides. Before all of these come components as large as a ball with nothing
    constrained, the largest first: no path leads to them.

    As in the authors' code with "density radius", a node in the annulus of a new node but seen
    before is not added again. Differences: components (there, only once the annulus is empty, and
    at random); the radii are exact instead of bisected to 2 %; nodes labelled at the start have
    annuli too; a component smaller than a ball is a ball. scikit-activeml has no version. Costs one
    Dijkstra per query.

    Parameters
    ----------
    proportion : float
        Share of the nodes in an outer ball, in (0, 1].

    References
    ----------
    J. Chapman, B. Chen, Z. Tan, J. Calder, K. Miller and A. Bertozzi, "Novel batch active learning
    approach and its application to synthetic aperture radar datasets", 2023.
    """

    proportion: float = 0.2

    uses_scores: ClassVar[bool] = False
    needs: ClassVar[str] = "paths along the edges"
    cost: ClassVar[str] = "one Dijkstra"
    use: ClassVar[str] = "for the first questions, evenly over the graph"

    def __post_init__(self) -> None:
        real_number(self.proportion, "proportion", lambda p: 0 < p <= 1, SHARE_EXPECTED)

    def start(self, graph: Graph, labelled: Ints, seed: int) -> Annuli:
        n = graph.n_nodes
        nothing = np.zeros(n, dtype=bool)
        memory = Annuli(edge_lengths(graph), nothing, nothing, np.full(n, np.inf))
        for node in labelled:
            memory = self.advance(memory, int(node))
        return memory

    def advance(self, memory: Annuli, node: int) -> Annuli:
        distances = path_lengths(memory.lengths, node)
        # An infinite radius takes in all that can be reached.
        inner = ball_radius(distances, self.proportion / 2)
        outer = ball_radius(distances, self.proportion)
        within = np.isfinite(distances)
        close, ball = within & (distances <= inner), within & (distances <= outer)
        annulus = (memory.annulus | (ball & ~memory.seen)) & ~close
        return replace(
            memory,
            seen=memory.seen | ball,
            annulus=annulus,
            distances=np.minimum(memory.distances, distances),
        )

    def __call__(self, snapshot: Snapshot) -> Floats:
        memory: Annuli = snapshot.memory
        graph = snapshot.graph
        size = graph.component_sizes[graph.components] / graph.n_nodes
        reached = np.where(memory.seen, memory.distances, 0.0)
        far = reached / max(float(reached.max()), MIN_EDGE_LENGTH)
        values = np.where(memory.seen, far, 1 + size)  # at most 1, at most 2
        values = np.where(memory.annulus, 3.0, values)
        apart = np.isinf(memory.distances) & (size >= self.proportion)
        return np.where(apart, 4 + size, values)
