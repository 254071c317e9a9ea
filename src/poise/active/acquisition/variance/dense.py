"""The covariance of a small graph, exactly: one dense inverse, then vectors only.

``C = G - sum_j v_j v_j^T`` with one matrix for every session on a graph,

    G = (L + epsilon I)^-1  in the soft model,  G = L^+  in the hard one,

and a vector ``v = C e_k / sqrt(s2 + C_kk)`` per node asked. In the hard model the first node k
asked of a component c makes ``(I - 1_c e_k^T) L^+ (I - e_k 1_c^T)`` of its block, the inverse of L
with k left out. The statistics of all nodes follow with one product ``C c`` per question.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np

from poise.active.acquisition.variance.covariance import AnswerModel, Statistics
from poise.arrays import Bools, Floats, Ints
from poise.graph import Graph
from poise.models.components import reached

#: Graph -> (epsilon or None) -> G: sessions on one graph share it.
_inverses: WeakKeyDictionary[Graph, dict[float | None, Floats]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Dense:
    """The covariance after some nodes were asked.

    Attributes
    ----------
    G : (n, n), shared
    grounds : component -> the node asked first in it, in the hard model
    vectors : v of the nodes asked since
    squares, totals, variances : (n,) ``|C e_k|^2``, ``1^T C e_k``, ``C_kk``; those of L^+ where
        no node of the component was asked
    """

    graph: Graph
    model: AnswerModel
    G: Floats
    grounds: dict[int, int]
    vectors: tuple[Floats, ...]
    squares: Floats
    totals: Floats
    variances: Floats

    @cached_property
    def waiting(self) -> Bools:
        """(n,) mask of the nodes in components that have no covariance yet."""
        if self.model.name == "soft":
            return np.zeros(self.graph.n_nodes, dtype=bool)
        return ~reached(self.graph, np.array(list(self.grounds.values()), dtype=np.int64))

    def statistics(self) -> Statistics:
        """Of all nodes."""
        return Statistics(self.squares, self.totals, self.variances, self.model.s2)

    def product(self, x: Floats) -> Floats:
        """``C x``."""
        result = self.G @ x
        for component, k in self.grounds.items():
            part = self.graph.components == component
            total = x[part].sum()
            result -= part * (self.G[k] @ x) + self.G[k] * total
            result += part * (self.G[k, k] * total)
        for v in self.vectors:
            result -= v * (v @ x)
        return np.asarray(result)

    def column(self, k: int) -> Floats:
        """``C e_k``."""
        c: Floats = self.G[k].copy()
        component = int(self.graph.components[k])
        if component in self.grounds:
            g = self.grounds[component]
            part = self.graph.components == component
            c -= part * self.G[g, k] + self.G[g] - part * self.G[g, g]
        for v in self.vectors:
            c -= v * v[k]
        return c

    def ask(self, node: int) -> "Dense":
        """The covariance after one more node is asked."""
        if self.waiting[node]:
            return self._ask_first_of_component(node)
        c = self.column(node)
        scale = self.model.s2 + c[node]
        if scale <= 0:  # rounding: nothing is left to learn here
            return self
        share = c / scale
        squares = self.squares - 2 * share * self.product(c) + share**2 * (c @ c)
        later = replace(
            self,
            vectors=(*self.vectors, c / np.sqrt(scale)),
            squares=np.maximum(squares, 0.0),
            totals=self.totals - share * c.sum(),
            variances=np.maximum(self.variances - share * c, 0.0),
        )
        if self.model.name == "hard":  # an exact answer leaves exactly nothing
            for values in (later.squares, later.totals, later.variances):
                values[node] = 0.0
        return later

    def _ask_first_of_component(self, node: int) -> "Dense":
        """From the pseudo-inverse to the inverse without `node`, in its component alone."""
        component = int(self.graph.components[node])
        part = self.graph.components == component
        p = self.G[node]
        # Rows of L^+ sum to zero, so the constants are orthogonal to them.
        lifted = p[node] - p
        squares = self.squares + self.squares[node] - 2 * (self.G @ p) + part.sum() * lifted**2
        return replace(
            self,
            grounds=self.grounds | {component: node},
            squares=np.where(part, np.maximum(squares, 0.0), self.squares),
            totals=np.where(part, part.sum() * lifted, self.totals),
            variances=np.where(part, self.variances - 2 * p + p[node], self.variances),
        )


def dense(graph: Graph, model: AnswerModel, asked: Ints) -> Dense:
    """The covariance when `asked` nodes are asked; O(n^3) the first time on a graph."""
    key = model.epsilon if model.name == "soft" else None
    known = _inverses.setdefault(graph, {})
    if key not in known:
        known[key] = _inverse(graph, key)
    G = known[key]
    state = Dense(
        graph,
        model,
        G,
        {},
        (),
        np.einsum("ij,ij->i", G, G),
        G.sum(axis=1) if key is not None else np.zeros(graph.n_nodes),
        G.diagonal().copy(),
    )
    for node in asked.tolist():
        state = state.ask(node)
    return state


def _inverse(graph: Graph, epsilon: float | None) -> Floats:
    """``(L + epsilon I)^-1``, or ``L^+`` block by block, since blocks have kernels of their own."""
    G = np.zeros((graph.n_nodes, graph.n_nodes))
    for component in range(graph.n_components):
        nodes = np.flatnonzero(graph.components == component)
        W = graph.weights[nodes][:, nodes].toarray()
        L = np.diag(W.sum(axis=1)) - W
        if epsilon is not None:
            block = np.linalg.inv(L + epsilon * np.eye(len(nodes)))
        elif len(nodes) == 1:
            block = np.zeros((1, 1))
        else:
            # Adding the constants, scaled as L is, makes L invertible and leaves the rest alone.
            constant = np.full_like(L, L.trace() / len(nodes) ** 2)
            block = np.linalg.inv(L + constant)
            block -= 1.0 / L.trace()
        G[np.ix_(nodes, nodes)] = (block + block.T) / 2
    return G
