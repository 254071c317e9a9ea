"""Singular operators: where the constants of a component are the nullspace."""

from typing import Any

import numpy as np
import numpy.typing as npt

from poise.arrays import Bools, Floats, Ints
from poise.errors import InputError
from poise.linalg.prepared import PreparedLaplacian

SINGULAR = (
    "the operator is singular (a component with no bound node and no diagonal): declare it with "
    "singular=True, or bind a node there"
)


def nullspace_of(prepared: PreparedLaplacian, q: Floats, free: Bools) -> Bools:
    """(K, n) mask of the nodes in components on which operator k maps the constants to zero."""
    held = ~free | (q > 0)
    nullspace = np.empty(held.shape, dtype=bool)
    for k, held_nodes in enumerate(held):
        is_held = np.bincount(prepared.components, weights=held_nodes) > 0
        nullspace[k] = ~is_held[prepared.components]
    return nullspace


def into_range(
    prepared: PreparedLaplacian, rhs: Floats, nullspace: Bools, operator: Ints, singular: bool
) -> Floats:
    """(J, n) right-hand sides in the range of their operators, without rounding errors.

    Refuses a singular operator that was not declared, and right-hand sides that are not in the
    range, whose sum over a component of the nullspace is more than rounding.
    """
    if not nullspace.any():
        return rhs
    if not singular:
        raise InputError(SINGULAR)
    rhs = rhs.copy()
    sizes = np.bincount(prepared.components)
    for j, row in enumerate(rhs):
        in_nullspace = nullspace[operator[j]]
        part = np.where(in_nullspace, row, 0.0)
        sums = np.bincount(prepared.components, weights=part)
        if np.abs(sums).max() > 1e-8 * max(np.abs(part).sum(), 1e-300):
            raise outside_range(j, sums)
        row -= np.where(in_nullspace, (sums / sizes)[prepared.components], 0.0)
    return rhs


def outside_range(column: int, sums: npt.NDArray[Any]) -> InputError:
    """The error for a right-hand side with these sums over the components of the nullspace."""
    worst = int(np.argmax(np.abs(sums)))
    return InputError(
        f"column {column} of rhs sums to {sums[worst]:.2e} over component {worst}, where the "
        "nullspace of the operator is the constants: subtract the component's mean first"
    )


def centre(prepared: PreparedLaplacian, X: Floats, in_nullspace: Bools) -> None:
    """Subtract the mean of each component in place where the constants are the nullspace."""
    sizes = np.bincount(prepared.components)
    for row, mask in zip(X, in_nullspace, strict=True):
        means = np.bincount(prepared.components, weights=row) / sizes
        row -= np.where(mask, means[prepared.components], 0.0)
