"""scikit-activeml's query strategies with its classifiers, from zero labels with declared classes.

Labels are queried in batches, from one of `BUDGETS` to the next. TypiClust, DropQuery and BADGE are
methods for batches. ProbCover and MaxHerding are greedy, so their batches are what they would
choose one by one, up to ties. `poise.integrations.skactiveml.making` explains their parameters.

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
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.arrays import Ints
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


@dataclass(frozen=True)
class ActiveMLPeer:
    """A query strategy with a classifier.

    Attributes
    ----------
    name : its name in tables
    strategy, classifier : names of what asks and of what predicts
    uses_classifier : whether the strategy uses the classifier's predictions
    array : shape of the strategy's largest array
    """

    name: str
    strategy: str
    classifier: str
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
        from poise.integrations.skactiveml import making  # which imports scikit-activeml

        X, need = features(trial), self.need(trial, codes)
        among = candidates(trial, need.n_candidates)
        pool, y = X[among], np.full(len(among), np.nan)
        strategy = making.strategy(self.strategy, pool, need.n_classes, trial.number)
        classifier = making.classifier(self.classifier, X, need.n_classes, trial.number)
        making.fit(classifier, X, codes, among[:0])
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
                making.fit(classifier, X, codes, among[asked])
            accuracy.append(share_right(classifier.predict(X), codes, among[asked]))
        return accuracy


#: (strategy, whether it uses predictions, shape of its largest array)
STRATEGIES: tuple[tuple[str, bool, Array], ...] = (
    ("TypiClust", False, ""),
    ("ProbCover", False, "n x n"),
    ("MaxHerding", False, "n x n"),
    ("DropQuery", True, ""),
    ("Badge", True, "n x C x d"),
)

ACTIVEML_PEERS = tuple(
    ActiveMLPeer(
        f"activeml-{strategy.lower()}-{classifier}", strategy, classifier, uses_classifier, array
    )
    for strategy, uses_classifier, array in STRATEGIES
    for classifier in ("logistic", "parzen")
)
