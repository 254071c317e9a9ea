"""Policies: from values to the nodes that are asked."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.active.snapshot import Snapshot
from poise.errors import InputError
from poise.linalg.status import Floats, Ints
from poise.registry import Registry

#: ``(values, snapshot, k, rng) -> (k,) distinct nodes``, best first; NaN values are never chosen.
Policy = Callable[[Floats, Snapshot, int, np.random.Generator], Ints]
policies: Registry[Policy] = Registry("policy")


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
        allowed = np.flatnonzero(~np.isnan(values))
        if len(allowed) > k:
            # Only the nodes that can be among the k best are worth sorting.
            bar = np.partition(values[allowed], len(allowed) - k)[len(allowed) - k]
            allowed = allowed[values[allowed] >= bar]
        chance = rng.random(len(allowed))
        component = snapshot.graph.components[allowed]  # 0 is the largest
        return allowed[np.lexsort((chance, component, -values[allowed]))][:k]


def as_policy(policy: Any) -> Policy:
    """A name or a function, as a function."""
    if isinstance(policy, str):
        return policies.make(policy)
    if callable(policy):
        return policy  # type: ignore[no-any-return]
    raise InputError(
        f"policy is {policy!r}: give a name ({', '.join(policies)}) or a function "
        "(values, snapshot, k, rng) -> nodes"
    )
