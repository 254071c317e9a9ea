"""Strategies and classifiers of scikit-activeml, with settings that suit features of any scale.

Parameters are the library's defaults, with these exceptions:

- ProbCover's radii are a grid from 0.05 to 2 times the scale of the features. The default grid, 0.2
  to 2, suits features of length one; if all of its radii are too large, the library warns and asks
  for smaller ones.
- DropQuery and Clue pass their seed to the clustering, which the library does not.
- The Parzen window takes its bandwidth from the library's own criterion, ``gamma="mean"``. The
  default, 1/d, ignores the scale of the features. It is fitted to the labelled points alone,
  because the others have weight 0 but would make its kernel n x n.
- Logistic regression may take 1,000 iterations.

References
----------
- Parzen window: O. Chapelle, Active learning for Parzen window classifier, AISTATS 2005.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from poise.arrays import Floats, Ints
from poise.integrations.skactiveml.classifier import PoiseClassifier
from poise.integrations.skactiveml.library import classifiers, pool

#: Strategies that cluster without passing their seed on.
UNSEEDED = ("Clue", "DropQuery")


def feature_scale(X: Floats) -> float:
    """The number to divide features by so that their mean variance is 1; 1 if they are constant.

    The library's kernels underflow and the penalty of logistic regression is too strong for
    features of another scale.
    """
    return float(np.sqrt(X.var(axis=0).mean())) or 1.0


def strategy(
    name: str, X: Floats, n_classes: int, seed: int, parameters: Mapping[str, Any] | None = None
) -> Any:
    """A query strategy.

    Parameters
    ----------
    X : (n, d) all points
    n_classes : number of classes, known or expected
    parameters : those of the strategy; the value None stands for the default
    """
    chosen = {key: value for key, value in (parameters or {}).items() if value is not None}
    if name == "ProbCover":
        scale = float(np.sqrt(X.var(axis=0).sum()))  # two random points are sqrt(2) of it apart
        chosen = {"n_classes": max(n_classes, 2), "deltas": scale * np.arange(1, 41) / 20} | chosen
    if name in UNSEEDED:
        clustering = {"random_state": seed} | chosen.get("cluster_algo_dict", {})
        chosen["cluster_algo_dict"] = clustering
    return getattr(pool, name)(random_state=seed, **chosen)


def classifier(name: str, X: Floats, n_classes: int, seed: int) -> Any:
    """A classifier of `known.CLASSIFIERS`, to be fitted by `fit`."""
    options = {"classes": range(n_classes), "random_state": seed}
    match name:
        case "logistic":  # in their wrapper, which predicts without labels and with one class
            model = LogisticRegression(max_iter=1000)
            return classifiers.SklearnClassifier(model, **options)
        case "parzen":
            window = classifiers.ParzenWindowClassifier
            on_all = window(metric_dict={"gamma": "mean"}, **options)
            on_all.fit(X, np.full(len(X), np.nan))
            return window(metric_dict={"gamma": on_all.metric_dict_["gamma"]}, **options)
        case "mixture":
            return classifiers.MixtureModelClassifier(**options)
        case _:
            return PoiseClassifier(**options)


def fit(model: Any, X: Floats, codes: Floats | Ints, labelled: Ints) -> Any:
    """Fit to some labelled points.

    The models that learn from points without a label get all of them, the others only the labelled
    ones; if there are none, a point with a missing label.

    Parameters
    ----------
    codes : (n,) classes, read at `labelled`
    """
    if isinstance(model, (PoiseClassifier, classifiers.MixtureModelClassifier)):
        y = np.full(len(X), np.nan)
        y[labelled] = codes[labelled]
        return model.fit(X, y)
    if len(labelled):
        return model.fit(X[labelled], codes[labelled].astype(np.float64))
    return model.fit(X[:1], np.full(1, np.nan))
