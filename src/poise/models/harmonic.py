"""Columns: how far the value 1 spreads from some constrained nodes when the others hold 0.

Every Laplace-type model here is a sum of such columns, one per class. They depend on *which*
nodes are constrained, never on their classes, so that the columns of an unanswered node can be
solved before its answer is known and added to a class afterwards (superposition).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from poise.errors import InputError
from poise.graph import Graph
from poise.linalg import solve
from poise.linalg.status import Floats, Ints
from poise.models.components import laplacian, reached
from poise.models.poisson_weights import SHIFT, check_shift, poisson_weights


@dataclass(frozen=True)
class Problem:
    """Which columns to solve for in the PWLL-tau model; hashable, so that solutions can be kept.

    Attributes
    ----------
    sources : one tuple of nodes per column: where it is not 0. Together, the constrained nodes.
    tau : decay of the solution
    shift : smallest Poisson weight; None for weights that are all 1, which is Laplace learning
    heights : the values there, from 0 to 1, in the shape of `sources`; empty if all are 1
    """

    sources: tuple[tuple[int, ...], ...]
    tau: float = 0.0
    shift: float | None = SHIFT
    heights: tuple[tuple[float, ...], ...] = ()

    @property
    def constrained(self) -> tuple[int, ...]:
        return tuple(sorted({node for source in self.sources for node in source}))


@dataclass(frozen=True, eq=False)
class Columns:
    """Solution of a `Problem`: (n, J) columns in [0, 1] and the (n,) Poisson weights."""

    values: Floats
    weights: Floats


def solve_problems(
    graph: Graph, problems: Sequence[Problem], solved: Mapping[Problem, Columns] | None = None
) -> list[Columns]:
    """Solve all problems in one pass over the graph: one Poisson solve, one solve for the columns.

    Problems that constrain the same nodes share their Poisson weights, also with those `solved`
    before, so that another tau or a changed answer costs no Poisson solve.
    """
    for problem in problems:
        if problem.shift is not None:
            check_shift(problem.shift)
    sets = list(dict.fromkeys((p.constrained, p.shift) for p in problems))
    gamma = np.empty((graph.n_nodes, len(sets)), order="F")
    known = {(p.constrained, p.shift): c.weights for p, c in (solved or {}).items()}
    for t, key in enumerate(sets):
        if key in known:
            gamma[:, t] = known[key]
    for shift in {shift for _, shift in sets}:
        same = [t for t, key in enumerate(sets) if key[1] == shift and key not in known]
        if not same:
            continue
        if shift is None:
            gamma[:, same] = 1.0
            continue
        nodes = [np.array(sets[t][0], dtype=np.int64) for t in same]
        gamma[:, same] = poisson_weights(graph, nodes, shift=shift)
    set_of = [sets.index((p.constrained, p.shift)) for p in problems]
    values = spread(
        graph,
        np.take(gamma.T, set_of, axis=0).T,
        [p.tau for p in problems],
        [[np.array(s, dtype=np.int64) for s in p.sources] for p in problems],
        [p.heights for p in problems],
    )
    return [Columns(v, gamma[:, t]) for v, t in zip(values, set_of, strict=True)]


def spread(
    graph: Graph,
    gamma: Floats,
    tau: npt.ArrayLike,
    sources: Sequence[Sequence[Ints]],
    heights: Sequence[Sequence[Sequence[float]]] | None = None,
) -> list[Floats]:
    """Columns of the weighted Laplace problem with decay, for T problems at once.

    With G = diag(gamma), U the free nodes of a problem and Y the indicator of a source,

        (L_gamma + tau I)_UU u_U = (G W G)_US Y          (paper, eq. rw-lap-learning-tau)

    is solved in the ground-state form, v = G u, whose matrix is the graph's own Laplacian plus a
    diagonal, whatever gamma is:

        (L + diag(q))_UU v_U = W_US (gamma_S Y),   q = -(L gamma)/gamma + tau/gamma^2

    Parameters
    ----------
    gamma : (n, T) positive weights; one problem's are constant 1 for plain Laplace learning
    tau : (T,) decay parameters
    sources : per problem, the node sets of its columns; together the constrained nodes
    heights : per problem, the values of its columns there, from 0 to 1; empty if all are 1

    Returns
    -------
    T arrays (n, J_t), values in [0, 1]: 1 or the height on a column's own source, 0 on the other
    constrained nodes and on components that hold none.
    """
    n, n_problems = gamma.shape
    tau = check_decay(tau)
    counts = [len(columns) for columns in sources]
    operator = np.repeat(np.arange(n_problems), counts)
    if not len(operator):
        return [np.zeros((n, 0)) for _ in sources]
    prepared = laplacian(graph)
    # Columns are contiguous (order "F") throughout: that is how the solver wants them.
    free = np.empty((n, n_problems), dtype=bool, order="F")
    rhs = np.zeros((n, len(operator)), order="F")
    W = graph.weights
    at = [
        [np.ones(len(source)) for source in columns]
        if heights is None or not heights[t]
        else [np.asarray(height, dtype=np.float64) for height in heights[t]]
        for t, columns in enumerate(sources)
    ]
    column = 0
    for t, columns in enumerate(sources):
        constrained = np.concatenate([*columns, np.empty(0, dtype=np.int64)])
        free[:, t] = reached(graph, constrained)
        free[constrained, t] = False
        for source, height in zip(columns, at[t], strict=True):
            for node, value in zip(source, height, strict=True):
                row = slice(W.indptr[node], W.indptr[node + 1])
                rhs[W.indices[row], column] += W.data[row] * (gamma[node, t] * value)
            column += 1
    q = np.asfortranarray(-prepared.product(gamma) / gamma + tau / gamma**2)
    q[~free] = 0.0
    v = solve(prepared, rhs, diagonals=q, free=free, operator=operator).require().value
    v /= np.take(gamma.T, operator, axis=0).T
    # The exact solution lies in [0, 1]: moving an approximate one there only brings it closer.
    u = np.clip(v, 0.0, 1.0, out=v)
    result = np.split(u, np.cumsum(counts)[:-1], axis=1)
    for values, columns, own in zip(result, sources, at, strict=True):
        for j, source in enumerate(columns):
            values[source, j] = own[j]
    return result


def check_decay(tau: npt.ArrayLike) -> Floats:
    """`tau`, one number or several, finite and not negative."""
    decay = np.asarray(tau, dtype=np.float64)
    if not (np.all(np.isfinite(decay)) and np.all(decay >= 0)):
        raise InputError(f"tau is {decay.tolist()}: it must be finite and not negative")
    return decay
