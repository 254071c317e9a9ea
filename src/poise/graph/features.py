"""Features as a user gives them -> features that a graph can be built on."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils import check_array

from poise.errors import FeatureError

FloatArray: TypeAlias = npt.NDArray[np.floating[Any]]
Features: TypeAlias = FloatArray | sparse.csr_array


def check_features(X: Any, *, minimum: int = 2, name: str = "X") -> Features:
    """Return `X` as a finite float matrix, without a copy where none is needed.

    Parameters
    ----------
    X : array-like or sparse, shape (n, d)
        float32 stays float32 and float64 stays float64; integers of up to 16 bits, booleans and
        float16 become float32, which holds them exactly; every other number becomes float64.
    minimum : int
        The fewest rows allowed.
    name : str
        What the messages call it.

    Returns
    -------
    ndarray or csr_array, shape (n, d)
        A read-only view (the memory is the caller's) in C order, or sorted CSR.

    Raises
    ------
    FeatureError
        NaN or infinite values (how many, the first row), complex numbers, objects that are not
        numbers, fewer than two dimensions or more, too few rows, no columns.
    """
    if not sparse.issparse(X):
        # numpy's own refusal of ragged lists names neither the argument nor a remedy
        try:
            X = np.asarray(X)
        except ValueError as error:
            raise FeatureError(f"{name} cannot become a matrix: {_one_line(error)}") from None
    try:
        checked = check_array(
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
        raise FeatureError(_one_line(error)) from None
    _check_finite(checked, name)
    if sparse.issparse(checked):
        result = sparse.csr_array(checked)
        if not result.has_canonical_format:
            result = result.copy()
            result.sum_duplicates()
        return result
    view = checked.view()
    view.flags.writeable = False
    return view


def _float_type(dtype: Any) -> Any:
    """The float type that keeps every value of `dtype` and wastes no memory."""
    if isinstance(dtype, np.dtype):
        if dtype == np.float32 or dtype == np.float64:
            return dtype
        if dtype.kind in "biuf" and dtype.itemsize <= 2:
            return np.dtype(np.float32)
    return np.dtype(np.float64)


def _check_finite(X: Any, name: str) -> None:
    values = X.data if sparse.issparse(X) else X
    # the sum of finite values overflows rarely and a non-finite one always shows: one pass, no mask
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum(dtype=np.float64)):
            return
    bad = ~np.isfinite(values)
    count = int(np.count_nonzero(bad))
    if count == 0:
        return
    if sparse.issparse(X):
        first = int(np.searchsorted(X.indptr, np.flatnonzero(bad)[0], side="right")) - 1
    else:
        first = int(np.flatnonzero(bad.any(axis=1))[0])
    what = "NaN" if np.isnan(values[bad]).any() else "infinity"
    raise FeatureError(
        f"{name} contains {what}: {count} value(s) are not finite, the first in row {first}; "
        "drop or impute those rows"
    )


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
