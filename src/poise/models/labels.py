"""Labels: nodes with known classes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.arrays import Floats, Ints
from poise.checks import shown
from poise.errors import LabelError, NodeIndexError

#: A class: text, a whole number or a truth value. NumPy scalars become these.
Label = str | int | bool


@dataclass(frozen=True, eq=False)
class Labels:
    """Labelled nodes with their classes.

    Attributes
    ----------
    nodes : (m,) distinct node numbers, ascending
    codes : (m,) position of each node's class in `classes`
    classes : the C classes, in the order of the columns of every score

    Examples
    --------
    >>> import poise
    >>> labels = poise.Labels.of({4: "cat", 1: "dog"}, n_nodes=10)
    >>> labels.nodes, labels.classes
    (array([1, 4]), ('cat', 'dog'))
    """

    nodes: Ints
    codes: Ints
    classes: tuple[Label, ...]

    @classmethod
    def of(
        cls, answers: Mapping[Any, Any], n_nodes: int, classes: Iterable[Label] = ()
    ) -> "Labels":
        """From ``{node: class}``; `classes` fixes the order of those known in advance."""
        known = [as_label(name) for name in classes]
        named = {as_node(node, n_nodes): as_label(label) for node, label in answers.items()}
        check_classes([*known, *named.values()])  # before True and 1 become one key
        order = {name: code for code, name in enumerate(dict.fromkeys(known))}
        pairs = sorted((node, order.setdefault(label, len(order))) for node, label in named.items())
        table = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        return cls(table[:, 0].copy(), table[:, 1].copy(), tuple(order))

    @property
    def counts(self) -> Ints:
        """(C,) number of labelled nodes of each class."""
        return np.bincount(self.codes, minlength=len(self.classes))

    @property
    def one_hot(self) -> Floats:
        """(m, C) indicator rows, the `Y` of the formulas."""
        return np.asarray(self.codes[:, None] == np.arange(len(self.classes)), dtype=np.float64)

    @property
    def by_class(self) -> list[Ints]:
        """The nodes of each class, in the order of the classes; some may have none."""
        return [self.nodes[self.codes == c] for c in range(len(self.classes))]

    def __len__(self) -> int:
        return len(self.nodes)

    def without(self, positions: Ints) -> "Labels":
        """The labels without those at some positions; the classes stay."""
        keep = np.ones(len(self), dtype=bool)
        keep[positions] = False
        return Labels(self.nodes[keep], self.codes[keep], self.classes)


def as_label(value: Any) -> Label:
    """`value` as a class: NumPy scalars become Python's; only text, int and bool are allowed."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (str, int)):  # bool is an int
        return value
    how = ".decode()" if isinstance(value, bytes) else "str()"
    raise LabelError(
        f"a class must be text, a whole number or a truth value, got {value!r} of type "
        f"{type(value).__name__}: convert it, for example with {how}"
    )


def check_classes(classes: Iterable[Label]) -> None:
    """Refuse a mixture of truth values and numbers: True and 1 would be one class."""
    kinds = {type(name) for name in classes}
    if bool in kinds and int in kinds:
        raise LabelError(
            "the classes mix truth values and whole numbers, and True equals 1: "
            "use one kind, or text such as 'yes'"
        )


def as_node(value: Any, n_nodes: int) -> int:
    """`value` as a node number, or a `NodeIndexError`."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise NodeIndexError(
            f"a node is a whole number from 0 to {n_nodes - 1}, got {shown(value)}"
        )
    if not 0 <= value < n_nodes:
        raise NodeIndexError(
            f"there is no node {shown(int(value))}: the graph has nodes 0 to {n_nodes - 1} "
            "(negative numbers do not count from the end here)"
        )
    return int(value)
