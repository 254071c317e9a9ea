"""What an acquisition function sees."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from poise.active.columns import Beliefs
from poise.arrays import Bools, Floats, Ints
from poise.graph import Graph
from poise.models.labels import Label, Labels


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The state of a learner at the moment of a decision; nothing in it changes.

    What needs a solve (`scores`, `norms`, `weights`) and the acquisition function's own
    `memory` are computed when first read, so that what is not read costs nothing.

    Attributes
    ----------
    graph : Graph
    labels : Labels, what has been answered
    pending : (p,) nodes asked and not yet answered
    constrained : (m,) labelled and pending nodes, in the order in which they became so
    candidates : (n,) mask of the nodes that may be asked
    tau : decay of the model that decides
    n_answers : answers so far, those given at the start not counted
    rng : generator for this decision alone

    Examples
    --------
    An acquisition reads a snapshot and returns a value per node, larger means ask first:

    >>> import poise
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> def central(snapshot: poise.Snapshot):
    ...     return snapshot.graph.degrees
    >>> learner = poise.Learner(poise.knn_graph(X, k=10), {0: 0}, acquisition=central)
    >>> learner.ask().shape
    (1,)
    """

    graph: Graph
    labels: Labels
    pending: Ints
    constrained: Ints
    candidates: Bools
    tau: float
    n_answers: int
    rng: np.random.Generator
    compute: Callable[[], Beliefs]
    compute_weights: Callable[[], Floats]
    recall: Callable[[], Any]

    @cached_property
    def _beliefs(self) -> Beliefs:
        return self.compute()

    @property
    def looked_at_scores(self) -> bool:
        """Whether anything that needs the scores has been read."""
        return "_beliefs" in self.__dict__

    @property
    def classes(self) -> tuple[Label, ...]:
        return self.labels.classes

    @property
    def scores(self) -> Floats:
        """(n, C) scores `u`, expected ones where questions are open."""
        return self._beliefs.scores

    @property
    def norms(self) -> Floats:
        """(n,) Euclidean norms of `u`, the root of the expected square where questions are open."""
        return self._beliefs.norms

    @cached_property
    def weights(self) -> Floats:
        """(n,) Poisson weights `gamma`; alone they cost no solve for the scores."""
        return self._beliefs.weights if self.looked_at_scores else self.compute_weights()

    @cached_property
    def memory(self) -> Any:
        """What the acquisition function's `start` and `advance` made; None if it has neither."""
        return self.recall()
