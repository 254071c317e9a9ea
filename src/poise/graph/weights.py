"""Weight matrices: checked, and converted to the one form that all other code relies on."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from poise.errors import GraphError
from poise.graph.features import is_sparse
from poise.graph.foreign import matrix_of
from poise.graph.kernel import Kernel, Symmetrise
from poise.graph.neighbours import Neighbours

SYMMETRY_TOLERANCE = 1e-6
"""Largest |w_ij - w_ji|, relative to the largest weight, that counts as rounding (float32)."""
UNSCALED_MAX, UNSCALED_MIN = 1e100, 1e-100
"""If the largest weight lies outside these bounds, products of weights would overflow or underflow,
and all weights are multiplied by one power of two."""


def canonical_weights(weights: Any) -> sparse.csr_array:
    """Validate `weights` and return them in canonical form.

    Canonical: float64 CSR, exactly symmetric, zero diagonal, finite, non-negative, sorted int32
    indices, no explicit zeros, arrays read-only. Entries given twice are added, as SciPy does.
    If the largest weight is above `UNSCALED_MAX` or below `UNSCALED_MIN`, all weights are rescaled
    so that it is about 1.

    Parameters
    ----------
    weights : sparse of any format, dense array-like, shape (n, n), or a networkx graph

    Raises
    ------
    GraphError
        Not square, empty, not numeric, NaN or infinite, negative, a non-zero diagonal, or
        asymmetric beyond `SYMMETRY_TOLERANCE`; too large or too small for one scale.
    """
    weights = matrix_of(weights)
    W = _as_csr(weights)
    if W.nnz >= np.iinfo(np.int32).max:
        raise GraphError(f"the weights have {W.nnz} entries: at most 2^31 - 1 fit, lower k")
    W.sum_duplicates()
    _check_values(W, "W.setdiag(0)" if is_sparse(weights) else "np.fill_diagonal(W, 0)")
    W.eliminate_zeros()
    _rescale(W)
    W = _symmetric(W)
    W.sort_indices()
    parts = (W.data, W.indices.astype(np.int32, copy=False), W.indptr.astype(np.int32, copy=False))
    for part in parts:
        part.flags.writeable = False
    result = sparse.csr_array(parts, shape=W.shape)
    result.has_canonical_format = True
    return result


def already_canonical(W: sparse.csr_array) -> sparse.csr_array:
    """`W` itself, if it is in the form that `canonical_weights` returns; else an error.

    For large stored matrices: nothing is copied or sorted. Symmetry is tested by the products of
    `W` with a random vector from both sides.
    """
    _check_values(W, "W.setdiag(0)")
    x = np.random.default_rng(0).random(W.shape[0])
    right, left = W @ x, W.T @ x
    small = {W.indices.dtype, W.indptr.dtype} == {np.dtype(np.int32)}
    sorted_once = small and W.data.dtype == np.float64 and W.has_canonical_format
    if not sorted_once or not W.data.all() or not np.allclose(right, left, rtol=1e-9, atol=0):
        raise GraphError("the weights are not in the form of a saved graph: build the graph again")
    for part in (W.data, W.indices, W.indptr):
        part.flags.writeable = False
    return W


def knn_weights(
    neighbours: Neighbours, kernel: Kernel, scale: npt.NDArray[np.float64] | None = None
) -> sparse.csr_array:
    """Directed weights: row i holds the weights of the neighbours that node i lists."""
    n, k = neighbours.indices.shape
    if scale is None:
        scale = neighbours.spacing().scale
    weights = np.empty((n, k))
    for start in range(0, n, 65_536):  # the kernel's temporaries stay small
        rows = slice(start, start + 65_536)
        near = neighbours.indices[rows]
        weights[rows] = kernel(neighbours.distances[rows], scale[rows, None], scale[near])
    indptr = np.arange(0, n * k + 1, k)
    columns = neighbours.indices.ravel()
    return sparse.csr_array((weights.ravel(), columns, indptr), shape=(n, n))


def symmetrised(W: sparse.csr_array, how: Symmetrise) -> sparse.csr_array:
    """One weight per pair from its two directions: their mean, the larger or the smaller.

    "min" keeps an edge only where each end lists the other (the mutual graph).
    """
    return combined(W, W.T.tocsr(), how)


def combined(
    W: sparse.csr_array, transposed: sparse.csr_array, how: Symmetrise
) -> sparse.csr_array:
    """Some rows of directed weights and the same rows of their transpose, made symmetric."""
    if how == "mean":
        result = W + transposed
        result.data *= 0.5
        return sparse.csr_array(result)
    if how == "max":
        return sparse.csr_array(W.maximum(transposed))
    return sparse.csr_array(W.minimum(transposed))


def _as_csr(weights: Any) -> sparse.csr_array:
    """A float64 CSR copy."""
    try:
        matrix: Any = weights if is_sparse(weights) else np.asarray(weights)
    except (ValueError, TypeError):  # rows of different lengths
        raise GraphError(
            f"the weights, a {type(weights).__name__}, cannot become a matrix: expected (n, n) "
            "numbers, one row per node"
        ) from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise GraphError(
            f"the weights have shape {matrix.shape}: expected a square matrix, one row per node"
        )
    if matrix.shape[0] == 0:
        raise GraphError("the weights are empty: a graph needs at least one node")
    if matrix.dtype.kind not in "biuf":
        raise GraphError(
            f"the weights have type {matrix.dtype}: expected real numbers (float, int or bool)"
        )
    result: sparse.csr_array = sparse.csr_array(matrix, dtype=np.float64, copy=True)
    try:
        result.check_format(full_check=True)  # an index out of range would be read as memory
    except ValueError as error:
        raise GraphError(f"the weights are not a valid sparse matrix: {error}") from None
    return result


def _check_values(W: sparse.csr_array, without_diagonal: str) -> None:
    finite = np.isfinite(W.data)
    if not finite.all():
        row = _row_of(W, ~finite)
        raise GraphError(
            f"the weights contain NaN or infinity: {int((~finite).sum())} value(s), the first in "
            f"row {row}; every weight must be a finite number"
        )
    negative = W.data < 0
    if negative.any():
        raise GraphError(
            f"{int(negative.sum())} weight(s) are negative, the first in row "
            f"{_row_of(W, negative)}: weights are similarities, >= 0 (0 = no edge)"
        )
    diagonal = np.count_nonzero(W.diagonal())
    if diagonal:
        raise GraphError(
            f"{diagonal} node(s) have a weight to themselves: the diagonal must be zero, "
            f"call {without_diagonal} first"
        )


def _rescale(W: sparse.csr_array) -> None:
    """Multiply by a power of two where the largest weight is far from 1."""
    largest, smallest = W.data.max(initial=0.0), W.data.min(initial=np.inf)
    if not W.nnz or UNSCALED_MIN <= largest <= UNSCALED_MAX:
        return
    exponent = int(np.frexp(largest)[1])
    W.data[:] = np.ldexp(W.data, -exponent)
    if not W.data.all():
        raise GraphError(
            f"the weights range from {smallest:.3g} to {largest:.3g}, too wide for one graph: drop "
            "the smallest ones, or take a root of all"
        )


def _symmetric(W: sparse.csr_array) -> sparse.csr_array:
    """`W` itself if exactly symmetric, its symmetric part if the rest is rounding."""
    if W.nnz == 0:
        return W
    transposed = W.T.tocsr()
    transposed.sort_indices()
    same_pattern = np.array_equal(W.indptr, transposed.indptr) and np.array_equal(
        W.indices, transposed.indices
    )
    if same_pattern and np.array_equal(W.data, transposed.data):
        return W
    difference = abs(W - transposed)
    if difference.max() > SYMMETRY_TOLERANCE * W.data.max():
        row = _row_of(difference, difference.data == difference.data.max())
        raise GraphError(
            f"the weights are not symmetric: w_ij and w_ji differ by up to "
            f"{difference.max():.3g} (row {row}); symmetrise them first, e.g. (W + W.T) / 2"
        )
    result = symmetrised(W, "mean")
    result.eliminate_zeros()
    return result


def _row_of(W: sparse.csr_array, mask: npt.NDArray[np.bool_]) -> int:
    """The row of the first stored entry that `mask` marks."""
    return int(np.count_nonzero(W.indptr <= np.flatnonzero(mask)[0])) - 1
