"""Predictions from the labels of people and the answers of assistants that were judged."""

from collections.abc import Mapping
from dataclasses import replace

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

#: Parts that the labels are dealt into, each held out once, and relative residual of these solves.
N_FOLDS, RTOL = 5, 1e-5


def assisted_probabilities(
    graph: Graph, labels: Labels, counted: Mapping[int, tuple[str, float]]
) -> tuple[Floats, Calibration]:
    """(n, C) calibrated probabilities of all nodes, and their calibration.

    The labels hold, and the answers are doubtful (`poise.models.doubtful`); a linear model of the
    labels is multiplied as in `poise.models.combined`, and labels that are held out calibrate the
    product. At its own node, an answer is then one more witness: by Bayes' rule, a class that was
    answered with the odds w of being right becomes w times as likely as all others together.

    Parameters
    ----------
    labels : of people, with all classes that are answered among theirs
    counted : node -> class and weight of an answer
    """
    code = {str(name): position for position, name in enumerate(labels.classes)}
    answers = Answers(
        np.array(list(counted), dtype=np.int64),
        np.array([code[label] for label, _ in counted.values()], dtype=np.int64),
        np.array([weight for _, weight in counted.values()], dtype=np.float64),
    )
    gamma = poisson_weights(graph, [labels.nodes])[:, 0]
    alone = balanced(doubtful_pwll(graph, labels, answers, gamma=gamma))
    parts = dealt(len(labels), N_FOLDS)
    parts = [part for part in parts if len(part) < len(labels)]
    fewer = [labels.without(part) for part in parts]
    folds = [
        balanced(doubtful_pwll(graph, some, answers, gamma=gamma, rtol=RTOL)) for some in fewer
    ]
    held = np.zeros((len(labels), len(labels.classes)))
    for part, fold in zip(parts, folds, strict=True):
        held[part] = fold.probabilities[labels.nodes[part]]
    # The linear model knows only the classes that people have given.
    is_known = bool((labels.counts[answers.codes] > 0).all())
    power = linear_power(graph.features, labels, held, np.arange(len(labels))) if is_known else 0.0
    if is_known:
        for part, some, fold in zip(parts, fewer, folds, strict=True):
            held[part] = product(graph, some, fold.probabilities, power, labels.nodes[part])
        result = combine(graph, labels, alone, power)
    else:
        result = replace(alone, scores=averaged(graph, labels, alone.probabilities))
    return _calibrated(labels, answers, result, held)


def _calibrated(
    labels: Labels, answers: Answers, result: ScoreResult, held: Floats
) -> tuple[Floats, Calibration]:
    rest = result.reached.copy()
    rest[labels.nodes] = False
    calibration = Calibration.fit(result.probabilities[rest], held, labels.codes)
    certain = ~result.reached
    certain[labels.nodes] = True
    probabilities = calibration.apply(result.probabilities, keep=certain)
    return witnessed(probabilities, answers.nodes, answers.codes, answers.weights), calibration


def witnessed(probabilities: Floats, nodes: Ints, codes: Ints, odds: Floats) -> Floats:
    """Probabilities after answers with these odds of being right, other classes being alike."""
    n_classes = probabilities.shape[1]
    rows = probabilities[nodes]
    rows[np.arange(len(nodes)), codes] *= odds * max(n_classes - 1, 1)
    result = probabilities.copy()
    result[nodes] = rows / rows.sum(axis=1, keepdims=True)
    return result
