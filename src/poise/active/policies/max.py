"""The largest values."""

from dataclasses import dataclass

import numpy as np

from poise.active.policies.registry import policies
from poise.active.snapshot import Snapshot
from poise.arrays import Floats, Ints


@policies.register("max")
@dataclass(frozen=True)
class Max:
    """The largest values; ties go to the largest component, then to chance.

    The rule for ties matters before the first label and in components without one, where every
    norm is exactly zero: isolated nodes must not eat the budget.
    """

    def __call__(
        self, values: Floats, snapshot: Snapshot, k: int, rng: np.random.Generator
    ) -> Ints:
        return largest(values, snapshot, k, rng)


def largest(values: Floats, snapshot: Snapshot, k: int, rng: np.random.Generator) -> Ints:
    """The `k` nodes of largest value, best first, ties broken as `Max` says."""
    allowed = np.flatnonzero(~np.isnan(values))
    if len(allowed) > k:
        # Only the nodes that can be among the k best are worth sorting.
        numbers = values[allowed]
        bar = numbers.max() if k == 1 else np.partition(numbers, len(allowed) - k)[len(allowed) - k]
        allowed = allowed[numbers >= bar]
    chance = rng.random(len(allowed))
    component = snapshot.graph.components[allowed]  # 0 is the largest
    return allowed[np.lexsort((chance, component, -values[allowed]))][:k]
