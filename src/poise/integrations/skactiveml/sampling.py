"""poise as a query strategy of scikit-activeml."""

from typing import Any

import numpy as np

from poise.active import Learner
from poise.active.policies import is_for_batches
from poise.integrations.skactiveml.graphs import graphs
from poise.integrations.skactiveml.library import base, utils

SingleAnnotatorPoolQueryStrategy: Any = base.SingleAnnotatorPoolQueryStrategy


class PoiseSampling(SingleAnnotatorPoolQueryStrategy):  # type: ignore[misc]
    """Questions chosen by poise on a nearest-neighbour graph of all samples.

    The graph is built once for each content of `X` and shared by all instances, and with
    `PoiseClassifier`. Labels are not needed: the first query may have none.

    Parameters
    ----------
    acquisition : str or function of a Snapshot, default="auto"
        What is worth asking; see ``poise.acquisitions()``.
    policy : str or function, default="max"
        How samples are chosen from the utilities; see ``poise.policies()``.
    k : int, default=None
        Neighbours of each sample in the graph; by default 20, or all others if there are fewer.
    metric : str, default="euclidean"
        As for `poise.knn_graph`.
    tau : float, str or schedule, default=None
        Decay of the model that decides, as for `poise.Learner`. A schedule counts all labels.
    missing_label : scalar, str, np.nan or None, default=np.nan
        Value that stands for a missing label.
    random_state : int, RandomState or None, default=None
        Seed of all random choices. The same seed and labels give the same queries.

    Examples
    --------
    >>> import numpy as np
    >>> from poise.integrations.skactiveml import PoiseSampling
    >>> from sklearn.datasets import load_digits
    >>> X, digits = load_digits(return_X_y=True)
    >>> y = np.full(len(X), np.nan)
    >>> strategy = PoiseSampling(k=10, random_state=0)
    >>> for _ in range(20):
    ...     (i,) = strategy.query(X, y)
    ...     y[i] = digits[i]
    >>> len(np.unique(y[~np.isnan(y)])) >= 9
    True
    """

    def __init__(
        self,
        acquisition: Any = "auto",
        policy: Any = "max",
        k: int | None = None,
        metric: str = "euclidean",
        tau: Any = None,
        missing_label: Any = np.nan,
        random_state: Any = None,
    ) -> None:
        super().__init__(missing_label=missing_label, random_state=random_state)
        self.acquisition = acquisition
        self.policy = policy
        self.k = k
        self.metric = metric
        self.tau = tau

    def query(
        self,
        X: Any,
        y: Any,
        candidates: Any = None,
        batch_size: int = 1,
        return_utilities: bool = False,
    ) -> Any:
        """Choose the samples to label next.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            All samples, labelled or not.
        y : array-like of shape (n_samples,)
            Their labels, `missing_label` where there is none.
        candidates : array-like of int, default=None
            Indices of the samples that may be chosen; by default all without a label. An array of
            features raises a `MappingError`, because only samples in `X` are in the graph.
        batch_size : int, default=1
            Samples to choose. Each is chosen with the earlier ones answered in expectation.
        return_utilities : bool, default=False

        Returns
        -------
        query_indices : numpy.ndarray of shape (batch_size,)
        utilities : numpy.ndarray of shape (batch_size, n_samples), only with `return_utilities`
            What each was chosen by: np.nan for samples that could not be chosen.
        """
        X, y, candidates, batch_size, return_utilities = self._validate_data(
            X, y, candidates, batch_size, return_utilities, reset=True
        )
        _, mapping = self._transform_candidates(
            candidates, X, y, enforce_mapping=True, allow_only_unlabeled=True
        )
        learner = self._learner(X, y, mapping)
        queries, utilities = _ask(learner, batch_size, return_utilities)
        return (queries, utilities) if return_utilities else queries

    def _learner(self, X: Any, y: Any, mapping: Any) -> Learner:
        """A learner that knows the labels in `y` and asks among `mapping`."""
        codes = utils.ExtLabelEncoder(missing_label=self.missing_label_).fit_transform(y)
        learner = Learner(
            graphs.graph(X, self.k, self.metric),
            acquisition=self.acquisition,
            policy=self.policy,
            tau=self.tau,
            seed=int(self.random_state_.randint(2**31 - 1)),
            anticipate=False,
        )
        labelled = np.flatnonzero(codes >= 0)
        if len(labelled):
            # Told, not given: schedules count answers.
            learner.tell(labelled, codes[labelled])
        barred = np.ones(len(X), dtype=bool)
        barred[mapping] = barred[labelled] = False
        if barred.any():
            learner.exclude(np.flatnonzero(barred))
        return learner


def _ask(learner: Learner, batch_size: int, with_utilities: bool) -> tuple[Any, Any]:
    """The nodes that a learner asks about, and if wanted the (batch_size, n) values of each."""
    utilities = np.full((batch_size, learner.graph.n_nodes), np.nan)
    if not batch_size:
        return np.empty(0, dtype=np.int64), utilities
    if not with_utilities:
        return learner.ask(batch_size), utilities
    if is_for_batches(learner.policy):
        utilities[:] = learner.values
        queries = learner.ask(batch_size)
        for row in range(1, batch_size):
            utilities[row, queries[:row]] = np.nan
        return queries, utilities
    queries = np.empty(batch_size, dtype=np.int64)
    for row in range(batch_size):
        utilities[row] = learner.values
        (queries[row],) = learner.ask()
    return queries, utilities
