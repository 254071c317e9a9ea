"""The product of the distributed weights with several columns, by PETSc.

PETSc's matrix keeps the rows of a rank in two parts, its own columns and those of other ranks, and
fetches only the entries of other ranks that its rows need. Several columns are a dense PETSc
matrix: one pass over the weights and one message per neighbour serve all of them.
"""

from typing import Any

import numpy as np

from poise.arrays import Floats, Ints
from poise.distributed.ranks import Ranks, petsc
from poise.distributed.shards import Rows
from poise.errors import GraphError

#: Columns that share one pass over the weights; more need more memory and save little.
PACKET_COLUMNS = 8


class Product:
    """``W X`` for the rows of each rank.

    Parameters
    ----------
    ranks : Ranks
    first, n_nodes : row of the whole matrix at which the rows of this rank begin, and number of all
        rows
    rows : rows of this rank
    """

    def __init__(self, ranks: Ranks, first: int, n_nodes: int, rows: Rows) -> None:
        PETSc = petsc()
        self._petsc, self._ranks = PETSc, ranks
        integer = np.dtype(PETSc.IntType)
        if integer.itemsize < 8 and max(n_nodes, rows.data.size) > np.iinfo(integer).max:
            raise GraphError(
                f"this PETSc counts with {8 * integer.itemsize} bits, which is too few for "
                f"{n_nodes} nodes: build it with --with-64-bit-indices=1"
            )
        self.n_rows = rows.nodes.size
        self._sizes = (self.n_rows, n_nodes)
        parts = (
            rows.indptr.astype(integer, copy=False),
            rows.indices.astype(integer, copy=False),
            rows.data,
        )
        self.matrix = PETSc.Mat().createAIJ(
            size=(self._sizes, self._sizes), csr=parts, comm=ranks.comm
        )
        self._buffers: dict[int, tuple[Any, Any]] = {}

    def buffers(self, n_columns: int) -> tuple[Floats, Floats]:
        """The two (columns, rows) arrays that `run` reads and writes for so many columns; kept."""
        if n_columns not in self._buffers:
            self._buffers[n_columns] = self._make(n_columns)
        operand, result = self._buffers[n_columns]
        if n_columns == 1:
            return operand.getArray()[None, :], result.getArray()[None, :]
        return operand.getDenseArray().T, result.getDenseArray().T

    def _make(self, n_columns: int) -> tuple[Any, Any]:
        if n_columns == 1:
            operand = self._petsc.Vec().createMPI(self._sizes, comm=self._ranks.comm)
            return operand, operand.duplicate()
        operand = self._petsc.Mat().createDense(
            size=(self._sizes, (None, n_columns)), comm=self._ranks.comm
        )
        operand.setUp()
        operand.assemble()
        return operand, self.matrix.matMult(operand)

    def run(self, n_columns: int) -> None:
        """Write the product of the first buffer to the second."""
        operand, result = self._buffers[n_columns]
        if n_columns == 1:
            self.matrix.mult(operand, result)
        else:
            self.matrix.matMult(operand, result)
        self._ranks.watchdog.beat()

    def __call__(self, columns: Floats) -> Floats:
        """``W x`` of a (rows,) array, or of each column of (rows, J)."""
        if columns.ndim == 2:
            return np.stack([self(x) for x in columns.T], axis=1)
        operand, result = self.buffers(1)
        operand[0] = columns
        self.run(1)
        return np.array(result[0])


def ghosts(rows: Rows, first: int) -> Ints:
    """Rows of other ranks whose values the rows of this rank need, ascending, each once."""
    indices = np.asarray(rows.indices)
    others = indices[(indices < first) | (indices >= first + rows.nodes.size)]
    return np.unique(others)
