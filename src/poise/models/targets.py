"""The target vector of scikit-learn, -1 for "not labelled" -> labels."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, column_or_1d

from poise.errors import LabelError
from poise.models.labels import Labels, as_label, check_classes


def read_targets(y: Any, n_nodes: int) -> tuple[Labels, npt.NDArray[Any]]:
    """Labels with codes as classes, and the (C,) array of classes, ascending.

    Not labelled are -1; in arrays of text or objects also "-1" (what NumPy makes of -1 among
    text), None, and NaN (what pandas makes of a missing value).

    Raises
    ------
    LabelError
        A `y` of another length or shape, with nothing labelled, of numbers that are no classes
        (1.5, NaN), or that mixes kinds of classes.
    """
    if y is None:
        raise LabelError(
            "fit requires y to be passed, but the target y is None: pass the classes, -1 for "
            "points that are not labelled"
        )
    try:
        values = column_or_1d(y, warn=True)
        if len(values) != n_nodes:
            raise LabelError(
                f"y has {len(values)} entries for {n_nodes} points: give one class per point, -1 "
                "for those that are not labelled"
            )
        assert_all_finite(values if values.dtype.kind == "f" else values[:0], input_name="y")
        known = _labelled(values)
        nodes = np.flatnonzero(known)
        if len(nodes) == 0:
            raise LabelError(
                "there are no labels: every entry of y is -1, label at least one point"
            )
        classes, codes = np.unique(_of_one_kind(values[known]), return_inverse=True)
        check_classification_targets(classes)
    except LabelError:
        raise
    except ValueError as error:
        raise LabelError(" ".join(str(error).split())) from None
    return Labels(nodes, codes.astype(np.int64), tuple(range(len(classes)))), classes


def _labelled(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    if values.dtype.kind not in "OUST":
        return np.asarray(values != -1)
    return np.array([not _unlabelled(value) for value in values], dtype=bool)


def _unlabelled(value: Any) -> bool:
    try:
        return value is None or bool(value != value) or value in (-1, "-1")
    except TypeError:  # pandas.NA has no truth value
        return True


def _of_one_kind(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """An array of objects as one of text, whole numbers or truth values."""
    if values.dtype.kind != "O":
        return values
    classes = [as_label(value) for value in values]
    check_classes(classes)
    if len({isinstance(name, str) for name in classes}) > 1:
        raise LabelError("the classes mix text and numbers: use one kind, for example str(y)")
    return np.array(classes, dtype=None if isinstance(classes[0], str) else type(classes[0]))
