"""DiAL: the spread of a Dirichlet distribution whose evidence spreads over the graph."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from poise.active.acquisition.registry import acquisitions
from poise.active.snapshot import Snapshot
from poise.arrays import Floats, Ints
from poise.checks import real_number
from poise.graph import Graph
from poise.linalg import solve
from poise.models.components import laplacian

Column = npt.NDArray[np.float32]
#: Accuracy of a column: the variance of the evidence needs no more.
RTOL = 1e-5
#: Columns solved for at once.
CHUNK_COLUMNS = 32


@dataclass(frozen=True, eq=False)
class Evidence:
    """The columns of the constrained nodes, (n,) each, in their order."""

    graph: Graph
    tau: float
    columns: tuple[Column, ...] = ()

    def and_of(self, nodes: Ints) -> "Evidence":
        if not len(nodes):
            return self
        added = columns(self.graph, nodes, self.tau)
        return Evidence(self.graph, self.tau, (*self.columns, *added))


@acquisitions.register("dial")
@dataclass(frozen=True)
class DiAL:
    """Largest variance of a Dirichlet distribution first: where little evidence arrives, or mixed.

    Each node has a Dirichlet distribution over the classes with

        alpha_c(x) = alpha_0 + sum over labelled j of class c of k_j(x),
        k_j = (L + tau I)^-1 e_j, divided by its largest entry, the one at j:

    a label is one observation where it is, and less of one farther away. The value is the trace of
    the covariance, ``(1 - sum_c (alpha_c / A)^2) / (A + 1)`` with ``A = sum_c alpha_c``. An open
    question counts for the classes in proportion to what is expected at it.

    On components without a label nothing arrives, so they come first. L is the Laplacian divided by
    the mean degree, so that `tau` does not depend on the scale of the weights.

    Costs one solve per query; keeps one column of n single-precision numbers per constrained node.

    Parameters
    ----------
    tau : float > 0
        How fast evidence fades.
    alpha : float > 0
        Evidence alpha_0 that each class has everywhere; 1 makes all probabilities equally likely.

    References
    ----------
    K. Miller and R. Murray, "Dirichlet active learning", 2023.
    """

    tau: float = 0.01
    alpha: float = 1.0

    uses_scores: ClassVar[bool] = False
    needs: ClassVar[str] = "the graph alone"
    cost: ClassVar[str] = "one column, and a pass over those of all labels"
    use: ClassVar[str] = "to explore first, then to refine, without a schedule"

    def __post_init__(self) -> None:
        for name in ("tau", "alpha"):
            real_number(
                getattr(self, name),
                name,
                lambda number: 0 < number < np.inf,
                "expected a positive, finite number",
            )

    def start(self, graph: Graph, labelled: Ints, seed: int) -> Evidence:
        return Evidence(graph, self.tau).and_of(labelled)

    def advance(self, memory: Evidence, node: int) -> Evidence:
        return memory.and_of(np.array([node]))

    def __call__(self, snapshot: Snapshot) -> Floats:
        evidence: Evidence = snapshot.memory
        labels = snapshot.labels
        n_classes = max(2, len(labels.classes))
        code = dict(zip(labels.nodes.tolist(), labels.codes.tolist(), strict=True))
        alpha = np.full((n_classes, snapshot.graph.n_nodes), self.alpha)
        nodes = snapshot.constrained.tolist()
        pairs = dict(zip(nodes, evidence.columns, strict=True))
        for node, column in pairs.items():
            if node in code:
                alpha[code[node]] += column
        known = alpha.copy()
        for node, column in pairs.items():
            if node not in code:
                share = known[:, node] / known[:, node].sum()
                alpha += share[:, None] * column
        return dirichlet_variance(alpha)


def dirichlet_variance(alpha: Floats) -> Floats:
    """(n,) trace of the covariance of Dirichlet distributions, from their (C, n) parameters."""
    total = alpha.sum(axis=0)
    means = alpha / total
    return np.asarray((1.0 - np.einsum("cn,cn->n", means, means)) / (total + 1.0))


def columns(graph: Graph, nodes: Ints, tau: float) -> tuple[Column, ...]:
    """Columns of ``(L + tau I)^-1`` at `nodes`, each divided by its own node's entry."""
    diagonal = np.full(graph.n_nodes, tau * (float(graph.degrees.mean()) or 1.0))
    result: list[Column] = []
    for first in range(0, len(nodes), CHUNK_COLUMNS):
        part = nodes[first : first + CHUNK_COLUMNS]
        rhs = np.zeros((graph.n_nodes, len(part)))
        rhs[part, np.arange(len(part))] = 1.0
        inverse = solve(laplacian(graph), rhs, diagonals=diagonal, rtol=RTOL).value
        scaled = np.maximum(inverse / inverse[part, np.arange(len(part))], 0.0)
        result.extend(scaled.T.astype(np.float32))
    return tuple(result)
