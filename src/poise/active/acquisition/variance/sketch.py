"""The covariance of all nodes at once, by random projection, exact where it matters.

With R a matrix of q random signs per node and Q of q random signs per edge,

    |C e_k|^2 ~ |(C R)_k|^2 / q,    C_kk ~ 1/a_k + |(S C B^T Q)_k|^2 / q,    A = B^T B = C^-1,

where a is the diagonal of A and ``S = diag(a)^-1 W`` the mean over neighbours. So 2q columns of one
solve estimate both for every node; ``1^T C e_k = (C 1)_k`` is one exact column. (On the diagonal
``C = diag(a)^-1 + S C S^T``, since W has none; what is local is exact, and the error smaller than
that of ``|(C B^T Q)_k|^2 / q``.)

One column in eight of R is not random: these span the largest part of C, and the random ones are
taken orthogonal to it, likewise for Q; the sums stay unbiased and err less (as in Hutch++: Meyer,
Musco, Musco & Woodruff 2021).

Asking a node updates the projections themselves by rank one, so that they stay those of
the true covariance. The estimates name a shortlist, whose columns are solved for exactly, kept,
and updated by rank one too. (Projections of this kind: Spielman & Srivastava 2011.)

Components without an asked node have no covariance in the hard model. There the projections are
those of the pseudo-inverse of L, and its diagonal, smallest at the most central node, is what is
judged: the limit of V-Opt and of Sigma-Opt as epsilon tends to zero.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from poise.active.acquisition.variance.covariance import AnswerModel, Statistics, unit_columns
from poise.active.acquisition.variance.projection import Projection
from poise.arrays import Bools, Floats, Ints
from poise.graph import Graph
from poise.linalg import solve
from poise.linalg.simultaneous import SMALL_MAX_NODES
from poise.models.components import laplacian, reached

#: Right-hand sides of a sketch that are solved for at once: bounds the memory.
CHUNK_COLUMNS = 32
#: One in this many columns, and at most one per this many nodes, represents the largest part of C.
DEFLATION_RATIO = 8
#: Relative residual of the projections: small beside their random error (1 to 3%), and it halves
#: the time of the set-up.
PROJECTION_RTOL = 1e-4
#: Relative residual of the columns that judge the shortlist.
SHORTLIST_RTOL = 1e-5


@dataclass(frozen=True, eq=False)
class Sketch:
    """Projections of the covariance after some nodes were asked.

    Attributes
    ----------
    asked : nodes asked so far
    spread : projection ``C R``, R scaled
    factor : projection ``C B^T Q``, Q scaled
    totals : (n,) ``C 1``
    local : (n,) ``1 / a``
    sums : (components, q) sums of R over each component
    deflated : number of the first columns that are not random
    columns : exact columns of the nodes on the shortlist
    settled : whether every component had an asked node when the projections were made; if not,
        they fit an earlier state and err more
    """

    graph: Graph
    model: AnswerModel
    seed: int
    asked: tuple[int, ...]
    spread: Projection
    factor: Projection
    totals: Floats
    local: Floats
    sums: Floats
    deflated: int
    columns: dict[int, Floats]
    settled: bool

    @property
    def waiting(self) -> Bools:
        """(n,) mask of the nodes in components that have no covariance yet."""
        if self.model.name == "soft":
            return np.zeros(self.graph.n_nodes, dtype=bool)
        return ~reached(self.graph, np.array(self.asked, dtype=np.int64))

    def estimate(self) -> Statistics:
        """Statistics of all nodes; squares are 0 if the sketch was made without them."""
        variances = self.local + self.factor.norms
        return Statistics(self.spread.norms, self.totals, variances, self.model.s2)

    def exact(self, nodes: Ints) -> tuple[Statistics, Floats]:
        """Statistics and columns (n, J) of some nodes; solves for those that are not kept."""
        columns = np.empty((self.graph.n_nodes, len(nodes)), order="F")
        missing = np.array([node not in self.columns for node in nodes], dtype=bool)
        for j in np.flatnonzero(~missing):
            columns[:, j] = self.columns[int(nodes[j])]
        if missing.any():
            asked = np.array(self.asked, dtype=np.int64)
            columns[:, missing] = self.model.columns(
                self.graph, asked, nodes[missing], rtol=_tolerance(self.graph, SHORTLIST_RTOL)
            )
        return Statistics.of_columns(columns, nodes, self.model.s2), columns


def sketch(
    graph: Graph, model: AnswerModel, asked: Ints, q: int, seed: int, *, squares: bool = True
) -> Sketch:
    """Projections of the covariance when `asked` nodes are asked; about 2q columns are solved for.

    Without `squares` the projection that only they need is left out, and with it q columns.
    """
    n = graph.n_nodes
    rng = np.random.default_rng([seed, 0])
    V = _largest_part(graph, model, asked, min(q // DEFLATION_RATIO, n // DEFLATION_RATIO), rng)
    r = V.shape[1]
    random = q - r
    spread = np.empty((n, q if squares else 0), dtype=np.float32)
    factor = np.empty((n, q), dtype=np.float32)
    sums = np.empty((graph.n_components, spread.shape[1]))
    incidence = _incidence(graph)
    added = model.diagonal(graph, asked)
    AV = laplacian(graph).product(V) + added[:, None] * V
    M = np.linalg.inv(V.T @ AV)
    factor[:, :r] = V @ np.linalg.cholesky(M)
    by_component = sparse.csr_array(
        (np.ones(n), (graph.components, np.arange(n))), shape=(graph.n_components, n)
    )

    def fill(part: slice, R: Floats) -> None:
        sums[:, part] = np.asarray(by_component @ R)
        spread[:, part] = _apply(graph, model, asked, R)

    if squares:
        fill(slice(0, r), V)
    for first in range(r, q, CHUNK_COLUMNS):
        part = slice(first, min(first + CHUNK_COLUMNS, q))
        width = part.stop - part.start
        if squares:
            R = _signs(rng, n, width)
            fill(part, (R - V @ (V.T @ R)) / np.sqrt(random))
        B = incidence @ _signs(rng, incidence.shape[1], width)
        B += np.sqrt(added)[:, None] * _signs(rng, n, width)
        Z = _apply(graph, model, asked, B) - V @ (M @ (V.T @ B))
        factor[:, part] = Z / np.sqrt(random)
    totals = _apply(graph, model, asked, np.ones((n, 1)), rtol=None)[:, 0]
    diagonal = graph.degrees + added
    local = np.divide(1.0, diagonal, out=np.zeros(n), where=diagonal > 0)
    return Sketch(
        graph,
        model,
        seed,
        tuple(asked.tolist()),
        Projection.of(spread),
        Projection.of(factor, sparse.csr_array(sparse.diags_array(local) @ graph.weights)),
        totals,
        local,
        sums,
        r,
        {},
        bool(reached(graph, asked).all()),
    )


def _largest_part(
    graph: Graph, model: AnswerModel, asked: Ints, r: int, rng: np.random.Generator
) -> Floats:
    """(n, r) orthonormal columns near the largest eigenvectors of C: two steps of iteration."""
    V = _signs(rng, graph.n_nodes, r)
    for _ in range(2):
        image = _apply(graph, model, asked, V) if r else V
        V, R = np.linalg.qr(image)
        kept = np.abs(np.diag(R)) > 1e-8 * np.abs(np.diag(R)).max(initial=0.0)
        V = V[:, kept]
    return V


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
        random = len(row) - before.deflated
        row[before.deflated :] += np.sqrt(model.s2 / random) * _signs(rng, 1, random)[0]
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
    c = pseudo_inverse(graph, part, unit_columns(graph.n_nodes, np.array([node])))[:, 0]
    c = np.where(part, c - c[node], 0.0)
    grounded = before.spread.changed(part.astype(float), -before.spread.row(node))
    return replace(
        before,
        asked=(*before.asked, node),
        spread=grounded.changed(-c, before.sums[label]),
        factor=before.factor.changed(part.astype(float), -before.factor.row(node)),
        totals=np.where(part, -part.sum() * c, before.totals),
    )


def _apply(
    graph: Graph,
    model: AnswerModel,
    asked: Ints,
    B: Floats,
    *,
    rtol: float | None = PROJECTION_RTOL,
) -> Floats:
    """``C B``, and ``L^+ B`` where there is no covariance yet."""
    rtol = _tolerance(graph, rtol)
    Z = model.apply(graph, asked, B, rtol=rtol)
    if model.name == "hard":
        waiting = ~reached(graph, asked)
        if waiting.any():
            Z += pseudo_inverse(graph, waiting, B, rtol=rtol)
    return Z


def _tolerance(graph: Graph, rtol: float | None) -> float | None:
    """`rtol` where it saves something; on small graphs the solver's own."""
    return rtol if graph.n_nodes > SMALL_MAX_NODES else None


def pseudo_inverse(graph: Graph, part: Bools, B: Floats, *, rtol: float | None = None) -> Floats:
    """``L^+ B`` on the components that `part` marks, 0 elsewhere."""
    sizes = graph.component_sizes
    centred = np.empty_like(B, order="F")
    for j in range(B.shape[1]):
        means = np.bincount(graph.components, weights=B[:, j]) / sizes
        centred[:, j] = np.where(part, B[:, j] - means[graph.components], 0.0)
    return solve(laplacian(graph), centred, singular=True, rtol=rtol).require().value


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
    bits = np.frombuffer(rng.bytes(-(-rows * columns // 8)), dtype=np.uint8)
    signs = np.unpackbits(bits, count=rows * columns).astype(np.float64)
    signs *= 2.0
    signs -= 1.0
    return signs.reshape(rows, columns)
