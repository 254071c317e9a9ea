"""Everything about a Laplacian that is computed once and used by every solve.

Prepare once, solve many times. Nodes are reordered so that neighbours are close in memory, and so
that each group of the coarse space is a contiguous range of rows. One thread handles a range, so
that sums do not depend on the number of threads or columns.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from poise.arrays import Floats, Ints

#: Rows per range outside the coarse groups.
PLAIN_RANGE_ROWS = 256
#: Rows of a range are sorted by length within blocks of this size: still near each other in memory.
SORTED_ROWS = 128


@dataclass
class Cache:
    """What was computed from a Laplacian and is kept with it.

    Attributes
    ----------
    stiff : see `poise.linalg.simultaneous.is_stiff`; None before the first call
    spectra : eigenvalues and eigenvectors by kind and seed, see `poise.linalg.spectrum`
    """

    stiff: bool | None = None
    spectra: dict[tuple[str, int], tuple[Floats, Floats]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class PreparedLaplacian:
    """The Laplacian ``L = diag(d) - W`` of one graph in the layout of the solver.

    Attributes
    ----------
    weights : (n, n) csr array, the graph's `W` in its own order
    degrees : (n,) array, ``d = W 1``
    components : (n,) component number of each node
    order : (n,) node at each row of the solver's layout; `position` is its inverse
    group : (n,) coarse group of each node, or -1
    n_groups : number of coarse groups
    ranges : row offsets of the ranges in the solver's layout: coarse groups first, then the rest
    indptr, indices, data : the reordered `W`, with unsigned indices (numba then needs no
        wrap-around test in the innermost loop: twice as fast here)
    cache : what later calls have computed
    """

    weights: sparse.csr_array
    degrees: Floats
    components: Ints
    order: Ints
    position: Ints
    group: Ints
    n_groups: int
    ranges: Ints
    indptr: npt.NDArray[np.uint32]
    indices: npt.NDArray[np.uint32]
    data: Floats
    cache: Cache = field(default_factory=Cache, repr=False)

    @property
    def n(self) -> int:
        return len(self.degrees)

    def product(self, X: Floats) -> Floats:
        """``L X`` in the graph's own order."""
        shape = (-1,) + (1,) * (X.ndim - 1)
        return np.asarray(self.degrees.reshape(shape) * X - self.weights @ X)

    @cached_property
    def single(self) -> npt.NDArray[np.float32]:
        """`data` in single precision, for solves that need no more."""
        return self.data.astype(np.float32)

    @cached_property
    def coarse(self) -> Floats:
        """(m, m) matrix ``Z^T L Z``, `Z` the indicators of the coarse groups."""
        m = self.n_groups
        grouped = self.group >= 0
        rows = np.repeat(self.group, np.diff(self.weights.indptr))
        columns = self.group[self.weights.indices]
        # A group never touches another component, so both ends of an edge have a group or neither.
        inside = rows >= 0
        flat = np.bincount(
            rows[inside] * m + columns[inside], weights=self.weights.data[inside], minlength=m * m
        )
        E: Floats = -flat.reshape(m, m).astype(np.float64, copy=False)
        E[np.diag_indices(m)] += np.bincount(
            self.group[grouped], weights=self.degrees[grouped], minlength=m
        )
        return E

    @cached_property
    def coarse_inverse(self) -> Floats:
        """Inverse of `coarse` on vectors that sum to zero over each component.

        `coarse` is singular, with one constant vector per component; adding a multiple of its
        projector changes nothing on the right-hand sides that a singular system may have.
        """
        m = self.n_groups
        component = np.zeros(m, dtype=np.int64)
        component[self.group[self.group >= 0]] = self.components[self.group >= 0]
        same = component[:, None] == component[None, :]
        # Degrees, not the trace: that is rounding alone where every component is one group.
        scale = self.degrees[self.group >= 0].sum() / max(m, 1)
        return np.asarray(np.linalg.inv(self.coarse + (scale or 1.0) * same / max(m, 1)))

    @cached_property
    def factor(self) -> Any:
        """Approximate Cholesky factor of `L` (package approx-chol), computed at the first use."""
        import approx_chol

        L = sparse.csr_array(sparse.diags_array(self.degrees) - self.weights)
        L.sort_indices()
        return approx_chol.factorize(sparse.csr_matrix(L), approx_chol.Config(seed=0))


def prepare(
    weights: sparse.csr_array, components: npt.NDArray[np.int64] | None = None
) -> PreparedLaplacian:
    """Prepare the Laplacian of symmetric non-negative `weights` (zero diagonal) for solves."""
    if components is None:
        components = connected_components(weights, directed=False)[1].astype(np.int64)
    components = np.asarray(components, dtype=np.int64)
    n = weights.shape[0]
    from poise.linalg.aggregates import aggregate  # numba: not imported with the package

    group, order = aggregate(weights, components)
    n_groups = int(group.max(initial=-1)) + 1
    grouped = np.bincount(group[group >= 0], minlength=n_groups)
    ends = np.cumsum(grouped)
    start_of_rest = int(ends[-1]) if n_groups else 0
    rest = np.arange(start_of_rest, n, PLAIN_RANGE_ROWS)[1:]
    ranges = np.unique(np.concatenate([[0], ends, rest, [n]])).astype(np.int64)
    order = order[_by_length(np.diff(weights.indptr)[order], ranges)]
    position = np.empty(n, dtype=np.int64)
    position[order] = np.arange(n)
    # Reordering by COO keeps every step O(nnz).
    coo = weights.tocoo()
    reordered = sparse.csr_array(
        (coo.data, (position[coo.row], position[coo.col])), shape=weights.shape
    )
    reordered.sort_indices()
    return PreparedLaplacian(
        weights=weights,
        degrees=np.asarray(weights.sum(axis=1), dtype=np.float64),
        components=components,
        order=order,
        position=position,
        group=group,
        n_groups=n_groups,
        ranges=ranges,
        indptr=reordered.indptr.astype(np.uint32),
        indices=reordered.indices.astype(np.uint32),
        data=reordered.data.astype(np.float64),
    )


def _by_length(lengths: Ints, ranges: Ints) -> Ints:
    """An order of rows in which those of a block have ascending lengths.

    The processor can then foresee where rows end: a product takes six to nine tenths of the time
    (docs/decisions/compiled-kernel.md).
    """
    rows = np.arange(len(lengths))
    starts = np.repeat(ranges[:-1], np.diff(ranges))
    # Blocks begin with their ranges; numbers of rows are larger than numbers of blocks.
    blocks = starts + (rows - starts) // SORTED_ROWS
    return np.lexsort((lengths, blocks))
