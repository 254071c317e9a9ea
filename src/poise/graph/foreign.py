"""Convert matrices of other libraries to NumPy, without a copy where their memory allows it.

Nothing is imported here: whoever has an object of a library has already imported the library.
"""

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from poise.errors import FeatureError, GraphError

CPU_DEVICES = (1, 3)
"""DLPack's numbers of devices whose memory the CPU reads: its own, and CUDA's pinned memory."""


def as_numpy(X: Any, name: str = "X") -> Any:
    """`X` as an ndarray.

    Parameters
    ----------
    X : object
        A torch tensor on the CPU (gradients are left behind, bfloat16 becomes float32); an Arrow
        array of lists of one length, or a table of numbers; anything with ``__array__`` or
        ``__dlpack__``; sequences of numbers.
    name : str
        The name of `X` in messages.

    Raises
    ------
    FeatureError
        On a GPU, a sparse tensor, lists of different lengths, missing values.
    """
    torch, arrow = sys.modules.get("torch"), sys.modules.get("pyarrow")
    if torch is not None and isinstance(X, torch.Tensor):
        return _from_torch(torch, X, name)
    if arrow is not None and isinstance(X, arrow.Table | arrow.RecordBatch):
        return _from_table(arrow, X, name)
    if arrow is not None and isinstance(X, arrow.Array | arrow.ChunkedArray):
        return _from_arrow(arrow, X, name)
    if is_networkx(X):
        raise FeatureError(f"{name} is a networkx graph: give it to poise.Graph.from_weights")
    if isinstance(X, Iterator):
        raise FeatureError(
            f"{name} is a {type(X).__name__}, which can be read only once: give a list or an array"
        )
    try:
        if hasattr(X, "__dlpack__") and not hasattr(X, "__array__"):
            return np.from_dlpack(X)
        return np.asarray(X)
    # NumPy's messages name neither the argument nor a remedy
    except (ValueError, TypeError, RuntimeError, BufferError) as error:
        if hasattr(X, "__dlpack_device__") and int(X.__dlpack_device__()[0]) not in CPU_DEVICES:
            raise FeatureError(_on_device(name, type(X).__name__)) from None
        reason = one_line(error)
        if "inhomogeneous" in reason:
            reason = "its rows are of different lengths, give as many values in each"
        raise FeatureError(f"{name} cannot become a matrix: {reason}") from None


def is_networkx(value: Any) -> bool:
    """Whether this is a graph of networkx."""
    networkx = sys.modules.get("networkx")
    return networkx is not None and isinstance(value, networkx.Graph)


def matrix_of(weights: Any) -> Any:
    """The adjacency matrix of a networkx graph, nodes in its order; anything else as it is."""
    if not is_networkx(weights):
        return weights
    if not len(weights):
        raise GraphError("the networkx graph is empty: a graph needs at least one node")
    return sys.modules["networkx"].to_scipy_sparse_array(
        weights, weight="weight", dtype=float, format="csr"
    )


def one_line(error: Exception) -> str:
    """The message of an error without line breaks."""
    return " ".join(str(error).split())


def _on_device(name: str, what: str) -> str:
    return f"{name} is a {what} on a GPU or another device: copy it to the CPU first, e.g. X.cpu()"


def _from_torch(torch: Any, X: Any, name: str) -> Any:
    if X.device.type != "cpu":
        raise FeatureError(_on_device(name, f"tensor ({X.device})"))
    if X.layout != torch.strided:
        raise FeatureError(
            f"{name} is a tensor of layout {X.layout}: give X.to_dense(), or a SciPy sparse array"
        )
    X = X.detach()
    if X.dtype == torch.bfloat16:
        X = X.to(torch.float32)
    try:
        return X.numpy()
    except (TypeError, RuntimeError) as error:
        raise FeatureError(f"{name} cannot become a matrix: {one_line(error)}") from None


def _from_table(arrow: Any, X: Any, name: str) -> Any:
    """The columns of numbers side by side, or the one column of lists."""
    if X.num_columns == 1 and _is_list(arrow, X.column(0).type):
        return _from_arrow(arrow, X.column(0), name)
    columns = []
    for field, column in zip(X.schema, X.columns, strict=True):
        if not _is_number(arrow, field.type):
            remedy = f"select the columns of numbers, or give X[{field.name!r}] alone"
            raise FeatureError(
                f"{name} has a column {field.name!r} of type {field.type}: expected numbers; "
                f"{remedy if _is_list(arrow, field.type) else 'select the columns of numbers'}"
            )
        if column.null_count:
            raise FeatureError(
                f"{name} lacks {column.null_count} value(s) in its column {field.name!r}: drop or "
                "fill those rows"
            )
        columns.append(np.asarray(column))
    return np.column_stack(columns) if columns else np.empty((X.num_rows, 0))


def _from_arrow(arrow: Any, X: Any, name: str) -> Any:
    """One row per list; numbers without lists stay one-dimensional."""
    if isinstance(X, arrow.ChunkedArray):
        X = X.chunk(0) if X.num_chunks == 1 else X.combine_chunks()
    if isinstance(X, arrow.ExtensionArray):  # tensors of one shape
        X = X.storage
    if X.null_count:
        raise FeatureError(f"{name} lacks {X.null_count} row(s): drop those that are null")
    rows = len(X)
    if not _is_list(arrow, X.type):
        if not _is_number(arrow, X.type):
            raise FeatureError(f"{name} holds values of type {X.type}: expected lists of numbers")
        return X.to_numpy(zero_copy_only=False)
    if arrow.types.is_fixed_size_list(X.type):
        width = X.type.list_size
    else:
        lengths = X.value_lengths().to_numpy(zero_copy_only=False)
        width = int(lengths[0]) if rows else 0
        if (lengths != width).any():
            other = int(np.flatnonzero(lengths != width)[0])
            raise FeatureError(
                f"{name} holds lists of different lengths: row 0 has {width} values and row "
                f"{other} has {lengths[other]}; every row needs as many"
            )
    values = X.flatten()
    if not _is_number(arrow, values.type):
        raise FeatureError(f"{name} holds lists of {values.type}: expected lists of numbers")
    if values.null_count:
        raise FeatureError(f"{name} lacks {values.null_count} value(s): drop or fill those rows")
    return values.to_numpy(zero_copy_only=False).reshape(rows, width)


def _is_list(arrow: Any, kind: Any) -> bool:
    types = arrow.types
    return bool(
        types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    ) or isinstance(kind, arrow.FixedShapeTensorType)


def _is_number(arrow: Any, kind: Any) -> bool:
    types = arrow.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))
