"""What the prediction of every task should be: its class, and a score to sort by."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from poise import Graph, Learner
from poise.errors import PoolExhausted
from poise.integrations.label_studio.tasks import Predicted

#: Questions that are put in order; the others follow by their probability.
QUESTIONS = 20
#: Scores below this belong to those questions.
QUESTIONS_BELOW = 0.1
#: Smallest change of the score of another task that is worth a request.
LEAST_CHANGE = 0.05


class Plan(NamedTuple):
    """What predictions should be.

    Attributes
    ----------
    predictions : of each node; None for none
    probabilities : (n,) of the predicted classes, None until labels support them
    questions : nodes in the order in which they should be asked
    """

    predictions: tuple[Predicted | None, ...]
    probabilities: tuple[float, ...] | None
    questions: tuple[int, ...]


def make_plan(
    graph: Graph, labels: Mapping[int, str], skipped: Collection[int], classes: Sequence[str]
) -> Plan:
    """The prediction of every node.

    The score of the r-th of `QUESTIONS` questions is r / (10 QUESTIONS), starting with r = 0; that
    of any other node is 0.1 + 0.9 p, where p is the probability of its class, so that the least
    certain comes first. People's labels have p = 1.

    Parameters
    ----------
    skipped : nodes that are asked last
    classes : of the configuration, in its order
    """
    learner = Learner(graph, labels, classes=classes, anticipate=False)
    learner.skip(sorted(set(skipped) - set(labels)))
    try:
        questions = learner.ask(QUESTIONS).tolist()
    except PoolExhausted:
        questions = []
    scores = {node: QUESTIONS_BELOW * rank / QUESTIONS for rank, node in enumerate(questions)}
    if not labels:
        made = [Predicted(None, scores[i]) if i in scores else None for i in range(graph.n_nodes)]
        return Plan(tuple(made), None, tuple(questions))
    predicted = learner.predictions.tolist()
    chances = np.nan_to_num(learner.probabilities.max(axis=1)).clip(0.0, 1.0)
    chances[list(labels)] = 1.0
    for i, chance in enumerate(chances.tolist()):
        scores.setdefault(i, QUESTIONS_BELOW + (1 - QUESTIONS_BELOW) * chance)
    made = [Predicted(predicted[i], round(scores[i], 4)) for i in range(graph.n_nodes)]
    known = tuple(np.round(chances, 4).tolist()) if learner.calibration.has_evidence else None
    return Plan(tuple(made), known, tuple(questions))


def differs(now: Predicted, wanted: Predicted) -> bool:
    """Whether a prediction is worth a request: its class, a question's place, or a large change."""
    if now.label != wanted.label:
        return True
    least = LEAST_CHANGE
    if min(now.score, wanted.score) < QUESTIONS_BELOW:
        least = QUESTIONS_BELOW / QUESTIONS / 2
    return not abs(now.score - wanted.score) < least  # also where the score is NaN
