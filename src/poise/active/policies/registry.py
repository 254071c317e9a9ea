"""The table of policies: name -> factory of ``(values, snapshot, k, rng) -> nodes``."""

from collections.abc import Callable
from typing import Any

import numpy as np

from poise.active.snapshot import Snapshot
from poise.arrays import Floats, Ints
from poise.registry import Registry

#: ``(values, snapshot, k, rng) -> (k,) distinct nodes``, best first; NaN values are never chosen.
#: A policy with ``batch = True`` chooses all nodes of a batch from one set of values; for the
#: others the Learner asks one node at a time, with the open questions answered in expectation.
Policy = Callable[[Floats, Snapshot, int, np.random.Generator], Ints]
policies: Registry[Policy] = Registry("policy")


def as_policy(policy: Any) -> Policy:
    """A name or a function, as a function."""
    return policies.resolve(policy, "(values, snapshot, k, rng) -> nodes")
