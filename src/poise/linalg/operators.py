"""What the solvers are given: operators, columns to solve for, and when a column ends."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from poise.arrays import Bools, Floats, Ints
from poise.errors import InputError
from poise.linalg.nullspace import nullspace_of
from poise.linalg.prepared import PreparedLaplacian

INDEFINITE = "diagonals make an operator indefinite: they must be >= 0 on free nodes"
#: Solutions (J, n), and for each column its status, its steps and the relative residual reached.
Solved = tuple[Floats, Ints, Ints, Floats]


@dataclass(frozen=True)
class Operators:
    """K operators ``L + diag(q_k)`` on one graph, each on its own free nodes; (K, n) arrays.

    Attributes
    ----------
    prepared : `L`
    q : diagonals added to `L`
    free : mask of the nodes that are solved for
    nullspace : mask of the nodes in components on which the operator maps the constants to zero
    diagonal : of the operator, ``d + q``
    inverse : 1 over `diagonal`, 0 on nodes that are not free
    """

    prepared: PreparedLaplacian
    q: Floats
    free: Bools
    nullspace: Bools
    diagonal: Floats
    inverse: Floats

    def some(self, numbers: Ints) -> "Operators":
        """The operators of these numbers, in ascending order."""
        arrays = (self.q, self.free, self.nullspace, self.diagonal, self.inverse)
        return Operators(self.prepared, *(take(array, numbers) for array in arrays))


@dataclass(frozen=True)
class Systems:
    """J columns to solve for.

    Attributes
    ----------
    operator : (J,) number of each column's operator
    rhs : (J, n) right-hand sides
    start : (J, n) where to start, or (1, n) for all
    """

    operator: Ints
    rhs: Floats
    start: Floats

    def some(self, columns: Ints) -> "Systems":
        """These columns, in ascending order."""
        start = take(self.start, columns) if len(self.start) > 1 else self.start
        return Systems(take(self.operator, columns), take(self.rhs, columns), start)


class Limits(NamedTuple):
    """When a column ends: relative residual, number of steps; whether a Jacobi sweep follows."""

    rtol: float
    max_steps: int
    sweep: bool


def operators_of(prepared: PreparedLaplacian, q: Floats, free: Bools) -> Operators:
    """The operators with these diagonals on these nodes, or an `InputError`."""
    nullspace = nullspace_of(prepared, q, free)
    diagonal = prepared.degrees + q
    if np.any(free & ~nullspace & (diagonal <= 0)):
        raise InputError(INDEFINITE)
    free = free & (diagonal > 0)  # an isolated node without a diagonal is a nullspace of its own
    inverse = np.divide(1.0, diagonal, out=np.zeros(q.shape), where=free)
    return Operators(prepared, q, free, nullspace, diagonal, inverse)


def take(array: Any, numbers: Ints) -> Any:
    """Some rows, in ascending order; without a copy if these are all of them."""
    return array if len(numbers) == len(array) else array[numbers]
