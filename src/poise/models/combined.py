"""PWLL together with a linear model of the features, averaged over a short walk.

A graph of neighbours knows what is near; a linear model of the features knows what the members of
a class have in common. The product of both, averaged over two steps of the random walk, is nearly
everywhere ahead of PWLL alone, by up to three points, and never far behind
(docs/decisions/predictor.md).
"""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from poise.graph import Graph
from poise.graph.features import is_sparse
from poise.linalg.status import Floats
from poise.models.balance import balance_factors
from poise.models.components import reached
from poise.models.harmonic import Model, solve_problems
from poise.models.held_out import dealt
from poise.models.labels import Labels
from poise.models.result import ScoreResult

#: Steps of the walk.
STEPS = 2
#: Labels per class at which the linear model counts half as much as PWLL.
HALF = 10.0
#: Inverse strength of the linear model's penalty, on features of mean square length 1.
STRENGTH = 100.0
#: Added to a probability of PWLL before it is multiplied: it may be more wrong than it says.
DOUBT = 1e-3
#: Parts that the labels are dealt into, each held out once.
FOLDS = 10
#: Relative residual of solves of which only a calibration is made.
RTOL = 1e-5
#: Points whose classes are computed at once: memory stays small beside the features.
ROWS = 16_384


def combine(graph: Graph, labels: Labels, alone: ScoreResult) -> ScoreResult:
    """Balanced PWLL times a power of a linear model's probabilities, averaged over a walk.

    With p the probabilities of PWLL and l those of logistic regression on the features, C the
    classes that have a label and q = m / C the labels per class,

        s = P~^2 (p l^(q / (q + HALF)))

    where each row of the product is divided by its sum, ``P = D^-1 W`` is the random walk, and P~
    is a step of it after which labelled nodes have their own classes again. Without features, or
    with labels of one class only, l is left out.

    Parameters
    ----------
    alone : what PWLL says with these labels, `balanced`
    """
    values = (alone.probabilities + DOUBT) * (labels.counts > 0)
    linear = linear_probabilities(graph.features, labels)
    if linear is not None:
        per_class = len(labels) / np.unique(labels.codes).size
        values *= linear ** (per_class / (per_class + HALF))
    return replace(alone, scores=averaged(graph, labels, values))


def averaged(graph: Graph, labels: Labels, values: Floats) -> Floats:
    """Rows of `values` as shares, averaged over `STEPS` steps of the walk between the labels."""
    values = values / values.sum(axis=1, keepdims=True)
    degrees = graph.degrees
    alone = degrees == 0
    scale = sparse.diags_array(1.0 / np.where(alone, 1.0, degrees))
    for step in range(STEPS + 1):
        values[labels.nodes] = labels.one_hot
        if step < STEPS:
            values = np.where(alone[:, None], values, scale @ (graph.weights @ values))
    return values


def linear_probabilities(features: Any, labels: Labels) -> Floats | None:
    """(n, C) probabilities by logistic regression on the features; None where there is none.

    Features are centred and scaled to a mean square length of 1, in one pass and without a copy.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    if features is None or np.unique(labels.codes).size < 2:
        return None
    n = features.shape[0]
    if is_sparse(features):
        centre = np.zeros(features.shape[1])
        squares = float(features.multiply(features).sum()) / n
    else:
        centre, squares = _moments(features)
    scale = 1.0 / np.sqrt(squares) if squares > 0 else 1.0

    own = features[labels.nodes]
    own = own.toarray() if is_sparse(own) else own
    own = (np.asarray(own, dtype=np.float64) - centre) * scale
    # The weights are combinations of the labelled rows: fewer unknowns than features.
    basis = np.linalg.qr(own.T)[0] if own.shape[1] > len(own) else np.eye(own.shape[1])
    with warnings.catch_warnings():
        # Many classes with a label each are no regression; a few steps more or less do not matter.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message="The number of unique classes")
        model = LogisticRegression(C=STRENGTH, max_iter=200).fit(own @ basis, labels.codes)
    weights = basis @ model.coef_.T * scale
    intercept = model.intercept_ - centre @ weights
    found = np.zeros((n, len(labels.classes)))
    for start in range(0, n, ROWS):
        rows = slice(start, start + ROWS)
        logits = np.asarray(features[rows] @ weights + intercept, dtype=np.float64)
        if logits.shape[1] == 1:  # two classes share one row of weights
            logits = np.hstack([np.zeros_like(logits), logits])
        logits = np.exp(logits - logits.max(axis=1, keepdims=True))
        found[rows, model.classes_] = logits / logits.sum(axis=1, keepdims=True)
    return found


def _moments(features: Any) -> tuple[Floats, float]:
    """The mean row, and the mean square distance from it."""
    n = features.shape[0]
    centre = np.asarray(features.mean(axis=0, dtype=np.float64))
    total = 0.0
    for start in range(0, n, ROWS):
        part = features[start : start + ROWS] - centre
        total += float(np.einsum("ij,ij->", part, part))
    return centre, total / n


def held_out_combined(graph: Graph, labels: Labels, model: Model, folds: int = FOLDS) -> Floats:
    """(m, C) what `combine` says of each label when a part of them, itself included, is left out.

    Parameters
    ----------
    model : the member of the PWLL family that predicts
    folds : parts that the labels are dealt into
    """
    parts = dealt(len(labels), folds)
    fewer = [labels.without(part) for part in parts]
    loose = Model(model.tau, model.shift, model.relative, RTOL)
    problems = [
        loose.problem(tuple(tuple(nodes.tolist()) for nodes in some.by_class)) for some in fewer
    ]
    found = np.zeros((len(labels), len(labels.classes)))
    for part, some, columns in zip(parts, fewer, solve_problems(graph, problems), strict=True):
        known, shares = reached(graph, some.nodes), some.counts / len(some)
        scores = columns.values * balance_factors(columns.values)
        alone = ScoreResult(scores, labels.classes, known, shares)
        nodes = labels.nodes[part]
        # Where no label of the component is left, nothing is said.
        found[part] = combine(graph, some, alone).scores[nodes] * known[nodes, None]
    return found
