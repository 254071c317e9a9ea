"""PWLL averaged over a short walk, combined with a linear model of the features.

A graph of neighbours knows what is near; a linear model of the features knows what the members of
a class have in common. How much the second is worth depends on the data, so held-out labels say
with which power it is multiplied (docs/decisions/predictor.md has the figures).
"""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from poise.arrays import Floats, Ints
from poise.graph import Graph
from poise.graph.features import is_sparse
from poise.models.balance import balance_factors, balanced
from poise.models.components import laplacian, reached
from poise.models.harmonic import Model, solve_problems
from poise.models.held_out import MOST_HELD_OUT, dealt, spread_evenly
from poise.models.labels import Labels
from poise.models.result import ScoreResult

#: Steps of the walk.
WALK_STEPS = 2
#: Powers of the linear model that are tried, and the mean of the exponential prior of that power.
LINEAR_POWERS, USUAL_POWER = (0.0, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5), 0.3
#: Powers of the product that are tried, since scores of PWLL are too modest.
WHOLE_POWERS = (0.5, 1.0, 1.5, 2.0, 3.0)
#: Probability of answers that the model excludes: one surprise cannot decide.
SURPRISE_PROBABILITY = 0.02
#: Inverse strength of the linear model's penalty, on features of mean square length 1.
INVERSE_PENALTY = 100.0
#: Added to a probability of PWLL before it is multiplied: it may be more wrong than it says.
ADDED_PROBABILITY = 1e-3
#: Parts that the labels are dealt into, each held out once.
N_FOLDS = 10
#: Relative residual of solves that are used for calibration alone.
RTOL = 1e-5
#: Above this number of nodes, passes over all of them are compiled, which takes a second once.
LARGE_MIN_NODES = 100_000
#: Points whose classes are computed at once: memory stays small beside the features.
BLOCK_ROWS = 16_384
#: Number of points for the mean of the features: more do not change it.
SAMPLE_POINTS = 5_000
MIN_PROBABILITY = 1e-12


def combine(graph: Graph, labels: Labels, alone: ScoreResult, power: float) -> ScoreResult:
    """Balanced PWLL, averaged over a walk, times a power of a linear model's probabilities.

    With p the probabilities of PWLL and l those of logistic regression on the features, balanced
    in the same way,

        s = ((P~^2 p) l^power)^(1 / (1 + power))

    and each row divided by its sum: a geometric mean, no surer than the two models are.
    ``P = D^-1 W`` is the random walk, and P~ is a step of it after which labelled nodes have their
    own classes again. Only PWLL is averaged: the linear model is smooth as it is, and the mean over
    neighbours would blur it. Without features, or with labels of one class only, l is left out.

    Parameters
    ----------
    alone : result of PWLL with these labels, `balanced`
    power : see `linear_power`
    """
    values = product(graph, labels, alone.probabilities, power)
    values[labels.nodes] = labels.one_hot
    return replace(alone, scores=values)


def product(
    graph: Graph, labels: Labels, near: Floats, power: float, nodes: Ints | None = None
) -> Floats:
    """The rows of `combine`'s scores for some nodes, none of them labelled, or for all.

    For some of them the linear model looks at these and at a sample, which balances its classes.
    """
    doubt = ADDED_PROBABILITY * (labels.counts > 0)
    values = averaged(graph, labels, near * (labels.counts > 0) + doubt, nodes)
    if power == 0:
        return values
    if nodes is None:
        linear = linear_probabilities(graph.features, labels, equal_classes=True)
        typical = linear
    else:
        seen = np.concatenate([nodes, spread_evenly(graph.n_nodes, SAMPLE_POINTS)])
        linear = linear_probabilities(graph.features, labels, seen, equal_classes=True)
        typical = linear if linear is None else linear[len(nodes) :]
    if linear is None or typical is None:
        return values
    linear, factors = linear[: len(values)], balance_factors(typical)
    if len(values) > LARGE_MIN_NODES:
        from poise.models.compiled_rows import geometric_mean

        return np.asarray(geometric_mean(values, linear, factors, doubt, power))
    values = (values + doubt) * (linear * factors) ** power
    values **= 1 / (1 + power)
    return np.asarray(values / values.sum(axis=1, keepdims=True))


def linear_power(features: Any, labels: Labels, held_out: Floats, chosen: Ints) -> float:
    """The power with which the linear model should count, from labels that were held out.

    The posterior mean of b, under a flat prior of a and an exponential one of b with the mean
    `USUAL_POWER`, of

        y_i ~ (1 - SURPRISE_PROBABILITY) (p(i) l(i)^b)^a / Z + SURPRISE_PROBABILITY / C

    where p(i) and l(i) are the probabilities of label i by PWLL and the linear model without that
    label. Labels whose class has no other label do not count.

    Parameters
    ----------
    held_out : (s, C) scores of PWLL for the labels in `chosen`, balanced
    chosen : (s,) positions in ``labels.nodes``

    References
    ----------
    D. H. Wolpert, Stacked generalization, Neural Networks 1992.
    """
    if features is None or np.unique(labels.codes).size < 2:
        return 0.0
    answers, total = labels.codes[chosen], held_out.sum(axis=1)
    counts = (total > 0) & (labels.counts[answers] > 1)
    if not counts.any():
        return 0.0
    n_classes = len(labels.classes)
    linear = np.zeros((len(labels), n_classes))
    for part in dealt(len(labels), N_FOLDS):
        if not np.isin(part, chosen).any():
            continue
        fewer = labels.without(part)
        shares = linear_probabilities(features, fewer, labels.nodes[part], equal_classes=True)
        linear[part] = 1.0 / n_classes if shares is None else shares
    answers, rows = answers[counts], np.arange(int(counts.sum()))
    near = np.log(held_out[counts] / total[counts, None] + ADDED_PROBABILITY)
    far = np.log(np.maximum(linear[chosen[counts]], MIN_PROBABILITY))
    powers = np.array(LINEAR_POWERS)
    logs = np.zeros((len(WHOLE_POWERS), len(powers)))
    for i, whole in enumerate(WHOLE_POWERS):
        for j, power in enumerate(powers):
            values = whole * (near + power * far)
            values = np.exp(values - values.max(axis=1, keepdims=True))
            share = values[rows, answers] / values.sum(axis=1)
            logs[i, j] = np.log(
                (1 - SURPRISE_PROBABILITY) * share + SURPRISE_PROBABILITY / n_classes
            ).sum()
    posterior = np.exp(logs - logs.max()).sum(axis=0) * np.exp(-powers / USUAL_POWER)
    return float(posterior @ powers / posterior.sum())


def averaged(graph: Graph, labels: Labels, values: Floats, nodes: Ints | None = None) -> Floats:
    """Rows of `values` as shares, averaged over `WALK_STEPS` steps of the walk between the labels.

    Parameters
    ----------
    nodes : (s,) whose rows are returned; all by default
    """
    values = values / values.sum(axis=1, keepdims=True)
    if nodes is None and graph.n_nodes > LARGE_MIN_NODES:
        from poise.models.compiled_rows import walk

        return walk(laplacian(graph), values, labels.nodes, labels.one_hot, WALK_STEPS)
    # What each step must reach, from the last one back: a few nodes have few neighbours.
    reached = [np.arange(graph.n_nodes) if nodes is None else nodes]
    while nodes is not None and len(reached) < WALK_STEPS:
        reached.append(np.unique(graph.weights[reached[-1]].indices))
    for step in range(WALK_STEPS):
        values[labels.nodes] = labels.one_hot
        rows = reached[0] if nodes is None else reached[WALK_STEPS - 1 - step]
        degrees = graph.degrees[rows]
        alone = degrees == 0
        sums = (graph.weights if nodes is None else graph.weights[rows]) @ values
        values[rows] = np.where(
            alone[:, None], values[rows], sums / np.where(alone, 1.0, degrees)[:, None]
        )
    values[labels.nodes] = labels.one_hot
    return values if nodes is None else values[nodes]


def linear_probabilities(
    features: Any, labels: Labels, nodes: Ints | None = None, *, equal_classes: bool = False
) -> Floats | None:
    """Probabilities by logistic regression on the features; None where there is none.

    Features are centred and scaled to a mean square length of 1, without a copy.

    Parameters
    ----------
    nodes : (s,) of which; all by default
    equal_classes : whether the labels of every class weigh the same in total, so that a class is
        not taken to be rarer because one of its labels is held out

    Returns
    -------
    (s, C), or (n, C)
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    if features is None or np.unique(labels.codes).size < 2:
        return None
    centre, squares = _moments(features)
    scale = 1.0 / np.sqrt(squares) if squares > 0 else 1.0

    own = features[labels.nodes]
    own = own.toarray() if is_sparse(own) else own
    own = (np.asarray(own, dtype=np.float64) - centre) * scale
    # The weights are combinations of the labelled rows: fewer unknowns than features.
    basis = np.linalg.qr(own.T)[0] if own.shape[1] > len(own) else np.eye(own.shape[1])
    with warnings.catch_warnings():
        # Many classes with one label each make it warn; a few steps more or less do not matter.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message="The number of unique classes")
        weight = "balanced" if equal_classes else None
        model = LogisticRegression(C=INVERSE_PENALTY, max_iter=200, class_weight=weight)
        model.fit(own @ basis, labels.codes)
    weights = basis @ model.coef_.T * scale
    intercept = model.intercept_ - centre @ weights
    wanted = features if nodes is None else features[nodes]
    probabilities = np.zeros((wanted.shape[0], len(labels.classes)))
    for start in range(0, len(probabilities), BLOCK_ROWS):
        rows = slice(start, start + BLOCK_ROWS)
        logits = np.asarray(wanted[rows] @ weights + intercept, dtype=np.float64)
        if logits.shape[1] == 1:  # two classes share one row of weights
            logits = np.hstack([np.zeros_like(logits), logits])
        logits = np.exp(logits - logits.max(axis=1, keepdims=True))
        probabilities[rows, model.classes_] = logits / logits.sum(axis=1, keepdims=True)
    return probabilities


def _moments(features: Any) -> tuple[Floats, float]:
    """The mean row, and the mean square distance from it; sparse features are not centred."""
    n = features.shape[0]
    if is_sparse(features):
        return np.zeros(features.shape[1]), float(features.multiply(features).sum()) / n
    rows = spread_evenly(n, SAMPLE_POINTS)
    part = np.asarray(features[rows], dtype=np.float64)
    centre = part.mean(axis=0)
    return centre, float(np.mean(np.sum((part - centre) ** 2, axis=1)))


def held_out_combined(
    graph: Graph, labels: Labels, model: Model, power: float, most: int = MOST_HELD_OUT
) -> Floats:
    """(m, C) scores of each label by `combine` without a part of the labels that contains it.

    Parameters
    ----------
    model : the member of the PWLL family that predicts
    power : see `linear_power`
    most : columns that are solved for at most, if three parts are few enough
    """
    folds = min(max(most // len(labels.classes), 3), N_FOLDS)
    parts = dealt(len(labels), folds)
    fewer = [labels.without(part) for part in parts]
    loose = replace(model, rtol=RTOL)
    problems = [
        loose.problem(tuple(tuple(nodes.tolist()) for nodes in some.by_class)) for some in fewer
    ]
    scores = np.zeros((len(labels), len(labels.classes)))
    for part, some, columns in zip(parts, fewer, solve_problems(graph, problems), strict=True):
        if not len(some):
            continue  # the only label was held out: its scores are 0
        known, shares = reached(graph, some.nodes), some.counts / len(some)
        alone = ScoreResult(columns.values, labels.classes, known, shares)
        nodes = labels.nodes[part]
        values = product(graph, some, balanced(alone).probabilities, power, nodes)
        # Where no label of the component is left, scores are 0.
        scores[part] = values * known[nodes, None]
    return scores
