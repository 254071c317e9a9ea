"""Scores of all points by different models, with the same labels."""

import warnings

import numpy as np
import numpy.typing as npt

from poise import Learner
from poise.arrays import Floats, Ints
from poise.experiments.efficiency.trials import BUDGETS, Trial
from poise.models.harmonic import Model, solve_problems

#: Relative residual of columns from which only the largest class is used.
RTOL = 1e-5
#: Inverse strength of the penalty of logistic regression, on features of mean square length 1.
STRENGTH = 100.0


def pwll_curve(trial: Trial, asked: Ints, codes: Ints) -> list[Floats]:
    """(n, C) scores of PWLL at each of `BUDGETS`, all solved in one pass."""
    n_classes = int(codes.max()) + 1
    problems, present = [], []
    for budget in BUDGETS:
        nodes = asked[:budget]
        seen = np.unique(codes[nodes])
        sources = tuple(tuple(nodes[codes[nodes] == c].tolist()) for c in seen)
        problems.append(Model(rtol=RTOL).problem(sources))
        present.append(seen)
    curves: list[Floats] = []
    for budget, seen, columns in zip(
        BUDGETS, present, solve_problems(trial.graph, problems), strict=True
    ):
        scores = np.zeros((trial.n_points, n_classes))
        scores[:, seen] = columns.values
        # The most frequent class of the labels for points that no label reaches.
        shares = np.bincount(codes[asked[:budget]], minlength=n_classes) / budget
        unreached = scores.sum(axis=1) == 0
        scores[unreached] = shares
        curves.append(scores)
    return curves


def combined_curve(trial: Trial, asked: Ints, codes: Ints) -> list[Floats]:
    """(n, C) scores of ``predictor="auto"``, poise's prediction, at each of `BUDGETS`."""
    n_classes = int(codes.max()) + 1
    curves: list[Floats] = []
    for budget in BUDGETS:
        known = {int(i): int(codes[i]) for i in asked[:budget]}
        learner = Learner(trial.graph, known, classes=range(n_classes))
        curves.append(learner.result.probabilities)
    return curves


def logistic(trial: Trial, nodes: Ints, codes: Ints, n_classes: int) -> Floats:
    """Logistic regression on the features, without a graph."""
    from sklearn.linear_model import LogisticRegression

    probabilities = np.zeros((trial.n_points, n_classes))
    answers = codes[nodes]
    if len(np.unique(answers)) < 2:
        probabilities[:, answers[0]] = 1.0
        return probabilities
    X = scaled(trial.X)
    with warnings.catch_warnings():
        # scikit-learn takes many classes with one label each for a regression, and warns.
        warnings.filterwarnings("ignore", message="The number of unique classes")
        model = LogisticRegression(C=STRENGTH, max_iter=300).fit(X[nodes], answers)
    probabilities[:, model.classes_] = model.predict_proba(X)
    return probabilities


def scaled(X: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Features with mean 0 and mean square length 1."""
    centred = X - X.mean(axis=0)
    length = float(np.sqrt(np.mean(np.einsum("ij,ij->i", centred, centred))))
    return np.asarray(centred / (length or 1.0), dtype=np.float32)


def share_right(scores: Floats, codes: Ints, labelled: Ints) -> float:
    """Share of the unlabelled points whose largest score is that of their class."""
    rest = np.ones(len(codes), dtype=bool)
    rest[labelled] = False
    return float((scores.argmax(axis=1) == codes)[rest].mean()) if rest.any() else 1.0
