"""What happened in a simulated session."""

from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

from poise.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Accuracy:
    """Shares of the unlabelled nodes that are right, (E,): of all, and the mean over classes."""

    accuracy: Floats
    balanced_accuracy: Floats


@dataclass(frozen=True, eq=False)
class Trace:
    """What happened in one simulated session of Q queries.

    Attributes
    ----------
    initial : nodes labelled at the start
    queries : (Q,) nodes asked, in order
    answers : (Q,) their classes
    n_answers : (E,) numbers of answers at which accuracy is measured: 0 .. Q, or every batch
    accuracy, balanced_accuracy : (E,) on the unlabelled nodes, in the paper's PWLL with tau =
        `predict_tau`; a learner predicts so with ``predictor="pwll"``. 0 while there is no label,
        since nothing is predicted, and 1 once every node is labelled
    clusters_seen : (E,) number of clusters with a labelled node
    n_clusters : number of clusters
    seconds : (Q,) time per query: choosing, answering and evaluating; with trials in lockstep, the
        step's time divided by the number of trials, and with batches by their size. Accuracies
        that no choice needs are measured for many steps together, and their time is shared.
    also : the same accuracies in other models, by name

    Examples
    --------
    >>> import poise
    >>> data = poise.load_dataset("blobs")
    >>> graph = poise.knn_graph(data.X, k=20)
    >>> trace = poise.simulate(graph, data.classes, clusters=data.clusters, budget=30)
    >>> len(trace.queries), trace.n_clusters, int(trace.clusters_seen[-1])
    (30, 8, 8)
    """

    initial: Ints
    queries: Ints
    answers: npt.NDArray[Any]
    n_answers: Ints
    accuracy: Floats
    balanced_accuracy: Floats
    clusters_seen: Ints
    n_clusters: int
    seconds: Floats
    also: dict[str, Accuracy] = field(default_factory=dict)
