"""The result of a solve: values, and for each column whether to trust them."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from poise.arrays import Floats, Ints
from poise.errors import ConvergenceError


class Status(IntEnum):
    """Outcome of one column of a solve; `remedy` says what to do about it."""

    CONVERGED = 0
    MAX_STEPS = 1
    BREAKDOWN = 2

    @property
    def remedy(self) -> str:
        return {
            Status.CONVERGED: "the tolerance was reached",
            Status.MAX_STEPS: (
                "the step limit was reached before the tolerance: raise max_steps or rtol, "
                "or solve with preconditioner='approx-chol'"
            ),
            Status.BREAKDOWN: (
                "the operator is not positive definite on this column, or the right-hand side "
                "is not finite: check the weights, the diagonal and the right-hand side"
            ),
        }[self]


@dataclass(frozen=True)
class Solution:
    """Columns of solutions with their diagnostics.

    Attributes
    ----------
    value : (n, J) array
    status : (J,) array of `Status` values
    steps : (J,) array, iterations of each column
    residual : (J,) array, final residual relative to the right-hand side, both divided by the
        diagonal
    """

    value: Floats
    status: Ints
    steps: Ints
    residual: Floats

    @property
    def converged(self) -> bool:
        return bool(np.all(self.status == Status.CONVERGED))

    def require(self) -> "Solution":
        """This solution, or a `ConvergenceError` that names the worst column and the remedy."""
        if not self.converged:
            column = int(np.argmax(self.status))
            raise ConvergenceError(
                f"column {column} of the solve ended after {self.steps[column]} steps with "
                f"relative residual {self.residual[column]:.1e}: "
                f"{Status(self.status[column]).remedy}"
            )
        return self
