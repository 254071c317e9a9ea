"""A classifier of poise in scikit-activeml's form."""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_array, check_is_fitted

from poise.arrays import Floats
from poise.checks import shown
from poise.errors import InputError
from poise.integrations.skactiveml.graphs import graphs
from poise.integrations.skactiveml.library import base, utils
from poise.models.estimators import PWLL
from poise.models.graph_classifier import GraphClassifier

SkactivemlClassifier: Any = base.SkactivemlClassifier


class PoiseClassifier(SkactivemlClassifier):  # type: ignore[misc]
    """A model of poise: spreads the labels over a nearest-neighbour graph of all samples.

    Fit it on all samples, with `missing_label` for those without a label: they shape the graph.
    The graph is built once for each content of `X` and shared by all instances, and with
    `PoiseSampling`. Without any label all classes are equally probable. Sample weights are not
    supported.

    Parameters
    ----------
    model : classifier of poise, default=None
        Such as ``poise.LaplaceLearning(k=10)``; by default ``poise.PWLL()``.
    classes : array-like of shape (n_classes,), default=None
        All classes; by default those in `y`.
    missing_label : scalar, str, np.nan or None, default=np.nan
        Value that stands for a missing label.
    cost_matrix : array-like of shape (n_classes, n_classes), default=None
        ``cost_matrix[i, j]`` is the cost of predicting ``classes[j]`` for ``classes[i]``.
    random_state : int, RandomState or None, default=None
        Breaks ties in `predict`.

    Attributes
    ----------
    classes_ : numpy.ndarray of shape (n_classes,)
    cost_matrix_ : numpy.ndarray of shape (n_classes, n_classes)
    model_ : the fitted model, None with no label or fewer than two samples

    Examples
    --------
    >>> import numpy as np
    >>> from poise.integrations.skactiveml import PoiseClassifier
    >>> from sklearn.datasets import load_digits
    >>> X, digits = load_digits(return_X_y=True)
    >>> y = digits.astype(float)
    >>> y[100:] = np.nan
    >>> bool(PoiseClassifier().fit(X, y).score(X, digits) > 0.9)
    True
    """

    def __init__(
        self,
        model: Any = None,
        classes: Any = None,
        missing_label: Any = np.nan,
        cost_matrix: Any = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            classes=classes,
            missing_label=missing_label,
            cost_matrix=cost_matrix,
            random_state=random_state,
        )
        self.model = model

    def fit(self, X: Any, y: Any) -> Any:
        """Spread the labels in `y` over `X`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self : PoiseClassifier
        """
        X, codes, _ = self._validate_data(X, y)
        model = PWLL() if self.model is None else self.model
        if not isinstance(model, GraphClassifier):
            raise InputError(
                f"model is {shown(model)}: expected a classifier of poise, such as poise.PWLL()"
            )
        self.model_ = None
        known = codes[codes >= 0] if len(codes) else codes
        self._shares = np.full(len(self.classes_), 1 / len(self.classes_))
        if len(known):
            self._shares = np.bincount(known, minlength=len(self.classes_)) / len(known)
            if len(X) > 1:
                graph = graphs.graph(X, model.k, model.metric, model.kernel)
                self.model_ = clone(model).fit(graph, codes)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes in `classes_`, for samples of the graph or new ones.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        P : numpy.ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        X = check_array(X)
        utils.check_n_features(self, X, reset=False)
        if self.model_ is None:
            return np.tile(self._shares, (len(X), 1))
        P = np.zeros((len(X), len(self.classes_)))
        P[:, self.model_.classes_] = self.model_.predict_proba(X)
        return P
