"""scikit-activeml's query strategies with its classifiers, from zero labels with declared classes.

Labels are queried in batches, from one of `BUDGETS` to the next. TypiClust, DropQuery and BADGE are
methods for batches. ProbCover and MaxHerding are greedy, so their batches are what they would
choose one by one, up to ties. Parameters are the library's defaults, with these exceptions:

- ProbCover's radii are a grid from 0.05 to 2 times the scale of the features. The default grid, 0.2
  to 2, suits features of length one; if all of its radii are too large, the library warns and asks
  for smaller ones.
- The Parzen window takes its bandwidth from the library's own criterion, ``gamma="mean"``. The
  default, 1/d, ignores the scale of the features. It is fitted to the labelled points alone,
  because the others have weight 0 but would make its kernel n x n.
- Logistic regression may take 1,000 iterations.

References
----------
- TypiClust: G. Hacohen, A. Dekel, D. Weinshall, Active learning on a budget: opposite strategies
  suit high and low budgets, ICML 2022.
- ProbCover: O. Yehuda, A. Dekel, G. Hacohen, D. Weinshall, Active learning through a covering lens,
  NeurIPS 2022.
- MaxHerding: W. Bae, J. Noh, D. J. Sutherland, Generalized coverage for more robust low-budget
  active learning, ECCV 2024.
- DropQuery: S. R. Gupte, J. Aklilu, J. J. Nirschl, S. Yeung-Levy, Revisiting active learning in the
  era of vision foundation models, TMLR 2024.
- BADGE: J. T. Ash, C. Zhang, A. Krishnamurthy, J. Langford, A. Agarwal, Deep batch active learning
  by diverse, uncertain gradient lower bounds, ICLR 2020.
- Parzen window: O. Chapelle, Active learning for Parzen window classifier, AISTATS 2005.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from poise.arrays import Floats, Ints
from poise.experiments.efficiency.peer_curves import (
    Array,
    Need,
    candidates,
    checkpoints,
    features,
    need_of,
    quiet,
    share_right,
)
from poise.experiments.efficiency.trials import Trial
from poise.extras import needed

#: (features, number of classes, seed) -> a query strategy, or a classifier that is not fitted.
Maker = Callable[[Floats, int, int], Any]


def typiclust(X: Floats, n_classes: int, seed: int) -> Any:
    """The most typical point of each cluster without a label."""
    return needed("skactiveml.pool", "bench", "this comparison").TypiClust(random_state=seed)


def probcover(X: Floats, n_classes: int, seed: int) -> Any:
    """The points whose balls cover most of what is not covered yet."""
    scale = float(np.sqrt(X.var(axis=0).sum()))  # two random points are sqrt(2) of it apart
    radii = scale * np.arange(1, 41) / 20
    pool = needed("skactiveml.pool", "bench", "this comparison")
    return pool.ProbCover(n_classes=max(n_classes, 2), deltas=radii, random_state=seed)


def maxherding(X: Floats, n_classes: int, seed: int) -> Any:
    """The points that add most to a smooth coverage."""
    return needed("skactiveml.pool", "bench", "this comparison").MaxHerding(random_state=seed)


def dropquery(X: Floats, n_classes: int, seed: int) -> Any:
    """Points from clusters of those whose prediction changes when features are dropped."""
    # The library does not pass its seed to the clustering.
    clustering = {"random_state": seed}
    pool = needed("skactiveml.pool", "bench", "this comparison")
    return pool.DropQuery(cluster_algo_dict=clustering, random_state=seed)


def badge(X: Floats, n_classes: int, seed: int) -> Any:
    """Points with long and different gradients of the loss."""
    return needed("skactiveml.pool", "bench", "this comparison").Badge(random_state=seed)


def logistic(X: Floats, n_classes: int, seed: int) -> Any:
    """Logistic regression in their wrapper, which predicts without labels and with one class."""
    return needed("skactiveml.classifier", "bench", "this comparison").SklearnClassifier(
        LogisticRegression(max_iter=1000), classes=range(n_classes), random_state=seed
    )


def parzen(X: Floats, n_classes: int, seed: int) -> Any:
    """Their Parzen window with a bandwidth from all points."""
    window = needed("skactiveml.classifier", "bench", "this comparison").ParzenWindowClassifier
    options = {"classes": range(n_classes), "random_state": seed}
    on_all = window(metric_dict={"gamma": "mean"}, **options).fit(X, np.full(len(X), np.nan))
    return window(metric_dict={"gamma": on_all.metric_dict_["gamma"]}, **options)


@dataclass(frozen=True)
class ActiveMLPeer:
    """A query strategy with a classifier.

    Attributes
    ----------
    name : its name in tables
    strategy, classifier : what asks, and what predicts
    uses_classifier : whether the strategy uses the classifier's predictions
    array : shape of the strategy's largest array
    """

    name: str
    strategy: Maker
    classifier: Maker
    uses_classifier: bool = False
    array: Array = ""

    @property
    def note(self) -> str:
        return "asks in batches"

    def need(self, trial: Trial, codes: Ints) -> Need:
        return need_of(trial, codes, self.array)

    def run(self, trial: Trial, codes: Ints, budget: int) -> list[float]:
        """Questions come from `candidates`; accuracy is measured on all points of the trial."""
        with quiet():
            return self._run(trial, codes, budget)

    def _run(self, trial: Trial, codes: Ints, budget: int) -> list[float]:
        X, need = features(trial), self.need(trial, codes)
        among = candidates(trial, need.n_candidates)
        pool, y = X[among], np.full(len(among), np.nan)
        strategy = self.strategy(pool, need.n_classes, trial.number)
        classifier = self.classifier(X, need.n_classes, trial.number)
        fit(classifier, X, codes, among[:0])
        asked: list[int] = []  # positions in `among`
        accuracy = []
        for labels in checkpoints(trial, budget):
            while len(asked) < labels:
                options: dict[str, Any] = {"batch_size": labels - len(asked)}
                if self.uses_classifier:
                    options |= {"clf": classifier, "fit_clf": False}
                # TypiClust may name a point twice in a batch when it runs out of clusters.
                new = list(dict.fromkeys(int(i) for i in strategy.query(pool, y, **options)))
                y[new] = codes[among[new]]
                asked += new
                fit(classifier, X, codes, among[asked])
            accuracy.append(share_right(classifier.predict(X), codes, among[asked]))
        return accuracy


def fit(classifier: Any, X: Floats, codes: Ints, labelled: Ints) -> None:
    """Fit to the labelled points; if there are none, to a point with a missing label."""
    if len(labelled):
        classifier.fit(X[labelled], codes[labelled].astype(np.float64))
    else:
        classifier.fit(X[:1], np.full(1, np.nan))


#: (name, strategy, whether it uses predictions, shape of its largest array)
STRATEGIES: tuple[tuple[str, Maker, bool, Array], ...] = (
    ("typiclust", typiclust, False, ""),
    ("probcover", probcover, False, "n x n"),
    ("maxherding", maxherding, False, "n x n"),
    ("dropquery", dropquery, True, ""),
    ("badge", badge, True, "n x C x d"),
)
CLASSIFIERS: tuple[tuple[str, Maker], ...] = (("logistic", logistic), ("parzen", parzen))

ACTIVEML_PEERS = tuple(
    ActiveMLPeer(f"activeml-{asks}-{guesses}", strategy, classifier, uses_classifier, array)
    for asks, strategy, uses_classifier, array in STRATEGIES
    for guesses, classifier in CLASSIFIERS
)
