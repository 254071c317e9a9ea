"""What the scikit-learn classifiers of all models share: `fit`, `predict`, calibration, priors."""

from abc import ABCMeta, abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from poise.arrays import Bools, Floats, Ints
from poise.errors import FeatureError, GraphError
from poise.graph import Graph, knn_graph
from poise.graph.features import check_features
from poise.graph.kernel import KernelLike
from poise.models.calibration import Calibration
from poise.models.held_out import MOST_HELD_OUT, held_out_by_refits, spread_evenly
from poise.models.labels import Labels
from poise.models.priors import check_priors, predict_with_priors, warn_if_missed, weighted
from poise.models.result import ScoreResult, normalise_scores, sign_unit
from poise.models.targets import read_targets

#: Neighbours of each point, if there are enough points.
USUAL_K = 20


@dataclass(eq=False, repr=False, kw_only=True)
class GraphClassifier(ClassifierMixin, BaseEstimator, metaclass=ABCMeta):
    """Base class of the classifiers that spread a few labels over a graph.

    Parameters
    ----------
    k : int, optional
        Neighbours of each point in the graph that `fit` builds, fewer than there are points. By
        default 20, or all others where there are fewer. Ignored, with `metric` and `kernel`, by a
        fit on a `Graph`.
    metric, kernel
        As in `poise.knn_graph`; for its other options build the graph first and fit on it.
    class_priors : mapping of class to share, or array in the order of `classes_`, optional
        The shares that the classes are known to have. The predictions of the points fitted on then
        have these shares as closely as the scores allow (`poise.models.priors`).
    calibrate : bool
        Whether probabilities are calibrated on labels held out (`poise.models.calibration`), so
        that they say how often the prediction is right. Predictions stay the same; `fit` takes
        several times as long.
    rtol : float, optional
        Relative residual of the solves; that of `poise.linalg.solve` by default.

    Attributes
    ----------
    classes_ : (C,) array, the classes in ascending order
    graph_ : Graph
    scores_ : (n, C) array `u` of the points fitted on
    transduction_ : (n,) array, their predicted classes
    label_distributions_ : (n, C) array, their probabilities
    reached_ : (n,) mask of the points in components that hold a label; the others get the most
        frequent class among the labels (or the one with the largest prior)
    log_class_weights_ : (C,) array, what `class_priors` add to the logarithms of the probabilities
    calibration_ : Calibration or None; it may lack evidence (`has_evidence`) where labels are few
    n_features_in_ : int, where there are features
    """

    k: int | None = None
    metric: str = "euclidean"
    kernel: KernelLike = "gaussian"
    class_priors: Any = None
    calibrate: bool = False
    rtol: float | None = None

    @abstractmethod
    def _model(self, graph: Graph, labels: Labels) -> ScoreResult:
        """The scores of this model with this estimator's parameters."""

    def fit(self, X: Any, y: Any) -> Self:
        """Spread the labels in `y` over `X`.

        Parameters
        ----------
        X : array-like or sparse, shape (n, d), or Graph with n nodes
        y : array-like, shape (n,)
            The class of each point: whole numbers (also as floats), text or truth values. Not
            labelled are -1, NaN, None and pandas' NA, and among text "-1", what NumPy makes of -1.
        """
        if isinstance(X, Graph):
            graph = X
            for name in ("n_features_in_", "feature_names_in_"):  # of a fit before this one
                if hasattr(self, name):
                    delattr(self, name)
            if graph.features is not None:
                self.n_features_in_ = graph.features.shape[1]
        else:
            features = self._features(X, reset=True)
            k = min(USUAL_K, features.shape[0] - 1) if self.k is None else self.k
            graph = knn_graph(features, k, metric=self.metric, kernel=self.kernel)
        labels, self.classes_ = read_targets(y, graph.n_nodes)
        result = self._model(graph, labels)
        self.graph_, self.scores_, self.reached_ = graph, result.scores, result.reached
        self._unit, self._fallback = sign_unit(result.scores), result.fallback
        self.log_class_weights_: Floats = np.zeros(len(self.classes_))
        if self.class_priors is not None:
            priors = check_priors(self.class_priors, self.classes_.tolist())
            match = predict_with_priors(result, priors)
            warn_if_missed(match, priors, self.classes_.tolist())
            self.log_class_weights_, self._fallback = match.log_weights, priors
        self.calibration_: Calibration | None = None
        self.label_distributions_ = self._probabilities(self.scores_, self.reached_)
        if self.calibrate:
            self._calibrate(labels)
        self.transduction_ = self.classes_[np.argmax(self.label_distributions_, axis=1)]
        return self

    def predict(self, X: Any, *, return_reached: bool = False) -> Any:
        """Classes of new points, or of the nodes of the graph fitted on: `predict_proba`'s largest.

        Parameters
        ----------
        X : array-like or sparse, shape (m, d), or the Graph fitted on
        return_reached : bool
            Also return which points the labels reach. The others lie far from all points fitted on,
            or are most similar to points in components without a label.

        Returns
        -------
        (m,) array of classes, with `return_reached` also the (m,) mask
        """
        probabilities, reached = self._predicted(X)
        classes = np.asarray(self.classes_[np.argmax(probabilities, axis=1)])
        return (classes, reached) if return_reached else classes

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, from the kernel-weighted mean of the neighbours' scores.

        Parameters
        ----------
        X : array-like or sparse, shape (m, d), or the Graph fitted on
            New points take the scores of their k nearest points (`Graph.out_of_sample_weights`); a
            point that was fitted on is treated as a new one, so that neighbours have a say. With
            the distance from all points fitted on, probabilities fall to the shares of the classes
            (`poise.graph.placement`). For a graph, the nodes' own scores are used.

        Returns
        -------
        (m, C) array
            Rows sum to one. Scores are divided by their sum; those of Poisson learning, which have
            signs, go through a softmax.
        """
        return self._predicted(X)[0]

    def _predicted(self, X: Any) -> tuple[Floats, Bools]:
        """(m, C) probabilities, and the (m,) mask of the points that the labels reach."""
        check_is_fitted(self)
        if isinstance(X, Graph):
            if X is not self.graph_ and X.fingerprint != self.graph_.fingerprint:
                raise GraphError(
                    f"{X!r} is not the graph that this model was fitted on, {self.graph_!r}: "
                    "a transductive model knows that graph only, fit it again or pass points"
                )
            return self.label_distributions_.copy(), self.reached_.copy()
        if self.graph_.features is None:
            raise GraphError(
                "this model was fitted on a graph that holds no features, so new points cannot be "
                "placed in it: fit on points, or on knn_graph(X, keep_features=True)"
            )
        placement = self.graph_.place(self._features(X, reset=False))
        known = placement.weights @ self.reached_ > 0
        rows = self._probabilities(placement.weights @ self.scores_, known)
        return placement.faded(rows, self._fallback), known & placement.near

    def _probabilities(self, scores: Floats, known: Bools) -> Floats:
        rows = normalise_scores(scores, known, self._fallback, self._unit)
        spoken_of = known & scores.any(axis=1)
        rows = weighted(rows, self.log_class_weights_, spoken_of)
        return rows if self.calibration_ is None else self.calibration_.apply(rows, ~spoken_of)

    def _held_out(self, labels: Labels, chosen: Ints) -> Floats:
        """Scores of labels by models that have not seen them."""
        return held_out_by_refits(
            lambda fewer: self._model(self.graph_, fewer).scores, labels, chosen
        )

    def _calibrate(self, labels: Labels) -> None:
        """Fit `calibration_` and apply it to all points but the labels, which are known."""
        chosen = spread_evenly(len(labels), MOST_HELD_OUT)
        scores = self._held_out(labels, chosen)
        known = np.asarray(scores.any(axis=1))
        held_out = np.where(known[:, None], self._probabilities(scores, known), 0.0)
        labelled = np.zeros(self.graph_.n_nodes, dtype=bool)
        labelled[labels.nodes] = True
        raw = self.label_distributions_
        pool = raw[self.reached_ & ~labelled]
        self.calibration_ = Calibration.fit(pool, held_out, labels.codes[chosen])
        keep = labelled | ~(self.reached_ & self.scores_.any(axis=1))
        self.label_distributions_ = self.calibration_.apply(raw, keep)

    def _features(self, X: Any, *, reset: bool) -> Any:
        features = check_features(X, minimum=2 if reset else 1)
        try:  # names and number of the columns
            validate_data(
                self, X if hasattr(X, "columns") else features, reset=reset, skip_check_array=True
            )
        except ValueError as error:
            raise FeatureError(" ".join(str(error).split())) from None
        return features

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
