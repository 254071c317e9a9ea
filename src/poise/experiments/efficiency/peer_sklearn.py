"""scikit-learn's semi-supervised models. They do not choose labels, so they get random ones.

References
----------
- LabelSpreading: D. Zhou, O. Bousquet, T. N. Lal, J. Weston, B. Schölkopf, Learning with local and
  global consistency, NIPS 2004.
- Self-training: D. Yarowsky, Unsupervised word sense disambiguation rivaling supervised methods,
  ACL 1995.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier

from poise.arrays import Floats, Ints
from poise.experiments.efficiency.peer_curves import (
    Need,
    checkpoints,
    features,
    need_of,
    quiet,
    random_order,
    share_right,
)
from poise.experiments.efficiency.trials import NEIGHBOURS, Trial

#: Code of a point without a label.
UNLABELLED = -1

#: ((n, d) features, (n,) codes or `UNLABELLED`) -> (n,) predictions
Model = Callable[[Floats, Ints], Ints]


def label_spreading(X: Floats, y: Ints) -> Ints:
    """Labels spread over the graph of `NEIGHBOURS` nearest neighbours, which is sparse."""
    model = LabelSpreading(kernel="knn", n_neighbors=min(NEIGHBOURS, len(X)))
    return np.asarray(model.fit(X, y).transduction_)


def self_training(X: Floats, y: Ints) -> Ints:
    """Logistic regression, refitted to its own predictions above 0.75.

    It cannot be fitted to one class, so a single known class is predicted everywhere.
    """
    known = np.unique(y[y != UNLABELLED])
    if len(known) == 1:
        return np.full(len(X), known[0])
    model = SelfTrainingClassifier(LogisticRegression(max_iter=1000))
    return np.asarray(model.fit(X, y).predict(X))


@dataclass(frozen=True)
class RandomLabels:
    """A semi-supervised model with random labels.

    Attributes
    ----------
    name : its name in tables
    model : from features and some labels to predictions
    """

    name: str
    model: Model

    @property
    def note(self) -> str:
        return "random labels"

    def need(self, trial: Trial, codes: Ints) -> Need:
        return need_of(trial, codes)

    def run(self, trial: Trial, codes: Ints, budget: int) -> list[float]:
        X, order = features(trial), random_order(trial)
        accuracy = []
        for labels in checkpoints(trial, budget):
            labelled = order[:labels]
            y = np.full(len(codes), UNLABELLED)
            y[labelled] = codes[labelled]
            with quiet():
                guesses = self.model(X, y)
            accuracy.append(share_right(guesses, codes, labelled))
        return accuracy


SKLEARN_PEERS = (
    RandomLabels("sklearn-label-spreading", label_spreading),
    RandomLabels("sklearn-self-training", self_training),
)
