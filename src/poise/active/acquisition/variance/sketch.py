"""The covariance of all nodes at once, by random projection, exact where it matters.

With R a matrix of q random signs per node and Q of q random signs per edge,

    |C e_k|^2 ~ |(C R)_k|^2 / q,    C_kk ~ |(C B^T Q)_k|^2 / q,    A = B^T B the inverse of C,

so 2q columns of one solve estimate both for every node; ``1^T C e_k = (C 1)_k`` is one exact
column. Asking a node updates the projections themselves by rank one, so that they stay those of
the true covariance. The estimates name a shortlist, whose columns are solved for exactly, kept,
and updated by rank one too. (Projections of this kind: Spielman & Srivastava 2011.)

Components without an asked node have no covariance in the hard model. There the projections are
those of the pseudo-inverse of L, and its diagonal, smallest at the most central node, is what is
judged: the limit of V-Opt and of Sigma-Opt as epsilon tends to zero.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from poise.active.acquisition.variance.covariance import AnswerModel, Statistics
from poise.active.acquisition.variance.projection import Projection
from poise.graph import Graph
from poise.linalg import solve
from poise.linalg.status import Bools, Floats, Ints
from poise.models.components import laplacian, reached

#: Right-hand sides of a sketch that are solved for at once: bounds the memory.
CHUNK = 32


@dataclass(frozen=True, eq=False)
class Sketch:
    """Projections of the covariance after some nodes were asked.

    Attributes
    ----------
    asked : nodes asked so far
    spread : projection ``C R``
    factor : projection ``C B^T Q``
    totals : (n,) ``C 1``
    sign_sums : (components, q) sums of R over each component
    columns : exact columns of the nodes on the shortlist
    ratio : (n,) exact value over estimate at the last time a node was judged exactly, else 1:
        the error of an estimate changes little from one question to the next
    """

    graph: Graph
    model: AnswerModel
    seed: int
    asked: tuple[int, ...]
    spread: Projection
    factor: Projection
    totals: Floats
    sign_sums: Floats
    columns: dict[int, Floats]
    ratio: Floats

    @property
    def waiting(self) -> Bools:
        """(n,) mask of the nodes in components that have no covariance yet."""
        if self.model.name == "soft":
            return np.zeros(self.graph.n_nodes, dtype=bool)
        return ~reached(self.graph, np.array(self.asked, dtype=np.int64))

    def estimate(self) -> Statistics:
        """Statistics of all nodes; squares are 0 if the sketch was made without them."""
        q = self.factor.base.shape[1]
        return Statistics(self.spread.norms / q, self.totals, self.factor.norms / q, self.model.s2)

    def exact(self, nodes: Ints) -> tuple[Statistics, Floats]:
        """Statistics and columns (n, J) of some nodes; solves for those that are not kept."""
        columns = np.empty((self.graph.n_nodes, len(nodes)), order="F")
        missing = np.array([node not in self.columns for node in nodes], dtype=bool)
        for j in np.flatnonzero(~missing):
            columns[:, j] = self.columns[int(nodes[j])]
        if missing.any():
            asked = np.array(self.asked, dtype=np.int64)
            columns[:, missing] = self.model.columns(self.graph, asked, nodes[missing])
        return Statistics.of_columns(columns, nodes, self.model.s2), columns


def sketch(
    graph: Graph, model: AnswerModel, asked: Ints, q: int, seed: int, *, squares: bool = True
) -> Sketch:
    """Projections of the covariance when `asked` nodes are asked; 2q + 1 columns are solved for.

    Without `squares` the projection that only they need is left out, and with it q columns.
    """
    n = graph.n_nodes
    rng = np.random.default_rng([seed, 0])
    spread = np.empty((n, q if squares else 0), dtype=np.float32)
    factor = np.empty((n, q), dtype=np.float32)
    sign_sums = np.empty((graph.n_components, spread.shape[1]))
    incidence = _incidence(graph)
    q_diagonal = np.sqrt(model.diagonal(graph, asked))
    by_component = sparse.csr_array(
        (np.ones(n), (graph.components, np.arange(n))), shape=(graph.n_components, n)
    )
    for first in range(0, q, CHUNK):
        chunk = slice(first, min(first + CHUNK, q))
        width = chunk.stop - chunk.start
        if squares:
            R = _signs(rng, n, width)
            sign_sums[:, chunk] = np.asarray(by_component @ R)
            spread[:, chunk] = _apply(graph, model, asked, R)
        B = incidence @ _signs(rng, incidence.shape[1], width)
        B += q_diagonal[:, None] * _signs(rng, n, width)
        factor[:, chunk] = _apply(graph, model, asked, B)
    totals = _apply(graph, model, asked, np.ones((n, 1)))[:, 0]
    nodes = tuple(asked.tolist())
    return Sketch(
        graph,
        model,
        seed,
        nodes,
        Projection.of(spread),
        Projection.of(factor),
        totals,
        sign_sums,
        {},
        np.ones(n),
    )


def ask(before: Sketch, node: int) -> Sketch:
    """The sketch after one more node is asked."""
    model = before.model
    if before.waiting[node]:
        return _ask_first_of_component(before, node)
    c = before.exact(np.array([node]))[1][:, 0]
    scale = model.s2 + c[node]
    direction = c / scale
    row = -before.factor.row(node)
    if model.name == "soft":
        # The answer is a row of its own in the factor of the precision, with signs of its own.
        rng = np.random.default_rng([before.seed, 1, len(before.asked)])
        row += np.sqrt(model.s2) * _signs(rng, 1, len(row))[0]
    columns = {
        other: column - c * (column[node] / scale)
        for other, column in before.columns.items()
        if other != node
    }
    return replace(
        before,
        asked=(*before.asked, node),
        spread=before.spread.changed(direction, -before.spread.row(node)),
        factor=before.factor.changed(direction, row),
        totals=before.totals - c * (before.totals[node] / scale),
        columns=columns,
    )


def _ask_first_of_component(before: Sketch, node: int) -> Sketch:
    """From the pseudo-inverse to the inverse with `node` grounded, in its component alone.

    ``L x = b - e_k 1^T b`` with x_k = 0 has the solution ``z - z_k - (c - c_k) 1^T b``, where
    ``z = L^+ b`` and ``c = L^+ e_k``; the columns of B^T sum to zero.
    """
    graph = before.graph
    label = graph.components[node]
    part = graph.components == label
    e = np.zeros((graph.n_nodes, 1))
    e[node] = 1.0
    c = pseudo_inverse(graph, part, e)[:, 0]
    c = np.where(part, c - c[node], 0.0)
    grounded = before.spread.changed(part.astype(float), -before.spread.row(node))
    return replace(
        before,
        asked=(*before.asked, node),
        spread=grounded.changed(-c, before.sign_sums[label]),
        factor=before.factor.changed(part.astype(float), -before.factor.row(node)),
        totals=np.where(part, -part.sum() * c, before.totals),
    )


def _apply(graph: Graph, model: AnswerModel, asked: Ints, B: Floats) -> Floats:
    """``C B``, and ``L^+ B`` where there is no covariance yet."""
    Z = model.apply(graph, asked, B)
    if model.name == "hard":
        waiting = ~reached(graph, asked)
        if waiting.any():
            Z += pseudo_inverse(graph, waiting, B)
    return Z


def pseudo_inverse(graph: Graph, part: Bools, B: Floats) -> Floats:
    """``L^+ B`` on the components that `part` marks, 0 elsewhere."""
    sizes = graph.component_sizes
    centred = np.empty_like(B, order="F")
    for j in range(B.shape[1]):
        means = np.bincount(graph.components, weights=B[:, j]) / sizes
        centred[:, j] = np.where(part, B[:, j] - means[graph.components], 0.0)
    return solve(laplacian(graph), centred, singular=True).require().value


def _incidence(graph: Graph) -> sparse.csr_array:
    """``B^T``, (n, edges), with ``B^T B = L``: roots of the weights, plus and minus."""
    upper = sparse.triu(graph.weights, k=1).tocoo()
    roots = np.sqrt(upper.data)
    edge = np.arange(len(roots))
    return sparse.csr_array(
        (
            np.concatenate([roots, -roots]),
            (np.concatenate([upper.row, upper.col]), np.concatenate([edge, edge])),
        ),
        shape=(graph.n_nodes, len(roots)),
    )


def _signs(rng: np.random.Generator, rows: int, columns: int) -> Floats:
    return np.asarray(2.0 * rng.integers(0, 2, size=(rows, columns)) - 1.0, dtype=np.float64)
