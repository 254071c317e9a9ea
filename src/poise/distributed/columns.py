"""Poisson weights and the columns of PWLL on a graph whose rows lie at several ranks.

The formulas are those of `poise.models.poisson_weights` and `poise.models.harmonic`; sums and
comparisons over the graph are taken over the ranks.
"""

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from poise.arrays import Bools, Floats
from poise.distributed.median import median
from poise.distributed.partition import Partition
from poise.distributed.solve import RTOL, solve
from poise.errors import ConvergenceError
from poise.linalg.breakdown import TOO_WIDE
from poise.linalg.simultaneous import RTOL as RTOL_OF_ONE
from poise.models.harmonic import Columns, Problem, by_first_node, complete_implied
from poise.models.poisson_weights import ROUNDING, SHIFT

#: Solutions kept: of the open questions, of the labels, and of the predicting model.
MAX_KEPT_SOLUTIONS = 3


def poisson_weights(
    partition: Partition,
    constrained: Sequence[int],
    *,
    shift: float = SHIFT,
    relative: bool = False,
    rtol: float | None = None,
) -> Floats:
    """(rows,) positive weights of one set of constrained nodes: `potential`, then `shifted`."""
    g = potential(partition, constrained, rtol=rtol)
    return shifted(partition, g, shift=shift, relative=relative)


def potential(
    partition: Partition, constrained: Sequence[int], *, rtol: float | None = None
) -> Floats:
    """(rows,) solution of the Poisson equation; see `poise.models.poisson_weights.potentials`."""
    _, rows = partition.rows_of(list(constrained))
    f = np.zeros(partition.n_rows)
    f[rows] = 1.0
    f -= (partition.component_sums(f) / partition.component_sizes)[partition.components]
    partition.ranks.watchdog.doing("solving for the Poisson weights")
    return solve(partition, f, singular=True, rtol=rtol).require().value


def shifted(
    partition: Partition, g: Floats, *, shift: float = SHIFT, relative: bool = False
) -> Floats:
    """(rows,) positive weights of a potential; see `poise.models.poisson_weights.shifted`."""
    components = partition.components
    smallest = np.full(len(partition.component_sizes), np.inf)
    np.minimum.at(smallest, components, g)
    smallest = partition.ranks.least(smallest)
    if relative:
        smallest_weight = np.where(smallest < 0, -shift * smallest, shift)
    else:
        smallest_weight = np.maximum(shift, -ROUNDING * smallest)
    return np.asarray(g + (smallest_weight - smallest)[components])


def spread(
    partition: Partition, problem: Problem, gamma: Floats, *, rtol: float | None = None
) -> Floats:
    """(rows, J) columns of a problem; see `poise.models.harmonic.spread`."""
    ranks, product = partition.ranks, partition.product
    rows = [partition.rows_of(list(group)) for group in problem.groups]
    heights = [
        np.asarray(problem.heights[j] if problem.heights else np.ones(len(group)))
        for j, group in enumerate(problem.groups)
    ]
    at_groups = np.zeros((partition.n_rows, len(problem.groups)))
    for j, (here, row) in enumerate(rows):
        at_groups[row, j] = heights[j][here]
    known = partition.reached(problem.constrained)
    free = known.copy()
    free[partition.rows_of(problem.constrained)[1]] = False
    W_gamma = product(gamma)
    tau = problem.tau
    if problem.relative:
        tau *= decay_unit(partition, gamma, W_gamma, known)
    implied = [] if problem.tau or problem.heights else by_first_node(problem.groups)
    wanted = [j for j in range(len(problem.groups)) if j not in implied[:1]]
    values = np.zeros_like(at_groups)
    if wanted:
        with np.errstate(all="ignore"):  # a clear error follows where values are not finite
            q = (W_gamma - partition.degrees * gamma) / gamma + tau / gamma**2
        q[~free] = 0.0
        if ranks.total(np.array([int(not np.isfinite(q).all())]))[0]:
            raise ConvergenceError(f"the model's equations are not finite: {TOO_WIDE}")
        rhs = product(gamma[:, None] * at_groups[:, wanted])
        ranks.watchdog.doing("solving for the columns")
        v = solve(partition, rhs, diagonals=q, free=free, rtol=rtol).require().value
        values[:, wanted] = np.clip(v / gamma[:, None], 0.0, 1.0)
    held = partition.rows_of(problem.constrained)[1]
    values[held] = at_groups[held]
    complete_implied(values, implied, known)
    return values


def decay_unit(partition: Partition, gamma: Floats, W_gamma: Floats, known: Bools) -> float:
    """Median of ``gamma_i (W gamma)_i`` over the reached nodes: the scale of tau."""
    middle = median(partition.ranks, (gamma * W_gamma)[known])
    return 1.0 if middle is None else middle


class Solved:
    """Computes solutions on demand and keeps the newest; every rank asks for the same ones."""

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self._kept: OrderedDict[Problem, Columns] = OrderedDict()

    def has(self, problem: Problem) -> bool:
        """Whether a solution is kept."""
        return problem in self._kept

    def columns(self, problem: Problem) -> Columns:
        """The solution of a problem."""
        if problem not in self._kept:
            n = self.partition.n_rows
            if not problem.groups:
                return Columns(
                    np.zeros((n, 0)), np.full(n, problem.shift if problem.reweighted else 1.0)
                )
            g = self._potential(problem) if problem.reweighted else None
            gamma = np.ones(n) if g is None else self._shifted(problem, g)
            while len(self._kept) >= MAX_KEPT_SOLUTIONS:
                self._kept.popitem(last=False)
            values = spread(self.partition, problem, gamma, rtol=needed_rtol(problem))
            self._kept[problem] = Columns(values, gamma, g)
        self._kept.move_to_end(problem)
        return self._kept[problem]

    def weights(self, problem: Problem) -> Floats:
        """Poisson weights alone, from a solution for the same nodes if one is kept."""
        return self._shifted(problem, self._potential(problem))

    def _shifted(self, problem: Problem, g: Floats) -> Floats:
        return shifted(self.partition, g, shift=problem.shift, relative=problem.relative)

    def _potential(self, wanted: Problem) -> Floats:
        for problem, solution in self._kept.items():
            same = (problem.constrained, problem.rtol) == (wanted.constrained, wanted.rtol)
            if same and solution.potential is not None:
                return solution.potential
        return potential(self.partition, wanted.constrained, rtol=needed_rtol(wanted))


def needed_rtol(problem: Problem) -> float | None:
    """Residual that gives at several ranks what the problem's own gives in one process."""
    return None if problem.rtol is None else problem.rtol * RTOL / RTOL_OF_ONE
