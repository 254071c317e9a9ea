"""Least confidence."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from poise.active.acquisition.registry import acquisitions
from poise.active.snapshot import Snapshot
from poise.linalg.status import Floats
from poise.models.result import normalise_scores


@acquisitions.register("least-confidence")
@dataclass(frozen=True)
class LeastConfidence:
    """Least probable best class first: refines, does not explore.

    ``1 - max_c p_c(x)`` with ``p = u / sum_c u_c``, see `class_probabilities` (B. Settles, Active
    Learning, 2012, section 2.3). GraphLearning's "least_confidence" is ``1 - max_c u_c(x)``: the
    same at ``tau=0``, where scores sum to one; at ``tau > 0`` far nodes have small scores and it
    explores as `norm` does, while this one sees only their proportions.

    With fewer than two classes seen the smallest score goes first, as for `margin`. Costs the
    same solves as `norm`.
    """

    needs: ClassVar[str] = "scores of two classes"
    cost: ClassVar[str] = "one Poisson solve, one column per class"
    use: ClassVar[str] = "to sharpen predictions once every cluster is known"

    def __call__(self, snapshot: Snapshot) -> Floats:
        if classes_seen(snapshot.scores) < 2:
            return np.asarray(-snapshot.scores.sum(axis=1))
        return np.asarray(1.0 - class_probabilities(snapshot.scores).max(axis=1))


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
