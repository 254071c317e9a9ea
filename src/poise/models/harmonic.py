"""Columns: how the value 1 spreads from some constrained nodes while the others are held at 0.

Every Laplace-type model here is a sum of such columns, one per class. They depend on *which*
nodes are constrained, never on their classes, so that the columns of an unanswered node can be
solved before its answer is known and added to a class afterwards (superposition).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from poise.arrays import Bools, Floats, Ints
from poise.errors import ConvergenceError, InputError
from poise.graph import Graph
from poise.linalg import solve
from poise.linalg.breakdown import TOO_WIDE
from poise.models.components import laplacian, reached
from poise.models.poisson_weights import SHIFT, check_shift, potentials, shifted
from poise.models.rows import neighbour_sums


@dataclass(frozen=True)
class Problem:
    """Which columns to solve for in the PWLL-tau model; hashable, so that solutions can be kept.

    Attributes
    ----------
    groups : one tuple of nodes per column: where it is not 0. Together, the constrained nodes.
    tau : decay of the solution
    shift : smallest Poisson weight
    heights : the values there, from 0 to 1, in the shape of `groups`; empty if all are 1
    relative : whether `tau` and `shift` are in units of the graph: `tau` of the median of
        ``gamma_i (W gamma)_i``, which it competes with, and `shift` of the mean weight. Then
        the columns do not depend on the scale of the graph's weights.
    rtol : relative residual that the columns' use needs; None for that of `solve`
    reweighted : whether edges carry Poisson weights; False is plain Laplace learning
    """

    groups: tuple[tuple[int, ...], ...]
    tau: float = 0.0
    shift: float = SHIFT
    heights: tuple[tuple[float, ...], ...] = ()
    relative: bool = False
    rtol: float | None = None
    reweighted: bool = True

    @property
    def constrained(self) -> tuple[int, ...]:
        return tuple(sorted({node for group in self.groups for node in group}))


@dataclass(frozen=True)
class Model:
    """A model of the PWLL-tau family, whatever the labels; the fields are those of `Problem`."""

    tau: float = 0.0
    shift: float = SHIFT
    relative: bool = False
    rtol: float | None = None
    reweighted: bool = True

    def problem(
        self,
        groups: tuple[tuple[int, ...], ...],
        heights: tuple[tuple[float, ...], ...] = (),
    ) -> Problem:
        """The problem of this model whose columns spread from these nodes."""
        return Problem(
            groups, self.tau, self.shift, heights, self.relative, self.rtol, self.reweighted
        )


@dataclass(frozen=True, eq=False)
class Columns:
    """Solution of a `Problem`.

    Attributes
    ----------
    values : (n, J) columns in [0, 1]
    weights : (n,) Poisson weights
    potential : (n,) solution of the Poisson equation that they were made of; None without one
    """

    values: Floats
    weights: Floats
    potential: Floats | None = None


def solve_problems(
    graph: Graph,
    problems: Sequence[Problem],
    solved: Mapping[Problem, Columns] | None = None,
    *,
    rtol: float | None = None,
) -> list[Columns]:
    """Solve all problems in one pass over the graph: one Poisson solve, one solve for the columns.

    Problems that constrain the same nodes share the solution of the Poisson equation, also with
    those `solved` before to the same `rtol`, so that another tau or shift or a changed answer costs
    none. `rtol` is the relative residual, as in `solve`, of problems without their own;
    there is a pass for each.
    """
    needed = [rtol if p.rtol is None else p.rtol for p in problems]
    if len(set(needed)) > 1:
        columns: dict[int, Columns] = {}
        for accuracy in set(needed):
            positions = [i for i, own in enumerate(needed) if own == accuracy]
            same = solve_problems(graph, [problems[i] for i in positions], solved, rtol=rtol)
            columns |= dict(zip(positions, same, strict=True))
        return [columns[i] for i in range(len(problems))]
    for problem in problems:
        check_shift(problem.shift)
    if needed:
        rtol = needed[0]
    # Only solutions of the same accuracy: otherwise questions would depend on earlier readings.
    known = {
        p.constrained: c.potential
        for p, c in (solved or {}).items()
        if p.rtol == rtol and c.potential is not None
    }
    missing = {p.constrained for p in problems if p.reweighted} - known.keys()
    if missing:
        ordered = sorted(missing)
        solutions = potentials(graph, [np.array(c, dtype=np.int64) for c in ordered], rtol=rtol)
        known |= dict(zip(ordered, solutions.T, strict=True))
    sets = list(dict.fromkeys(_weighting(p) for p in problems))
    gamma = np.ones((graph.n_nodes, len(sets)), order="F")
    for t, (constrained, reweighted, shift, relative) in enumerate(sets):
        if reweighted:
            g = known[constrained][:, None]
            gamma[:, t] = shifted(graph, g, shift=shift, relative=relative)[:, 0]
    set_of = [sets.index(_weighting(p)) for p in problems]
    values = spread(
        graph,
        np.take(gamma.T, set_of, axis=0).T,
        [p.tau for p in problems],
        [[np.array(s, dtype=np.int64) for s in p.groups] for p in problems],
        [p.heights for p in problems],
        relative=[p.relative for p in problems],
        rtol=rtol,
    )
    return [
        Columns(v, gamma[:, t], known.get(p.constrained))
        for p, v, t in zip(problems, values, set_of, strict=True)
    ]


def _weighting(problem: Problem) -> tuple[tuple[int, ...], bool, float, bool]:
    """What the Poisson weights of a problem depend on."""
    return problem.constrained, problem.reweighted, problem.shift, problem.relative


def decay_unit(gamma: Floats, W_gamma: Floats, known: Bools) -> float:
    """Median of ``gamma_i (W gamma)_i`` over the `known` nodes, those reached: the unit of tau.

    In ``(L_gamma + tau I) u`` it is the reweighted degree of a node, so that a tau of 0.01 such
    units stops one in a hundred steps of a walk at the median node.
    """
    strengths = (gamma * W_gamma)[known]
    return float(np.median(strengths)) if strengths.size else 1.0


def spread(
    graph: Graph,
    gamma: Floats,
    tau: npt.ArrayLike,
    groups: Sequence[Sequence[Ints]],
    heights: Sequence[Sequence[Sequence[float]]] | None = None,
    *,
    relative: Sequence[bool] = (),
    rtol: float | None = None,
) -> list[Floats]:
    """Columns of the weighted Laplace problem with decay, for T problems at once.

    With G = diag(gamma), U the free nodes of a problem and Y the indicator of a group,

        (L_gamma + tau I)_UU u_U = (G W G)_US Y          (paper, eq. rw-lap-learning-tau)

    is solved in the ground-state form, v = G u, whose matrix is the graph's own Laplacian plus a
    diagonal, whatever gamma is:

        (L + diag(q))_UU v_U = W_US (gamma_S Y),   q = -(L gamma)/gamma + tau/gamma^2

    Parameters
    ----------
    gamma : (n, T) positive weights; one problem's are constant 1 for plain Laplace learning
    tau : (T,) decay parameters
    groups : per problem, the node sets of its columns; together the constrained nodes
    heights : per problem, the values of its columns there, from 0 to 1; empty if all are 1
    relative : per problem, whether its tau is in units of `decay_unit`; empty if none is
    rtol : relative residual of the columns; that of `solve` by default

    Returns
    -------
    T arrays (n, J_t), values in [0, 1]: 1 or the height on a column's own group, 0 on the other
    constrained nodes and on components that hold none. In single precision if `rtol` is so loose
    that `solve` works in it.
    """
    n, n_problems = gamma.shape
    decays = np.full(n_problems, check_decay(tau))
    own: Sequence[Sequence[Sequence[float]]] = [()] * n_problems if heights is None else heights
    at = [_values_at(columns, own[t]) for t, columns in enumerate(groups)]
    # Without decay the columns of a problem sum to 1: one of them need not be solved for.
    implied = [
        [] if decays[t] or len(own[t]) else by_first_node(columns)
        for t, columns in enumerate(groups)
    ]
    wanted = [(t, j) for t, columns in enumerate(groups) for j in range(len(columns))]
    prepared = laplacian(graph)
    # Columns are contiguous (order "F") throughout: that is how the solver wants them.
    free = np.empty((n, n_problems), dtype=bool, order="F")
    known = np.empty((n, n_problems), dtype=bool, order="F")
    rhs = np.zeros((n, len(wanted)), order="F")
    for t, columns in enumerate(groups):
        constrained = np.concatenate([*columns, np.empty(0, dtype=np.int64)])
        known[:, t] = reached(graph, constrained)
        free[:, t] = known[:, t]
        free[constrained, t] = False
    for column, (t, j) in enumerate(wanted):
        if j not in implied[t][:1]:  # a right-hand side of zero takes no step
            _add_neighbours(graph, rhs[:, column], groups[t][j], gamma[:, t], at[t][j])
    result: list[Floats] = [np.empty((n, 0)) for _ in groups]
    if wanted:
        operator = np.array([t for t, _ in wanted])
        W_gamma = neighbour_sums(graph, gamma)
        for t in np.flatnonzero(relative).tolist():
            decays[t] *= decay_unit(gamma[:, t], W_gamma[:, t], known[:, t])
        q = _diagonals(prepared.degrees, gamma, W_gamma, decays, free)
        solution = solve(prepared, rhs, diagonals=q, free=free, operator=operator, rtol=rtol)
        rows = solution.require().value.T
        first = 0
        for t, columns in enumerate(groups):
            block = rows[first : first + len(columns)]  # (J_t, n), in place: new memory is slow
            block /= gamma[:, t].astype(block.dtype)
            # The exact solution lies in [0, 1]: moving an approximate one there brings it closer.
            result[t] = np.clip(block, 0.0, 1.0, out=block).T
            first += len(columns)
    for t, values in enumerate(result):
        _complete(values, groups[t], at[t], implied[t], known[:, t])
    return result


def _diagonals(
    degrees: Floats, gamma: Floats, W_gamma: Floats, decays: Floats, free: Bools
) -> Floats:
    """(n, T) ``q = -(L gamma)/gamma + tau/gamma^2`` on the free nodes, 0 elsewhere."""
    with np.errstate(all="ignore"):  # refused below, with a message
        L_gamma = degrees[:, None] * gamma - W_gamma
        q = np.asfortranarray(-L_gamma / gamma + decays / gamma**2)
    q[~free] = 0.0
    if not np.isfinite(q).all():
        raise ConvergenceError(f"the model's equations are not finite: {TOO_WIDE}")
    return q


def _values_at(columns: Sequence[Ints], heights: Sequence[Sequence[float]]) -> list[Floats]:
    """Values of a problem's columns at their own groups: the heights, 1 by default."""
    if not len(heights):
        return [np.ones(len(group)) for group in columns]
    return [np.asarray(height, dtype=np.float64) for height in heights]


def _add_neighbours(graph: Graph, rhs: Floats, group: Ints, gamma: Floats, at: Floats) -> None:
    """Add ``W_US (gamma_S Y)`` of one column to its right-hand side."""
    W = graph.weights
    for node, value in zip(group, at, strict=True):
        row = slice(W.indptr[node], W.indptr[node + 1])
        rhs[W.indices[row]] += W.data[row] * (gamma[node] * value)


def _complete(
    values: Floats, columns: Sequence[Ints], at: list[Floats], implied: list[int], known: Bools
) -> None:
    """Set columns to their values at their own groups, and compute the implied one."""
    for j, group in enumerate(columns):
        values[group, j] = at[j]
    complete_implied(values, implied, known)


def complete_implied(values: Floats, implied: list[int], known: Bools) -> None:
    """Compute the first implied column in place: on known nodes 1 minus the others, else 0."""
    if implied:
        left, *others = implied
        rest = known.astype(np.float64)
        for j in others:
            rest -= values[:, j]
        values[:, left] = np.maximum(rest, 0.0)


def by_first_node(groups: Sequence[Ints] | Sequence[Sequence[int]]) -> list[int]:
    """Columns in the order of their first nodes: the first is 1 minus the others.

    The order of the nodes, not of the columns, so that renaming classes changes no bit.
    """
    present = [j for j, group in enumerate(groups) if len(group)]
    return sorted(present, key=lambda j: int(np.min(groups[j])))


def check_decay(tau: npt.ArrayLike) -> Floats:
    """`tau`, one number or several, finite and not negative."""
    try:
        decay = np.asarray(tau, dtype=np.float64)
    except (ValueError, TypeError):
        decay = np.array(np.nan)
    if not (np.all(np.isfinite(decay)) and np.all(decay >= 0)):
        raise InputError(f"tau is {tau!r}: it must be finite and not negative")
    return decay
