"""modAL's margin sampling with logistic regression.

`ActiveLearner.teach` of modAL 0.4.2.1 fails with scikit-learn 1.8 and newer, because it passes a
parameter, force_all_finite, that no longer exists. Labels in the constructor work with every
version, and the result is the same, because `teach` refits to all labels. So a new learner is made
for every question.

Logistic regression cannot be fitted to one class, so random points are labelled until two classes
are known. These labels count, and until then the known class is predicted everywhere.

References
----------
T. Danka, P. Horvath, modAL: a modular active learning framework for Python, arXiv 1805.00979.
T. Scheffer, C. Decomain, S. Wrobel, Active hidden Markov models for information extraction, IDA
2001 (margin).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from poise.arrays import Floats, Ints
from poise.experiments.efficiency import peer_curves
from poise.experiments.efficiency.trials import Trial
from poise.extras import needed


@dataclass(frozen=True)
class ModalMargin:
    """The smallest difference between the two largest probabilities of logistic regression."""

    name: str = "modal-margin"
    note: str = "random labels until two classes are known"

    def need(self, trial: Trial, codes: Ints) -> peer_curves.Need:
        return peer_curves.need_of(trial, codes)

    def run(self, trial: Trial, codes: Ints, budget: int) -> list[float]:
        with peer_curves.quiet():
            return self._run(trial, codes, budget)

    def _run(self, trial: Trial, codes: Ints, budget: int) -> list[float]:
        X, at = peer_curves.features(trial), peer_curves.checkpoints(trial, budget)
        order = peer_curves.random_order(trial)
        unlabelled = np.ones(len(codes), dtype=bool)
        asked: list[int] = []
        accuracy = []
        for labels in range(1, max(at, default=0) + 1):
            learner = make_learner(X, codes, asked)
            if learner is None:
                node = int(order[len(asked)])
            else:
                rest = np.flatnonzero(unlabelled)
                node = int(rest[learner.query(X[rest])[0][0]])
            asked.append(node)
            unlabelled[node] = False
            if labels in at:
                learner = make_learner(X, codes, asked)
                guesses = learner.predict(X) if learner else np.full(len(codes), codes[asked[0]])
                accuracy.append(peer_curves.share_right(guesses, codes, np.array(asked)))
        return accuracy


def make_learner(X: Floats, codes: Ints, labelled: list[int]) -> Any:
    """Their learner, fitted to the labelled points; None if there are fewer than two classes."""
    known = codes[labelled]
    if len(np.unique(known)) < 2:
        return None
    margin_sampling = needed("modAL.uncertainty", "bench", "this comparison").margin_sampling
    return needed("modAL.models", "bench", "this comparison").ActiveLearner(
        LogisticRegression(max_iter=1000),
        query_strategy=margin_sampling,
        X_training=X[labelled],
        y_training=known,
    )
