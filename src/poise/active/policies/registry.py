"""The table of policies, and what they may declare."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from poise.active.snapshot import Snapshot
from poise.arrays import Floats, Ints
from poise.registry import Registry, declared


class Policy(Protocol):
    """How nodes are chosen: `k` different ones, best first; never one whose value is NaN.

    A function is enough. A class may also have the attributes of `PolicyTraits`.
    """

    def __call__(
        self, values: Floats, snapshot: Snapshot, k: int, rng: np.random.Generator, /
    ) -> Ints: ...


@dataclass(frozen=True)
class PolicyTraits:
    """What a policy may declare as class attributes, with the defaults.

    Attributes
    ----------
    batch : True chooses all nodes of a batch from one set of values. Otherwise one node is asked at
        a time, with the open questions answered in expectation.
    """

    batch: bool = False


policies: Registry[Policy] = Registry("policy", "poise.policies")


def as_policy(policy: Any) -> Policy:
    """A name or a function, as a function."""
    return policies.resolve(policy, "(values, snapshot, k, rng) -> nodes")


def is_for_batches(policy: Policy) -> bool:
    """Whether a policy chooses all nodes of a batch at once."""
    return declared(policy, PolicyTraits).batch
