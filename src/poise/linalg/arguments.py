"""What a solve is given, as the solvers want it: columns as rows, and the operator of each."""

import numpy as np
import numpy.typing as npt

from poise.arrays import Floats, Ints
from poise.errors import InputError


def as_rows(values: npt.ArrayLike, n: int, name: str) -> Floats:
    """(n,) or (n, J) as contiguous (J, n)."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 0:
        return np.full((1, n), array)
    if array.ndim not in (1, 2) or len(array) != n:
        raise InputError(f"{name} has shape {np.shape(values)}: expected ({n},) or ({n}, columns)")
    return np.ascontiguousarray(np.atleast_2d(array.T))


def operator_of_columns(operator: npt.ArrayLike | None, n_columns: int, n_operators: int) -> Ints:
    """(J,) the operator of each column: as said, one for all, or one each."""
    if operator is None:
        if n_operators not in (1, n_columns):
            raise InputError(
                f"{n_operators} operators for {n_columns} columns: say which with operator="
            )
        return np.arange(n_columns) if n_operators > 1 else np.zeros(n_columns, dtype=np.int64)
    which = np.asarray(operator, dtype=np.int64)
    if which.shape != (n_columns,) or np.any((which < 0) | (which >= n_operators)):
        raise InputError(
            f"operator must hold {n_columns} numbers from 0 to {n_operators - 1}, got {operator!r}"
        )
    return which
