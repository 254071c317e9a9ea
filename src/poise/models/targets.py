"""The target vector of scikit-learn, -1 for "not labelled" -> labels."""

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import column_or_1d

from poise.arrays import Ints
from poise.errors import LabelError
from poise.models.labels import Labels, as_label, check_classes

EXPECTED = "text, whole numbers or truth values"


def read_targets(y: Any, n_nodes: int) -> tuple[Labels, npt.NDArray[Any]]:
    """Labels with codes as classes, and the (C,) array of classes; see `read_classes`."""
    codes, classes = read_classes(y, n_nodes)
    nodes = np.flatnonzero(codes >= 0)
    return Labels(nodes, codes[nodes], tuple(range(len(classes)))), classes


def read_classes(y: Any, n_nodes: int, name: str = "y") -> tuple[Ints, npt.NDArray[Any]]:
    """(n,) codes, -1 where not labelled, and the (C,) array of classes, ascending.

    Not labelled are -1, NaN, None and pandas' NA; among text also "-1", what NumPy makes of -1.
    Whole numbers may come as floats.

    Raises
    ------
    LabelError
        A `y` of another length or shape, with nothing labelled, of numbers that are no classes
        (1.5), or that mixes kinds of classes.

    Warns
    -----
    UserWarning
        Where `y` holds nothing but -1 and 1, which other libraries take for two classes.
    """
    values = _one_dimension(y, n_nodes, name)
    known = ~_unlabelled(values)
    if not known.any():
        raise LabelError(
            f"there are no labels: every entry of {name} is -1 or missing, label at least one point"
        )
    classes, positions = np.unique(_of_one_kind(values[known], name), return_inverse=True)
    if str(classes[0]) in ("1", "1.0") and len(classes) == 1 and not known.all():
        _warn_if_signs(values[~known], name)
    codes = np.full(n_nodes, -1, dtype=np.int64)
    codes[known] = positions
    return codes, classes


def _one_dimension(y: Any, n_nodes: int, name: str) -> npt.NDArray[Any]:
    if y is None:
        raise LabelError(
            f"fit requires y to be passed, but the target {name} is None: pass the classes, -1 for "
            "points that are not labelled"
        )
    # NumPy would make text of a list with text and numbers; pandas' missing values need objects.
    kind = getattr(y, "dtype", None)
    as_objects = isinstance(y, list | tuple) or not (kind is None or isinstance(kind, np.dtype))
    try:
        values = np.array(y, dtype=object) if as_objects else np.asarray(y)
    except ValueError:  # rows of different lengths
        values = np.empty((0, 0))
    if values.ndim == 2 and values.shape[1] == 1:
        values = column_or_1d(values, warn=True)
    if values.ndim != 1:
        raise LabelError(
            f"{name} has shape {values.shape}: expected a 1d array, one class per point, "
            f"({n_nodes},)"
        )
    if len(values) != n_nodes:
        raise LabelError(
            f"{name} has {len(values)} entries for {n_nodes} points: give one class per point, -1 "
            "for those that are not labelled"
        )
    return values


def _unlabelled(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    if values.dtype.kind in "biuf":
        return np.asarray((values == -1) | (values != values))
    return np.array([_is_missing(value) for value in values], dtype=bool)


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value) or value in (-1, "-1")
    except (TypeError, ValueError):  # pandas.NA has no truth value
        return type(value).__name__ == "NAType"


def _of_one_kind(values: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    """Classes of one kind: text, whole numbers, which may be floats, or truth values."""
    kind = values.dtype.kind
    if kind == "f":
        if np.isinf(values).any():
            raise LabelError(f"{name} contains infinity: classes are {EXPECTED}")
        broken = values[values != np.floor(values)]
        if broken.size:
            raise LabelError(
                f"Unknown label type: {name} holds {broken[0]}, and classes are {EXPECTED}; for "
                "classes out of numbers cut them into bins, e.g. with np.digitize"
            )
        return values
    if kind in "biuUT":
        return values
    if kind != "O":
        remedy = "decode it first, e.g. y.astype(str)" if kind == "S" else "convert it first"
        what = "bytes" if kind == "S" else f"values of type {values.dtype}"
        raise LabelError(f"{name} holds {what}, and classes are {EXPECTED}: {remedy}")
    if all(isinstance(value, float | np.floating) for value in values):
        return _of_one_kind(values.astype(np.float64), name).astype(np.int64)
    classes = [as_label(_whole(value)) for value in values]
    check_classes(classes)
    if len({isinstance(name, str) for name in classes}) > 1:
        raise LabelError("the classes mix text and numbers: use one kind, for example str(y)")
    return np.array(classes, dtype=None if isinstance(classes[0], str) else type(classes[0]))


def _whole(value: Any) -> Any:
    """A float that is a whole number as an int."""
    whole = isinstance(value, float | np.floating) and float(value).is_integer()
    return int(value) if whole else value


def _warn_if_signs(missing: npt.NDArray[Any], name: str) -> None:
    """Warn where points that are not labelled say -1 beside the one class 1."""
    if any(type(value).__name__ != "NAType" and value in (-1, "-1") for value in missing):
        warnings.warn(
            f"{name} holds no class but 1 and -1 for 'not labelled': if -1 is a class, give it "
            "another name, for example np.where(y > 0, 'yes', 'no'), and None for points that are "
            "not labelled",
            UserWarning,
            stacklevel=4,
        )
