"""The models as scikit-learn classifiers: `fit` on points or a graph, -1 for "not labelled".

Each is a shell over the function of the same model; `GraphClassifier` is what they share. They are
dataclasses, so that each lists its own parameters and no others.
"""

from dataclasses import dataclass

from poise.arrays import Floats, Ints
from poise.graph import Graph
from poise.models.graph_classifier import GraphClassifier
from poise.models.held_out import held_out_scores
from poise.models.labels import Labels
from poise.models.laplace import laplace
from poise.models.poisson import poisson
from poise.models.poisson_weights import SHIFT
from poise.models.properly_weighted import properly_weighted
from poise.models.pwll import pwll
from poise.models.result import ScoreResult
from poise.models.wnll import wnll


@dataclass(eq=False, repr=False)
class PWLL(GraphClassifier):
    """Poisson reweighted Laplace learning, with decay `tau`: the model of the paper.

    Parameters
    ----------
    tau : float >= 0
        Decay of the scores away from the labels; 0 predicts best.
    shift : float > 0
        Smallest Poisson weight.
    k, metric, kernel, class_priors, calibrate, rtol
        See `GraphClassifier`.

    See Also
    --------
    poise.models.pwll : formula and reference

    Notes
    -----
    scikit-learn's `check_estimator` passes for all of these classifiers but for two checks:
    `check_classifiers_classes` takes -1 for a class, where it says "not labelled" here as elsewhere
    in scikit-learn's semi-supervised learning; `check_dtype_object` wants a TypeError for features
    that are no numbers, where poise raises its `FeatureError`, a ValueError.

    Examples
    --------
    >>> import poise
    >>> from sklearn.datasets import load_digits
    >>> X, digits = load_digits(return_X_y=True)
    >>> y = digits.copy()
    >>> y[50:] = -1
    >>> model = poise.PWLL().fit(X, y)
    >>> bool((model.transduction_[50:] == digits[50:]).mean() > 0.9)
    True
    """

    tau: float = 0.0
    shift: float = SHIFT

    def _model(self, graph: Graph, labels: Labels) -> ScoreResult:
        return pwll(graph, labels, tau=self.tau, shift=self.shift, rtol=self.rtol)

    def _held_out(self, labels: Labels, chosen: Ints) -> Floats:
        return held_out_scores(self.graph_, labels, chosen, tau=self.tau, shift=self.shift)


@dataclass(eq=False, repr=False)
class LaplaceLearning(GraphClassifier):
    """Laplace learning: labels extended harmonically, degenerate at low label rates.

    Parameters
    ----------
    tau : float >= 0
        Decay of the scores away from the labels.
    k, metric, kernel, class_priors, calibrate, rtol
        See `GraphClassifier`. With priors the degeneracy at low label rates mostly goes away.

    See Also
    --------
    poise.models.laplace : formula and reference

    Examples
    --------
    >>> import numpy as np, poise
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> known = np.where(np.arange(len(y)) < 200, y, -1)
    >>> model = poise.LaplaceLearning(k=10).fit(X, known)
    >>> bool((model.transduction_ == y).mean() > 0.9)
    True
    """

    tau: float = 0.0

    def _model(self, graph: Graph, labels: Labels) -> ScoreResult:
        return laplace(graph, labels, tau=self.tau, rtol=self.rtol)

    def _held_out(self, labels: Labels, chosen: Ints) -> Floats:
        return held_out_scores(self.graph_, labels, chosen, tau=self.tau, reweighted=False)


class PoissonLearning(GraphClassifier):
    """Poisson learning: labels as sources and sinks; the scores have signs.

    Parameters
    ----------
    k, metric, kernel, class_priors, calibrate, rtol
        See `GraphClassifier`.

    See Also
    --------
    poise.models.poisson : formula and reference

    Examples
    --------
    >>> import numpy as np, poise
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> known = np.where(np.arange(len(y)) < 200, y, -1)
    >>> model = poise.PoissonLearning(k=10).fit(X, known)
    >>> bool((model.transduction_ == y).mean() > 0.9)
    True
    """

    def _model(self, graph: Graph, labels: Labels) -> ScoreResult:
        return poisson(graph, labels, rtol=self.rtol)


@dataclass(eq=False, repr=False)
class WNLL(GraphClassifier):
    """Weighted nonlocal Laplacian: edges at labelled nodes count n/m times.

    Parameters
    ----------
    tau : float >= 0
        Decay of the scores away from the labels.
    k, metric, kernel, class_priors, calibrate, rtol
        See `GraphClassifier`.

    See Also
    --------
    poise.models.wnll : formula and reference

    Examples
    --------
    >>> import numpy as np, poise
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> known = np.where(np.arange(len(y)) < 200, y, -1)
    >>> model = poise.WNLL(k=10).fit(X, known)
    >>> bool((model.transduction_ == y).mean() > 0.9)
    True
    """

    tau: float = 0.0

    def _model(self, graph: Graph, labels: Labels) -> ScoreResult:
        return wnll(graph, labels, tau=self.tau, rtol=self.rtol)


@dataclass(eq=False, repr=False)
class ProperlyWeighted(GraphClassifier):
    """Properly weighted Laplacian: edges weighted by a power of the distance to the labels.

    Parameters
    ----------
    alpha, zeta, radius : float
        Exponent, largest weight and length of the weighting.
    tau : float >= 0
        Decay of the scores away from the labels.
    k, metric, kernel, class_priors, calibrate, rtol
        See `GraphClassifier`. A graph to fit on must hold its features.

    See Also
    --------
    poise.models.properly_weighted : formula and reference

    Examples
    --------
    >>> import poise
    >>> from sklearn.datasets import load_digits
    >>> X, digits = load_digits(return_X_y=True)
    >>> y = digits.copy()
    >>> y[200:] = -1
    >>> model = poise.ProperlyWeighted(k=10).fit(X, y)
    >>> bool((model.transduction_[200:] == digits[200:]).mean() > 0.8)
    True
    """

    alpha: float = 2.0
    zeta: float = 1e7
    radius: float = 0.1
    tau: float = 0.0

    def _model(self, graph: Graph, labels: Labels) -> ScoreResult:
        return properly_weighted(
            graph,
            labels,
            alpha=self.alpha,
            zeta=self.zeta,
            radius=self.radius,
            tau=self.tau,
            rtol=self.rtol,
        )
