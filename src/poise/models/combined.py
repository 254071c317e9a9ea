"""PWLL, and a kernel model of the features that learns from it, where that predicts better.

A graph of neighbours knows what is near; a smooth model of the features knows what classes have in
common. Neither is better everywhere, so held-out labels decide: where the two together predict more
of them than PWLL alone, they are the predicting model. docs/decisions/predictor.md has the figures.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.graph import Graph
from poise.linalg.status import Floats, Ints
from poise.models.balance import balance_factors
from poise.models.components import reached
from poise.models.harmonic import Model, solve_problems
from poise.models.held_out import dealt, spread_evenly
from poise.models.labels import Labels
from poise.models.result import ScoreResult, normalise_scores

#: Labels below which held-out ones say too little to decide.
LEAST = 20
#: Parts that the labels are dealt into, each held out once.
FOLDS = 5
#: Standard errors by which the product must be ahead.
ERRORS = 1.0
#: Share of each predicted class, the surest, that the kernel model learns from; points in all.
SURE, POINTS = 0.5, 1_500
#: Dimensions of the features at most, landmarks of the kernel, inverse strength of the penalty.
DIMENSIONS, LANDMARKS, STRENGTH = 100, 300, 30.0
#: Added to a probability of PWLL before it multiplies: it may be more wrong than it says.
DOUBT = 1e-3
#: Relative residual of solves of which only the largest class is used.
RTOL = 1e-5


@dataclass(frozen=True, eq=False)
class Combined:
    """What is predicted.

    Attributes
    ----------
    result : scores of PWLL, or products of its probabilities and the kernel model's
    held_out : (m, C) the same of each label by models that had not seen it; None for PWLL alone
    """

    result: ScoreResult
    held_out: Floats | None = None


def combine(graph: Graph, labels: Labels, alone: ScoreResult, model: Model) -> Combined:
    """PWLL `alone`, or together with a kernel model if that predicts more held-out labels.

    The kernel model is logistic regression with a Gaussian kernel, fitted either to the labels or
    to the classes that PWLL is surest of (half of the points of each); its probabilities are
    multiplied by those of PWLL. The labels are dealt into `FOLDS` parts, and all of this is fitted
    without each of them. The better product is used if, of the held-out labels that it and PWLL
    judge differently, it is right on more by a standard error.

    Without features, with one class or fewer than `LEAST` labels, PWLL stays alone.

    Parameters
    ----------
    alone : what `model` says with all labels, `balanced`
    model : the member of the PWLL family that predicts
    """
    if graph.features is None or np.unique(labels.codes).size < 2 or len(labels) < LEAST:
        return Combined(alone)
    X = kernel_features(graph.features)
    parts = dealt(len(labels), FOLDS)
    fewer = [_without(labels, part) for part in parts]
    loose = Model(model.tau, model.shift, model.relative, RTOL)
    problems = [
        loose.problem(tuple(tuple(nodes.tolist()) for nodes in some.by_class)) for some in fewer
    ]
    plain = np.zeros((len(labels), len(labels.classes)))
    products = {taught: plain.copy() for taught in (True, False)}
    for part, some, columns in zip(parts, fewer, solve_problems(graph, problems), strict=True):
        known, shares = reached(graph, some.nodes), some.counts / len(some)
        scores = columns.values * balance_factors(columns.values)
        graph_alone = normalise_scores(scores, known, shares)
        plain[part] = graph_alone[labels.nodes[part]]
        for taught, held_out in products.items():
            product = product_with_kernel(graph_alone, X, some, taught=taught)
            held_out[part] = product[labels.nodes[part]]

    before = plain.argmax(axis=1) == labels.codes

    def advantage(taught: bool) -> float:
        """Labels gained, in standard errors of the number that changed."""
        right = products[taught].argmax(axis=1) == labels.codes
        return float((right.sum() - before.sum()) / max(np.sqrt((right != before).sum()), 1.0))

    best = max(products, key=advantage)
    if advantage(best) <= ERRORS:
        return Combined(alone)
    product = product_with_kernel(alone.probabilities, X, labels, taught=best)
    product[labels.nodes] = labels.one_hot
    together = ScoreResult(product, labels.classes, alone.reached, alone.fallback, alone.weights)
    return Combined(together, products[best])


def kernel_features(features: Any) -> Floats:
    """(n, at most `LANDMARKS`) features whose products are nearly a Gaussian kernel.

    ``exp(-|x - z|^2 / s)`` with s the median squared distance between landmarks, by Nystrom's
    method on points spread evenly, in at most `DIMENSIONS` principal components.
    """
    from sklearn.decomposition import PCA, TruncatedSVD
    from sklearn.kernel_approximation import Nystroem
    from sklearn.metrics import pairwise_distances

    few = min(DIMENSIONS, min(features.shape) - 1)
    if not isinstance(features, np.ndarray):
        X = TruncatedSVD(max(few, 1), random_state=0).fit_transform(features)
    elif features.shape[1] > DIMENSIONS and few >= 1:
        X = PCA(few, svd_solver="covariance_eigh").fit_transform(features)
    else:
        X = features
    X = np.asarray(X, dtype=np.float64)
    landmarks = X[spread_evenly(len(X), LANDMARKS)]
    squares = pairwise_distances(landmarks, metric="sqeuclidean")
    apart = squares[squares > 0]
    width = float(np.median(apart)) if apart.size else 1.0
    kernel = Nystroem(gamma=1.0 / width, n_components=len(landmarks), random_state=0)
    return np.asarray(kernel.fit(landmarks).transform(X), dtype=np.float64)


def _without(labels: Labels, part: Ints) -> Labels:
    keep = np.ones(len(labels), dtype=bool)
    keep[part] = False
    return Labels(labels.nodes[keep], labels.codes[keep], labels.classes)


def product_with_kernel(graph_alone: Floats, X: Floats, labels: Labels, *, taught: bool) -> Floats:
    """(n, C) probabilities of PWLL times those of logistic regression on features `X`.

    The latter is fitted to the labels, and if `taught`, to what PWLL is surest of as well.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    guess = graph_alone.argmax(axis=1)
    guess[labels.nodes] = labels.codes
    points = np.union1d(surest(graph_alone, guess), labels.nodes) if taught else labels.nodes
    if np.unique(guess[points]).size < 2:
        return graph_alone.copy()
    with warnings.catch_warnings():
        # Steps are few on purpose; many classes with few points each are no regression.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message="The number of unique classes")
        model = LogisticRegression(C=STRENGTH, max_iter=100).fit(X[points], guess[points])
    probabilities = np.zeros_like(graph_alone)
    probabilities[:, model.classes_] = model.predict_proba(X)
    product = probabilities * (graph_alone + DOUBT)
    return np.asarray(product / product.sum(axis=1, keepdims=True))


def surest(probabilities: Floats, guess: Ints) -> Ints:
    """The surest share of the points of each guessed class, thinned out evenly to `POINTS`."""
    two = np.partition(probabilities, -2, axis=1)[:, -2:]
    margin = two[:, 1] - two[:, 0]
    chosen = []
    for c in np.unique(guess):
        members = np.flatnonzero(guess == c)
        best = members[np.argsort(-margin[members], kind="stable")]
        best = np.sort(best[: max(1, int(SURE * len(members)))])
        most = max(3, round(POINTS * len(members) / len(guess)))
        chosen.append(best[spread_evenly(len(best), most)])
    return np.concatenate(chosen)
