"""What a learner predicts for new points, which do not join its graph."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from poise.arrays import Bools, Floats, Ints
from poise.errors import LabelError
from poise.graph import Graph
from poise.graph.placement import Placement
from poise.models.labels import Label


class Predicting(Protocol):
    """What is needed of a learner."""

    @property
    def graph(self) -> Graph: ...

    @property
    def labels(self) -> dict[int, Label]: ...

    @property
    def classes(self) -> tuple[Label, ...]: ...

    @property
    def probabilities(self) -> Floats: ...

    @property
    def reached(self) -> Bools: ...


@dataclass(frozen=True, eq=False)
class NewPredictions:
    """Predictions for m new points.

    Attributes
    ----------
    probabilities : (m, C); far from every node, the shares of the classes among the labels
    reached : (m,) mask of the points that the labels reach
    placement : where the points lie in the graph
    """

    probabilities: Floats
    reached: Bools
    placement: Placement

    @property
    def codes(self) -> Ints:
        """(m,) positions of the predicted classes."""
        return np.asarray(self.probabilities.argmax(axis=1))


def predict_points(learner: Predicting, X_new: Any) -> NewPredictions:
    """The mean of the predictions for the k nearest nodes of each new point, by similarity."""
    placement = learner.graph.place(X_new)
    labels, classes = learner.labels, learner.classes
    if not labels:
        raise LabelError("nothing is labelled yet: there is no class to predict")
    frequency = Counter(labels.values())
    counts = np.array([frequency[name] for name in classes])
    probabilities = placement.weights @ learner.probabilities
    return NewPredictions(
        placement.faded(probabilities, counts / len(labels)),
        placement.near & (placement.weights @ learner.reached > 0),
        placement,
    )


def class_table(classes: tuple[Label, ...]) -> npt.NDArray[Any]:
    """The classes as an array, of objects if they are of several kinds."""
    kinds = {type(name) for name in classes}
    return np.array(classes, dtype=None if len(kinds) == 1 else object)
