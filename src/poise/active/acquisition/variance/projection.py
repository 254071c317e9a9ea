"""Random projections of the rows of a matrix, through changes of low rank."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from poise.arrays import Floats

#: Rows that are converted at once: bounds the memory.
BLOCK_ROWS = 4_096


@dataclass(frozen=True, eq=False)
class Projection:
    """``Z = base + sum_j directions_j rows_j^T`` and the squared norms of the rows of ``S Z``.

    The base is never copied or written: a change of rank one costs one pass over it and two
    vectors, so that many states of the same matrix can be kept.

    Attributes
    ----------
    base : (n, q), single precision will do: its errors are far below those of the projection
    norms : (n,) squared norms of the rows of ``S Z``
    S : (n, n) sparse, or None for the identity
    """

    base: np.ndarray
    norms: Floats
    S: sparse.csr_array | None = None
    directions: tuple[Floats, ...] = ()
    rows: tuple[Floats, ...] = ()

    @classmethod
    def of(cls, base: np.ndarray, S: sparse.csr_array | None = None) -> "Projection":
        norms = np.empty(len(base))
        for first in range(0, len(base), BLOCK_ROWS):
            part = slice(first, first + BLOCK_ROWS)
            block = base[part] if S is None else S[part] @ base
            norms[part] = np.einsum("ij,ij->i", block, block, dtype=np.float64)
        return cls(base, norms, S)

    def row(self, k: int) -> Floats:
        """Row `k` of Z."""
        row: Floats = self.base[k].astype(np.float64)
        for direction, change in zip(self.directions, self.rows, strict=True):
            row += direction[k] * change
        return row

    def changed(self, direction: Floats, row: Floats) -> "Projection":
        """``Z + direction row^T``."""
        along = np.empty(len(self.base))
        for first in range(0, len(along), BLOCK_ROWS):
            # In double precision: norms may fall from 1e5 to 1 when a component gets its first
            # answer, and single precision would leave noise of that size.
            part = slice(first, first + BLOCK_ROWS)
            along[part] = self.base[part].astype(np.float64) @ row
        for earlier, other in zip(self.directions, self.rows, strict=True):
            along += earlier * (other @ row)
        change = direction
        if self.S is not None:
            along, change = np.asarray(self.S @ along), np.asarray(self.S @ direction)
        norms = self.norms + change * (2.0 * along + change * (row @ row))
        return Projection(
            self.base,
            np.maximum(norms, 0.0),  # rounding may leave less than nothing
            self.S,
            (*self.directions, direction),
            (*self.rows, row),
        )
