"""Laplace learning with a few more labels: one column for each of them, not one for each class.

The operator of plain Laplace learning does not change with the labels; only the constrained set
grows. With g_k the column that is 1 at the new node k and 0 at all other labels,

    u' = u + sum_k g_k (y_k - u(k))

is harmonic away from the labels and right on them, hence exact. (With Poisson weights the operator
changes with every label, and this does not hold.)
"""

import numpy as np

from poise.arrays import Floats
from poise.models.harmonic import Columns, Problem


def plain(problem: Problem) -> bool:
    """Whether a problem is plain Laplace learning with some label."""
    harmonic = not problem.reweighted and problem.tau == 0 and not problem.heights
    return harmonic and len(problem.constrained) > 0


def growth(before: Problem, after: Problem) -> Problem | None:
    """The problem whose columns lead from one solution to the other: those of the new nodes.

    None if there is none: the models are not plain Laplace learning, or a label has changed.
    """
    if not (plain(before) and plain(after)):
        return None
    class_of = {node: j for j, group in enumerate(after.groups) for node in group}
    homes = [{class_of.get(node) for node in group} for group in before.groups]
    if any(len(home) > 1 or None in home for home in homes):
        return None
    new = sorted(class_of.keys() - set(before.constrained))
    return Problem((before.constrained, *((node,) for node in new)), reweighted=False)


def grown(before: Problem, columns: Columns, after: Problem, added: Columns) -> Columns:
    """The solution of `after`, from that of `before` and that of their `growth`."""
    old = {group[0]: columns.values[:, j] for j, group in enumerate(before.groups) if group}
    known = set(before.constrained)
    new = sorted(set(after.constrained) - known)
    values = np.zeros((len(columns.values), len(after.groups)), order="F")
    for j, group in enumerate(after.groups):
        u: Floats = next((old[node] for node in group if node in old), np.zeros(len(values)))
        values[:, j] = u
        for column, node in enumerate(new, start=1):
            values[:, j] += added.values[:, column] * (float(node in group) - u[node])
    return Columns(np.clip(values, 0.0, 1.0, out=values), added.weights)
