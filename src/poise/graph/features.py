"""Check the features of a user and convert them to features that a graph can be built on."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils import check_array

from poise.errors import FeatureError
from poise.graph.foreign import as_numpy, one_line

FloatArray: TypeAlias = npt.NDArray[np.floating[Any]]
Features: TypeAlias = FloatArray | sparse.csr_array

MAX_MAGNITUDE = 1e150
"""Largest magnitude allowed: sums of squares of such values are still finite."""


def is_sparse(X: Any) -> bool:
    """Whether `X` is one of SciPy's sparse arrays or matrices."""
    return bool(sparse.issparse(X))


def check_features(X: Any, *, minimum: int = 2, name: str = "X") -> Features:
    """Return `X` as a finite float matrix, without a copy where none is needed.

    Parameters
    ----------
    X : array-like or sparse, shape (n, d)
        Also a tensor, an Arrow array or table: see `as_numpy`. float32 stays float32 and float64
        stays float64; integers of up to 16 bits, booleans, float16 and bfloat16 become float32,
        which holds them exactly; every other number becomes float64.
    minimum : int
        The fewest rows allowed.
    name : str
        The name of `X` in messages.

    Returns
    -------
    ndarray or csr_array, shape (n, d)
        A read-only view (the memory is the caller's) in C order, or sorted CSR.

    Raises
    ------
    FeatureError
        NaN or infinite values (how many, the first row), complex numbers, objects that are not
        numbers, other than two dimensions, too few rows, no columns, values beyond `MAX_MAGNITUDE`.
    """
    X = _with_small_indices(X, name) if is_sparse(X) else as_numpy(X, name)
    _check_kind(X, name)
    try:
        checked: Any = check_array(
            X,
            accept_sparse="csr",
            dtype=_float_type(getattr(X, "dtype", None)),
            order="C",
            ensure_all_finite=False,
            ensure_min_samples=minimum,
            input_name=name,
            accept_large_sparse=False,
        )
    except (ValueError, TypeError) as error:
        reason = one_line(error)
        if "could not convert" in reason or "argument must be" in reason:
            reason = f"{name} holds values that are not numbers ({reason}): turn texts and images "
            reason += "into features first, for example with poise.embed"
        raise FeatureError(reason) from None
    _check_values(checked, name)
    if is_sparse(checked):
        result: sparse.csr_array = sparse.csr_array(checked)
        if not result.has_canonical_format:
            result = result.copy()
            result.sum_duplicates()
        return result
    view: FloatArray = checked.view()
    view.flags.writeable = False
    return view


def _check_kind(X: Any, name: str) -> None:
    """Refuse anything but a matrix of real numbers, before scikit-learn does so at length."""
    if X.ndim != 2:
        remedy = (
            "Reshape your data: X.reshape(-1, 1) for a single feature, X.reshape(1, -1) for a "
            "single point"
            if X.ndim == 1 and X.dtype.kind != "O"
            else "Give a table of numbers"
        )
        raise FeatureError(
            f"{name} has shape {X.shape}: expected a 2D array, one row per point. {remedy}"
        )
    if X.dtype.kind == "c":
        raise FeatureError(
            f"Complex data not supported: {name} holds complex numbers; give their real and "
            "imaginary parts, or moduli, as features"
        )


def _with_small_indices(X: Any, name: str) -> Any:
    """A sparse matrix as CSR with 32-bit indices, as all later steps need."""
    rows = sparse.csr_array(X) if X.ndim == 2 else X
    if X.ndim != 2 or rows.indices.dtype == rows.indptr.dtype == np.int32:
        return X if X.ndim != 2 else rows
    if max(rows.nnz, *rows.shape) >= np.iinfo(np.int32).max:
        raise FeatureError(
            f"{name} has {rows.nnz} stored values and shape {rows.shape}: at most 2^31 - 1 of each "
            "fit, give fewer features"
        )
    parts = (rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int32))
    return sparse.csr_array(parts, shape=rows.shape)


def _float_type(dtype: Any) -> Any:
    """The float type that keeps every value of `dtype` and wastes no memory."""
    if isinstance(dtype, np.dtype):
        if dtype == np.float32 or dtype == np.float64:
            return dtype
        if (dtype.kind in "biuf" or dtype.name == "bfloat16") and dtype.itemsize <= 2:
            return np.dtype(np.float32)
    return np.dtype(np.float64)


def _check_values(X: Any, name: str) -> None:
    values = X.data if is_sparse(X) else X
    if values.size == 0:
        return
    largest = max(float(values.max()), -float(values.min()))  # NaN wins both
    if largest <= MAX_MAGNITUDE:
        return
    if np.isfinite(largest):
        raise FeatureError(
            f"{name} holds values as large as {largest:.3g}, whose squares are not finite: rescale "
            "the features, e.g. with StandardScaler"
        )
    bad = ~np.isfinite(values)
    if is_sparse(X):
        first = int(np.count_nonzero(X.indptr <= np.flatnonzero(bad)[0])) - 1
    else:
        first = int(np.flatnonzero(bad.any(axis=1))[0])
    what = "NaN" if np.isnan(values[bad]).any() else "infinity"
    raise FeatureError(
        f"{name} contains {what}: {np.count_nonzero(bad)} value(s) are not finite, the first in "
        f"row {first}; drop or impute those rows"
    )
