"""Acquisition functions for the rows of one rank: those that need only products.

Each is the function of the same name in `poise.active.acquisition`, with sums and comparisons over
the whole graph taken over the ranks. The value of a row is that of its node.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from poise.active.acquisition import Auto, Coverage, Diffused, Margin, Norm
from poise.active.acquisition.auto import WORTHY_COMPONENT_SHARE
from poise.active.acquisition.margin import margins
from poise.active.columns import Beliefs
from poise.arrays import Floats, Ints
from poise.distributed.partition import Partition
from poise.errors import InputError


@dataclass(eq=False)
class Moment:
    """What an acquisition reads; every rank solves for it at the first read.

    Attributes
    ----------
    partition : Partition
    constrained : rows of this rank that are labelled or pending
    n_constrained : number of such nodes at all ranks
    covered : mask of the components that hold one
    n_classes : number of classes so far
    """

    partition: Partition
    constrained: Ints
    n_constrained: int
    covered: Any
    n_classes: int
    compute: Callable[[], Beliefs]
    compute_weights: Callable[[], Floats]
    walks: dict[int, Floats]
    _beliefs: Beliefs | None = field(default=None, init=False)

    @property
    def beliefs(self) -> Beliefs:
        if self._beliefs is None:
            self._beliefs = self.compute()
        return self._beliefs

    @property
    def looked_at_scores(self) -> bool:
        """Whether anything that needs the scores was read."""
        return self._beliefs is not None

    @cached_property
    def weights(self) -> Floats:
        return self.beliefs.weights if self.looked_at_scores else self.compute_weights()

    def walk_ends(self, steps: int) -> Floats:
        """Number of walks of `steps` steps that end at the node of each row; kept."""
        if steps not in self.walks:
            degrees, product = self.partition.degrees, self.partition.product
            ends = np.ones(self.partition.n_rows)
            for _ in range(steps):
                leaving = np.divide(ends, degrees, out=np.zeros_like(ends), where=degrees > 0)
                ends = np.where(degrees > 0, product(leaving), ends)
            self.walks[steps] = ends
        return self.walks[steps]

    def walk_means(self, values: Floats, steps: int) -> Floats:
        """Means of `values` at the ends of walks of `steps` steps."""
        degrees = self.partition.degrees
        for _ in range(steps):
            ahead = self.partition.product(values)
            values = np.divide(ahead, degrees, out=values.copy(), where=degrees > 0)
        return values


def check_acquisition(acquisition: Any) -> None:
    """Refuse an acquisition function that needs more than products."""
    within = acquisition.acquisition if isinstance(acquisition, Diffused) else acquisition
    if type(within) not in FUNCTIONS:
        names = ", ".join(kind.__name__.lower() for kind in FUNCTIONS)
        raise InputError(
            f"the acquisition {acquisition!r} cannot be computed at several ranks: use "
            f"{names}, or diffused with one of them"
        )


def values_of(acquisition: Any, moment: Moment) -> Floats:
    """(rows,) values of the rows of this rank."""
    if isinstance(acquisition, Diffused):
        return _diffused(acquisition, moment)
    return FUNCTIONS[type(acquisition)](acquisition, moment)


def _norm(_: Any, moment: Moment) -> Floats:
    return -moment.beliefs.norms


def _margin(_: Any, moment: Moment) -> Floats:
    return -margins(moment.beliefs.scores)


def _coverage(_: Any, moment: Moment) -> Floats:
    partition, gamma = moment.partition, moment.weights
    mean = partition.component_sums(gamma) / partition.component_sizes
    values = np.asarray(mean[partition.components] - gamma)
    if not moment.covered.all():
        top = partition.ranks.largest(values.max(initial=0.0, keepdims=True))[0]
        values[~moment.covered[partition.components]] = 2.0 * top
    return values


def _diffused(acquisition: Diffused, moment: Moment) -> Floats:
    values = np.asarray(values_of(acquisition.acquisition, moment), dtype=np.float64)
    counts = np.isfinite(values)
    counts[moment.constrained] = False
    own = values[counts].min() if counts.any() else np.inf
    least = float(moment.partition.ranks.least(np.array([own]))[0])
    least = least if np.isfinite(least) else 0.0
    return moment.walk_means(np.where(counts, values, least), acquisition.t)


def _auto(acquisition: Auto, moment: Moment) -> Floats:
    partition, m, steps = moment.partition, moment.n_constrained, acquisition.steps
    sizes = partition.component_sizes[partition.components]
    worth = sizes / (sizes + WORTHY_COMPONENT_SHARE * partition.n_nodes / (m + 1))
    if m == 0:
        return np.asarray(moment.walk_means(moment.walk_ends(2 * steps), steps) * worth)
    if moment.n_classes:
        uncertain = 1.0 - margins(moment.beliefs.scores)
    else:
        gamma = moment.weights
        most = partition.ranks.largest(gamma.max(initial=0.0, keepdims=True))[0]
        uncertain = 1.0 - gamma / most
    uncertain[moment.constrained] = 0.0
    reach = np.minimum(moment.walk_ends(steps), acquisition.most)
    values = moment.walk_means(uncertain, steps) * worth
    return np.asarray(values * reach ** (acquisition.power * m / (m + acquisition.half)))


FUNCTIONS: dict[type, Callable[[Any, Moment], Floats]] = {
    Norm: _norm,
    Margin: _margin,
    Coverage: _coverage,
    Auto: _auto,
}
