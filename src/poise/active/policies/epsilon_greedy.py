"""The largest value most of the time."""

from dataclasses import dataclass

import numpy as np

from poise.active.policies.max import largest
from poise.active.policies.registry import policies
from poise.active.snapshot import Snapshot
from poise.arrays import Floats, Ints
from poise.checks import real_number


@policies.register("epsilon-greedy")
@dataclass(frozen=True)
class EpsilonGreedy:
    """The largest value, but with probability epsilon any candidate.

    Decided anew for every node chosen (R. S. Sutton and A. G. Barto, Reinforcement Learning, 2018,
    section 2.2). epsilon = 0 is `max`, epsilon = 1 uniformly random. Costs O(n).

    Parameters
    ----------
    epsilon : float, 0 <= epsilon <= 1
    """

    epsilon: float = 0.1

    def __post_init__(self) -> None:
        expected = "it must be a probability, from 0 to 1"
        epsilon = real_number(self.epsilon, "epsilon", lambda share: 0 <= share <= 1, expected)
        object.__setattr__(self, "epsilon", epsilon)

    def __call__(
        self, values: Floats, snapshot: Snapshot, k: int, rng: np.random.Generator
    ) -> Ints:
        best = iter(largest(values, snapshot, k, rng).tolist())
        shuffled = iter(rng.permutation(np.flatnonzero(~np.isnan(values))).tolist())
        chosen: dict[int, None] = {}
        for _ in range(min(k, int(np.count_nonzero(~np.isnan(values))))):
            order = shuffled if rng.random() < self.epsilon else best
            chosen[next(node for node in order if node not in chosen)] = None
        return np.array(list(chosen), dtype=np.int64)
