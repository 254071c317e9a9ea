"""From columns to scores: answers are added to their classes, open questions in expectation."""

from dataclasses import dataclass

import numpy as np

from poise.active.state import Question, State
from poise.arrays import Floats
from poise.models.harmonic import Columns


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Scores with the open questions answered in expectation.

    Attributes
    ----------
    scores : (n, C) expected scores
    norms : (n,) root of the expected squared norm of the scores
    weights : (n,) Poisson weights gamma; the questions are constrained nodes like the labels
    """

    scores: Floats
    norms: Floats
    weights: Floats


def merge(columns: Columns, question: Question, state: State) -> Beliefs:
    """Superposition: the column of an answered node joins its class, that of an open one spreads.

    With h_p the column of an open question and pi^p its guessed probabilities, the expected scores
    are ``h_c + sum_p pi^p_c h_p``, and since answers are independent, the expected squared norm is
    that of the expected scores plus ``sum_p h_p^2 s_p^2`` with ``s_p^2 = 1 - |pi^p|^2``.

    Where the columns are those of the expectation, the last one is ``sum_p s_p h_p``, and its
    square stands for that sum: an upper bound, and the same wherever one open question dominates.
    """
    n_nodes, n_classes = len(columns.values), len(state.classes)
    n_shared = len(question.codes)
    scores = np.zeros((n_nodes, n_classes))
    scores[:, list(question.codes)] = columns.values[:, :n_shared]
    variance = columns.values[:, -1] ** 2 if question.expected else np.zeros(n_nodes)
    own = columns.values[:, n_shared : n_shared + len(question.own)]
    for node, h in zip(question.own, own.T, strict=True):
        if node in state.labels:
            scores[:, state.classes[state.labels[node]]] += h
            continue
        guess = state.guess(node)
        scores += h[:, None] * guess
        variance += h * h * (1.0 - guess @ guess)
    norms = np.sqrt(np.einsum("ij,ij->i", scores, scores) + variance)
    return Beliefs(scores, norms, columns.weights)
