"""BADGE: a draw by the size and the direction of the gradients that answers would cause."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from poise.active.acquisition.linear_classifier import (
    LinearClassifier,
    fit_labels,
    scaled_points,
    some_candidates,
)
from poise.active.acquisition.registry import acquisitions
from poise.active.snapshot import Snapshot
from poise.arrays import Floats, Ints
from poise.graph import Graph
from poise.graph.features import Features

#: Below the logarithm of every squared distance, chance included.
NOT_DRAWN_VALUE = -1e4


@acquisitions.register("badge")
@dataclass(frozen=True)
class Badge:
    """At random, points of large gradients more often, unlike those of the open questions.

    With p(x) the class probabilities of a logistic regression on the labelled nodes, the gradient
    of its loss, were the predicted class c the answer, is ``g(x) = (p(x) - e_c) x^T``: long where
    the prediction is unsure. Draws as k-means++ does, with probability proportional to the squared
    distance to the nearest centre,

        min(|g(x)|^2, min over open questions z of |g(x) - g(z)|^2).

    The paper's centres are the questions of the same round, here the open ones. The labelled nodes
    are one more centre, at the origin, where the regression leaves their gradients. The value is
    the logarithm of that distance plus an independent Gumbel variable, whose largest is such a
    draw. scikit-activeml's `Badge` has the same distances, but asks the longest gradient first.

    The gradients, C d numbers for each node, are never formed: ``g(x) . g(z)`` is the product of
    ``(p(x) - e_c) . (p(z) - e_c')`` and ``x . z``. With labels of fewer than two classes there is
    no regression: p is the same for all, and ``|x - z|^2`` to all constrained nodes decides.
    Without features the points are the rows of the eigenvectors of the 20 smallest eigenvalues.
    If the candidates hold more than two million numbers, a random subset of that size is
    looked at.

    References
    ----------
    J. T. Ash, C. Zhang, A. Krishnamurthy, J. Langford and A. Agarwal, "Deep batch active learning
    by diverse, uncertain gradient lower bounds", 2020.
    """

    uses_scores: ClassVar[bool] = False
    needs: ClassVar[str] = "two classes, and features or eigenpairs"
    cost: ClassVar[str] = "one regression"
    use: ClassVar[str] = "for large batches with a linear classifier in mind"

    def start(self, graph: Graph, labelled: Ints, seed: int) -> Features:
        return scaled_points(graph)

    def advance(self, memory: Features, node: int) -> Features:
        return memory

    def __call__(self, snapshot: Snapshot) -> Floats:
        points: Any = snapshot.memory
        rng = snapshot.rng
        nodes = some_candidates(snapshot.candidates, points, rng)
        values = np.full(snapshot.graph.n_nodes, 2 * NOT_DRAWN_VALUE)
        classifier = fit_labels(points, snapshot.labels)
        if classifier is not None:
            squares = gradient_distances(classifier, points[nodes], points[snapshot.pending])
        elif len(snapshot.constrained):
            squares = product_distances(points[nodes], points[snapshot.constrained]).min(axis=1)
        else:
            squares = np.ones(len(nodes))
        likely = squares > 0.0  # a point like one chosen already is drawn when nothing else is left
        logarithms = np.log(squares, out=np.full(len(nodes), NOT_DRAWN_VALUE), where=likely)
        values[nodes] = logarithms + rng.gumbel(size=len(nodes))
        return values


def gradient_distances(classifier: LinearClassifier, points: Any, centres: Any) -> Floats:
    """(m,) squared distance of each point's gradient to the nearest one of `centres` or to 0."""
    factors = _factors(classifier, points)
    lengths = _squares(points)
    squares = lengths * np.einsum("mc,mc->m", factors, factors)
    if not centres.shape[0]:
        return np.asarray(squares)
    others = _factors(classifier, centres)
    own = _squares(centres) * np.einsum("zc,zc->z", others, others)
    products = (factors @ others.T) * _dense(points @ centres.T)
    between = squares[:, None] + own - 2.0 * products
    # What cancellation leaves of a distance of 0 must not be drawn.
    between[between < 1e-5 * (squares[:, None] + own)] = 0.0
    return np.asarray(np.minimum(squares, between.min(axis=1)))


def product_distances(points: Any, centres: Any) -> Floats:
    """(m, z) squared distances between points, out of their products."""
    sums = _squares(points)[:, None] + _squares(centres)
    between = sums - 2.0 * _dense(points @ centres.T)
    between[between < 1e-5 * sums] = 0.0
    return np.asarray(between)


def _factors(classifier: LinearClassifier, points: Any) -> Floats:
    """(m, C) ``p - e_c``, c the class predicted."""
    p = classifier.probabilities(points).astype(np.float64)
    p[np.arange(len(p)), np.argmax(p, axis=1)] -= 1.0
    return p


def _squares(points: Any) -> Floats:
    if isinstance(points, np.ndarray):
        return np.asarray(np.einsum("md,md->m", points, points, dtype=np.float64))
    return np.asarray(points.multiply(points).sum(axis=1), dtype=np.float64).ravel()


def _dense(products: Any) -> Floats:
    return np.asarray(products if isinstance(products, np.ndarray) else products.toarray())
