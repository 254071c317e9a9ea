"""Predictions from the labels of people and the answers of assistants that were judged."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from poise import Graph
from poise.arrays import Floats, Ints
from poise.models.balance import balanced
from poise.models.calibration import Calibration
from poise.models.combined import averaged, combine, linear_power, product
from poise.models.doubtful import Answers, doubtful_pwll
from poise.models.held_out import dealt
from poise.models.labels import Labels
from poise.models.poisson_weights import poisson_weights
from poise.models.result import ScoreResult

#: Weight of an answer in the model, as a share of its odds of being right
#: (docs/decisions/assistants.md has the figures).
SHARE_OF_ODDS = 0.5
#: Parts that labels and answers are dealt into, each held out once; fewer where all scores together
#: have this many numbers, since each part takes a solve. Relative residual of these solves.
N_FOLDS, FEW_FOLDS, LARGE_SCORES, RTOL = 10, 3, 2_000_000, 1e-5


@dataclass(frozen=True, eq=False)
class _Fold:
    """Labels and answers without a part of both, and the model of those."""

    labels: Labels
    left_labels: Ints
    left_answers: Ints
    result: ScoreResult


def assisted_probabilities(
    graph: Graph, labels: Labels, counted: Mapping[int, tuple[str, float]]
) -> Floats:
    """(n, C) calibrated probabilities of all nodes.

    The labels hold, and the answers are doubtful (`poise.models.doubtful`). As in
    `poise.models.combined`, a linear model of the labels is multiplied, and labels that are held
    out calibrate the product. At its own node, an answer is a witness: its node is predicted
    without it, and by Bayes' rule its odds of being right are multiplied.

    Parameters
    ----------
    labels : of people, with all classes that are answered among theirs
    counted : node -> class of an answer and its odds of being right
    """
    code = {str(name): position for position, name in enumerate(labels.classes)}
    odds = np.array([each for _, each in counted.values()], dtype=np.float64)
    answers = Answers(
        np.array(list(counted), dtype=np.int64),
        np.array([code[label] for label, _ in counted.values()], dtype=np.int64),
        SHARE_OF_ODDS * odds,
    )
    gamma = poisson_weights(graph, [labels.nodes])[:, 0]
    alone = balanced(doubtful_pwll(graph, labels, answers, gamma=gamma))
    folds = _folds(graph, labels, answers, gamma)
    held = np.zeros((len(labels), len(labels.classes)))
    for fold in folds:
        held[fold.left_labels] = fold.result.probabilities[labels.nodes[fold.left_labels]]
    # The linear model knows only the classes that people have given.
    is_known = bool((labels.counts[answers.codes] > 0).all())
    power = linear_power(graph.features, labels, held, np.arange(len(labels))) if is_known else 0.0
    if is_known:
        result = combine(graph, labels, alone, power)
    else:
        result = replace(alone, scores=averaged(graph, labels, alone.probabilities))
    priors: Floats = np.zeros((len(answers.nodes), len(labels.classes)))
    for fold in folds:
        m = len(fold.left_labels)
        nodes = np.concatenate([labels.nodes[fold.left_labels], answers.nodes[fold.left_answers]])
        near = fold.result.probabilities
        if is_known:
            rows = product(graph, fold.labels, near, power, nodes)
        else:
            rows = averaged(graph, fold.labels, near, nodes)
        held[fold.left_labels], priors[fold.left_answers] = rows[:m], rows[m:]
    rest = result.reached.copy()
    rest[labels.nodes] = False
    calibration = Calibration.fit(result.probabilities[rest], held, labels.codes)
    certain = ~result.reached
    certain[labels.nodes] = True
    probabilities = calibration.apply(result.probabilities, keep=certain)
    priors = calibration.apply(priors / priors.sum(axis=1, keepdims=True))
    probabilities[answers.nodes] = witnessed(priors, answers.codes, odds)
    return probabilities


def _folds(graph: Graph, labels: Labels, answers: Answers, gamma: Floats) -> list[_Fold]:
    is_large = graph.n_nodes * len(labels.classes) >= LARGE_SCORES
    n_folds = min(FEW_FOLDS if is_large else N_FOLDS, max(len(labels), 2))
    of_labels = dealt(len(labels), n_folds) if len(labels) > 1 else []
    of_labels += [np.empty(0, dtype=np.int64)] * (n_folds - len(of_labels))
    order = np.random.default_rng(1).permutation(len(answers.nodes))
    folds = []
    for position, part in enumerate(of_labels):
        left = order[position::n_folds]
        keep = np.ones(len(order), dtype=bool)
        keep[left] = False
        some = labels.without(part)
        result = balanced(doubtful_pwll(graph, some, answers.only(keep), gamma=gamma, rtol=RTOL))
        folds.append(_Fold(some, part, left, result))
    return folds


def witnessed(priors: Floats, codes: Ints, odds: Floats) -> Floats:
    """(s, C) probabilities of the classes after answers with these odds of being right.

    A wrong answer is taken to be any other class.
    """
    rows = priors.copy()
    rows[np.arange(len(codes)), codes] *= odds * max(priors.shape[1] - 1, 1)
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))
