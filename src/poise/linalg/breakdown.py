"""Clear errors for dense factorisations that break down."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from poise.errors import ConvergenceError

TOO_WIDE = "the weights span too many orders of magnitude; raise or drop the smallest ones"


@contextmanager
def named_breakdown() -> Iterator[None]:
    """Turn NumPy's `LinAlgError` into a `ConvergenceError` that says what to do."""
    try:
        yield
    except np.linalg.LinAlgError as error:
        raise ConvergenceError(f"a matrix is singular to rounding ({error}): {TOO_WIDE}") from None
