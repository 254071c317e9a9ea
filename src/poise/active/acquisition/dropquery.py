"""DropQuery: points whose prediction changes when features are dropped."""

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from poise.active.acquisition.feature_points import principal_components
from poise.active.acquisition.linear_classifier import (
    LinearClassifier,
    fit_labels,
    scaled_points,
    some_candidates,
)
from poise.active.acquisition.registry import acquisitions
from poise.active.acquisition.typiclust import thread_controller
from poise.active.snapshot import Snapshot
from poise.arrays import Floats, Ints
from poise.checks import real_number, whole_number
from poise.graph import Graph
from poise.graph.features import Features

#: Dimensions in which k-means is done at most.
MAX_DIMENSIONS = 50
#: Points clustered, and steps of k-means, at most.
MAX_CLUSTERED_POINTS, MAX_KMEANS_STEPS = 3_000, 20


@dataclass(frozen=True, eq=False)
class Points:
    """(n, d) points for the regression, and (n, at most 50) points for k-means."""

    all: Features
    few: Features


@acquisitions.register("dropquery")
@dataclass(frozen=True)
class DropQuery:
    """Points whose class changes when features are dropped, at the centres of their clusters.

    A logistic regression of the labelled nodes predicts the class of every candidate, and predicts
    it again `masks` times with a random share `dropout` of its features set to 0. Candidates whose
    class changes in more than half of the masks are clustered by k-means into `batch` clusters, of
    which the nodes nearest to the centres have the largest values. The other candidates follow by
    the number of changes.

    The paper asks a round of questions, one for each cluster. Here each question has fresh
    clusters, and a round is imitated: with m constrained nodes, the cluster of rank m modulo
    `batch` by size comes first, then the next smaller one, and so on. Always the largest, which
    lies between the classes, would find classes later than chance does. scikit-activeml's
    `DropQuery` makes a single cluster for a single question.

    With labels of fewer than two classes, every candidate counts as changed. Without features
    the points are the rows of the eigenvectors of the 20 smallest eigenvalues. Where the candidates
    hold more than two million numbers, a random subset of that size is looked at.

    Parameters
    ----------
    masks : int
    dropout : float
        Share of the features dropped; the paper's is 0.75.
    batch : int

    References
    ----------
    S. R. Gupte, J. Aklilu, J. J. Nirschl and S. Yeung-Levy, "Revisiting active learning in the era
    of vision foundation models", 2024.
    """

    masks: int = 3
    dropout: float = 0.75
    batch: int = 10

    uses_scores: ClassVar[bool] = False
    needs: ClassVar[str] = "two classes, and features or eigenpairs"
    cost: ClassVar[str] = "one regression, one k-means"
    use: ClassVar[str] = "on features of a large pretrained model"

    def __post_init__(self) -> None:
        whole_number(self.masks, "masks", 1)
        whole_number(self.batch, "batch", 1)
        real_number(
            self.dropout, "dropout", lambda share: 0 < share < 1, "expected a share between 0 and 1"
        )

    def start(self, graph: Graph, labelled: Ints, seed: int) -> Points:
        points = scaled_points(graph)
        return Points(points, principal_components(points, MAX_DIMENSIONS))

    def advance(self, memory: Points, node: int) -> Points:
        return memory

    def __call__(self, snapshot: Snapshot) -> Floats:
        points: Points = snapshot.memory
        rng = snapshot.rng
        values = np.full(snapshot.graph.n_nodes, -2.0)
        nodes = some_candidates(snapshot.candidates, points.all, rng)
        if not len(nodes):
            return values
        share = np.ones(len(nodes))
        classifier = fit_labels(points.all, snapshot.labels)
        if classifier is not None:
            some: Any = points.all
            share = changes(classifier, some[nodes], self.masks, self.dropout, rng) / self.masks
        values[nodes] = share - 1.0
        unsure = nodes[share > 0.5] if (share > 0.5).any() else nodes[share == share.max()]
        if len(unsure) > MAX_CLUSTERED_POINTS:
            unsure = rng.choice(unsure, MAX_CLUSTERED_POINTS, replace=False)
        centres = cluster_centres(points.few, unsure, self.batch, int(rng.integers(2**31)))
        first = len(snapshot.constrained) % self.batch % len(centres)
        values[np.roll(centres, -first)] = 1.0 + np.arange(len(centres))[::-1]
        return values


def changes(
    classifier: LinearClassifier,
    points: Any,
    masks: int,
    dropout: float,
    rng: np.random.Generator,
) -> Ints:
    """(m,) how many of the masks change the class predicted for each of the (m, d) points.

    Every point has masks of its own. A share is rounded to the next of 256: a byte of chance for
    each feature costs less than a number.
    """
    logits = classifier.logits(points)
    predicted = np.argmax(logits, axis=1)
    least = round(256 * dropout)
    count = np.zeros(len(predicted), dtype=np.int64)
    for _ in range(masks):
        if isinstance(points, np.ndarray):
            kept = rng.integers(0, 256, size=points.shape, dtype=np.uint8) >= least
            dropped: Any = points * kept
        else:
            dropped = points.copy()
            dropped.data *= rng.integers(0, 256, size=points.data.size, dtype=np.uint8) >= least
        count += np.argmax(classifier.logits(dropped), axis=1) != predicted
    return count


def cluster_centres(points: Any, nodes: Ints, count: int, seed: int) -> Ints:
    """Of each k-means cluster of `nodes` the one nearest to its centre, largest cluster first."""
    from sklearn.cluster import KMeans, kmeans_plusplus
    from sklearn.exceptions import ConvergenceWarning

    some = points[nodes]
    count = min(count, len(nodes))
    with thread_controller().limit(limits=1), warnings.catch_warnings():
        # Coinciding points make fewer clusters than asked for: the others stay empty.
        warnings.simplefilter("ignore", ConvergenceWarning)
        first, _ = kmeans_plusplus(some, count, random_state=seed, n_local_trials=1)
        means = KMeans(count, init=first, n_init=1, max_iter=MAX_KMEANS_STEPS).fit(some)
        distances = means.transform(some)
    codes = np.asarray(means.labels_)
    own = distances[np.arange(len(nodes)), codes]
    sizes = np.bincount(codes, minlength=count)
    order = np.lexsort((own, codes))
    best = order[np.searchsorted(codes[order], np.flatnonzero(sizes))]
    return nodes[best[np.argsort(-sizes[sizes > 0], kind="stable")]]
