"""The arguments of a solve as the solvers want them: columns as rows, and the operator of each."""

import numpy as np
import numpy.typing as npt

from poise.arrays import Bools, Floats, Ints
from poise.errors import InputError

RHS_NOT_FINITE = "rhs has NaN or infinite entries: a right-hand side must be finite"
DIAGONALS_NOT_FINITE = "diagonals have NaN or infinite entries: they must be finite"
START_NOT_FINITE = "start has NaN or infinite entries: it must be finite"


def columns_and_operators(
    n: int,
    rhs: npt.ArrayLike,
    diagonals: npt.ArrayLike | None,
    free: npt.ArrayLike | None,
    operator: npt.ArrayLike | None,
) -> tuple[Floats, Floats, Bools, Ints]:
    """Right-hand sides (J, n), diagonals `q` (K, n), free nodes (K, n), operators of columns (J,).

    Columns become rows: contiguous, as the compiled code wants them.
    """
    rhs_rows = as_rows(rhs, n, "rhs")
    q = as_rows(0.0 if diagonals is None else diagonals, n, "diagonals")
    free_rows = as_rows(True if free is None else free, n, "free") > 0
    shape = (max(len(q), len(free_rows)), n)
    which = operator_of_columns(operator, len(rhs_rows), shape[0])
    return rhs_rows, np.broadcast_to(q, shape), np.broadcast_to(free_rows, shape), which


def as_rows(values: npt.ArrayLike, n: int, name: str) -> Floats:
    """(n,) or (n, J) as contiguous (J, n)."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 0:
        return np.full((1, n), array)
    if array.ndim not in (1, 2) or len(array) != n:
        raise InputError(f"{name} has shape {np.shape(values)}: expected ({n},) or ({n}, columns)")
    return np.ascontiguousarray(np.atleast_2d(array.T))


def operator_of_columns(operator: npt.ArrayLike | None, n_columns: int, n_operators: int) -> Ints:
    """(J,) operator of each column: as passed in, or one for all, or one each."""
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
