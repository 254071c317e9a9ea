"""Scores and what follows from them: predictions, probabilities, norms."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from poise.arrays import Bools, Floats, Ints
from poise.models.labels import Label
from poise.models.rows import largest


@dataclass(frozen=True, eq=False)
class ScoreResult:
    """Scores of a model for every node, and what follows from them.

    Attributes
    ----------
    scores : (n, C) array `u`; column c belongs to ``classes[c]``
    classes : the C classes
    reached : (n,) mask of the nodes in components that hold a label; elsewhere the
        prediction is the most frequent class
    fallback : (C,) shares of the classes among the labels, the probabilities where not reached
    weights : (n,) reweighting `gamma` used, or None

    Examples
    --------
    >>> import numpy as np, poise
    >>> from poise.models import laplace
    >>> path = poise.Graph.from_weights(np.eye(4, k=1) + np.eye(4, k=-1))
    >>> result = laplace(path, poise.Labels.of({0: "left", 3: "right"}, n_nodes=4))
    >>> [result.classes[code] for code in result.codes]
    ['left', 'left', 'right', 'right']
    >>> result.probabilities[1].round(2).tolist()
    [0.67, 0.33]
    """

    scores: Floats
    classes: tuple[Label, ...]
    reached: Bools
    fallback: Floats
    weights: Floats | None = None

    @cached_property
    def codes(self) -> Ints:
        """(n,) column of the predicted class: ``argmax_c u_c(x)``."""
        if not self.classes:
            return np.full(len(self.scores), -1, dtype=np.int64)
        # With a large tau the scores of far nodes are zero: that is not the first class either.
        return largest(self.scores, self.reached, int(np.argmax(self.fallback)))

    @cached_property
    def probabilities(self) -> Floats:
        """(n, C) rows that sum to one; see `normalise_scores`."""
        return normalise_scores(self.scores, self.reached, self.fallback, sign_unit(self.scores))

    @cached_property
    def norms(self) -> Floats:
        """(n,) Euclidean norm of each row of the scores."""
        return np.asarray(np.sqrt(np.einsum("ij,ij->i", self.scores, self.scores)))


def sign_unit(scores: Floats) -> float:
    """Mean size of scores with signs, 0 for scores that are all non-negative."""
    return float(np.abs(scores).mean()) if scores.min(initial=0.0) < 0 else 0.0


def normalise_scores(scores: Floats, known: Bools, fallback: Floats, unit: float = 0.0) -> Floats:
    """Rows of `scores` as probabilities.

    Non-negative scores (every model but Poisson learning, unit = 0) are divided by their sum.
    Scores with signs go through a softmax in units of `unit`, see `sign_unit`. Rows that are all
    zero or not `known` get `fallback`.
    """
    if scores.shape[1] == 0:
        return scores.copy()
    largest = scores.max(axis=1, keepdims=True)
    if unit > 0:
        positive = np.exp(np.maximum((scores - largest) / unit, -500.0))
    else:
        # Tiny rows are scaled up first: their sum may be subnormal.
        positive = np.divide(scores, largest, out=np.zeros_like(scores), where=largest > 0)
    total = positive.sum(axis=1, keepdims=True)
    rows = known & scores.any(axis=1)
    return np.where(rows[:, None], positive / np.where(total > 0, total, 1.0), fallback)
