"""Logistic regression on the points of the labelled nodes: what DropQuery and BADGE ask about."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.active.acquisition.feature_points import Singles, node_points
from poise.active.acquisition.typiclust import thread_controller
from poise.arrays import Floats, Ints
from poise.graph import Graph
from poise.graph.features import Features
from poise.models.labels import Labels

#: Numbers of the points looked at for a question at most: more than that, and of the candidates a
#: random subset is looked at.
MAX_POINT_ENTRIES = 2**21
#: Steps of the regression at most, and where it stops: the classes predicted hardly change after.
MAX_STEPS, TOLERANCE = 100, 1e-3


@dataclass(frozen=True, eq=False)
class LinearClassifier:
    """``argmax over c of x W_c + b_c``; W is (d, C), b is (C,)."""

    W: Singles
    b: Singles

    def logits(self, points: Any) -> Floats:
        """(m, C) from (m, d) points."""
        return np.asarray(points @ self.W + self.b)

    def probabilities(self, points: Any) -> Floats:
        """(m, C) softmax of the logits."""
        logits = self.logits(points)
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def scaled_points(graph: Graph) -> Features:
    """(n, d) single-precision points whose squared entries have a mean of 1.

    The scale makes one penalty of the regression fit all data. Points are not centred, so that
    sparse ones stay sparse.
    """
    points: Any = node_points(graph)[0]
    entries = points if isinstance(points, np.ndarray) else points.data
    # In units of the largest entry: the squares of large numbers are not finite in single precision
    largest = float(np.abs(entries).max(initial=0.0)) or 1.0
    square = float(np.square(entries / largest, dtype=np.float64).sum()) / np.prod(points.shape)
    scaled: Features = (points / (largest * (np.sqrt(square) or 1.0))).astype(np.float32)
    return scaled


def fit(points: Any, codes: Ints, n_classes: int) -> LinearClassifier:
    """Multinomial logistic regression with the penalty ``|W|^2 / 2``.

    The rows of the optimal W lie in the span of the m points, so that dense points are replaced by
    their coordinates in it: m numbers instead of d, with the same result. Classes without a point
    have a logit far below the others.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    basis = None
    if isinstance(points, np.ndarray) and len(points) < points.shape[1]:
        basis, R = np.linalg.qr(points.T.astype(np.float64))
        points = R.T
    with thread_controller().limit(limits=1), warnings.catch_warnings():
        # A regression that is not quite at its optimum predicts as well.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LogisticRegression(tol=TOLERANCE, max_iter=MAX_STEPS).fit(points, codes)
    coefficients, intercept = model.coef_, model.intercept_
    if len(model.classes_) == 2:
        coefficients = np.concatenate([-coefficients / 2, coefficients / 2])
        intercept = np.concatenate([-intercept / 2, intercept / 2])
    if basis is not None:
        coefficients = coefficients @ basis.T
    W = np.zeros((coefficients.shape[1], n_classes), dtype=np.float32)
    b = np.full(n_classes, -1e4, dtype=np.float32)
    W[:, model.classes_] = coefficients.T
    b[model.classes_] = intercept
    return LinearClassifier(W, b)


def fit_labels(points: Any, labels: Labels) -> LinearClassifier | None:
    """`fit` of the labelled nodes; None where fewer than two classes have a label."""
    if np.count_nonzero(labels.counts) < 2:
        return None
    return fit(points[labels.nodes], labels.codes, len(labels.classes))


def some_candidates(
    candidates: Any, points: Features, rng: np.random.Generator, numbers: int = MAX_POINT_ENTRIES
) -> Ints:
    """Candidates, ascending: all of them, or as many at random as hold `numbers` numbers."""
    pool = np.flatnonzero(candidates)
    entries = max(1.0, points.size / points.shape[0])  # of a sparse matrix: those stored
    most = max(1, int(numbers / entries))
    return pool if len(pool) <= most else np.sort(rng.choice(pool, most, replace=False))
