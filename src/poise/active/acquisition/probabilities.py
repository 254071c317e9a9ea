"""Class probabilities from scores, and the acquisitions that look at nothing else."""

from typing import ClassVar

import numpy as np

from poise.active.snapshot import Snapshot
from poise.arrays import Floats
from poise.models.result import normalise_scores


class OfProbabilities:
    """An uncertainty of the class probabilities; of fewer than two classes, the smallest score."""

    needs: ClassVar[str] = "scores of two classes"
    cost: ClassVar[str] = "one Poisson solve, one column per class"

    def uncertainty(self, probabilities: Floats) -> Floats:
        """(n,) from (n, C) probabilities."""
        raise NotImplementedError

    def __call__(self, snapshot: Snapshot) -> Floats:
        if classes_seen(snapshot.scores) < 2:
            return np.asarray(-snapshot.scores.sum(axis=1))
        return np.asarray(self.uncertainty(class_probabilities(snapshot.scores)))


def classes_seen(scores: Floats) -> int:
    """Number of classes that have a score anywhere."""
    return int(np.count_nonzero(scores.any(axis=0)))


def class_probabilities(scores: Floats) -> Floats:
    """(n, C) probabilities: scores divided by their sum, all equal where there is no score.

    Predictions fall back on the shares of the classes there; a node about which nothing is known
    must rather be as uncertain as can be.
    """
    positive = np.maximum(scores, 0.0)  # a solve may leave -1e-17
    n_nodes, n_classes = scores.shape
    known = np.ones(n_nodes, dtype=bool)
    return normalise_scores(positive, known, np.full(n_classes, 1.0 / n_classes))
