"""Sampling in proportion to exp(value)."""

from dataclasses import dataclass

import numpy as np

from poise.active.policies.max import largest
from poise.active.policies.registry import policies
from poise.active.snapshot import Snapshot
from poise.arrays import Floats, Ints
from poise.checks import real_number, whole_number
from poise.errors import InputError

#: ln of the paper's E_max, the largest double.
LOG_LARGEST = float(np.log(np.finfo(np.float64).max))


@policies.register("proportional")
@dataclass(frozen=True)
class Proportional:
    """A random node, the larger its value the likelier: p ~ exp(A / T).

    The paper's rule (supplement, "Proportional sampling") in a form that neither adding to the
    values nor scaling them changes. With M the range of the candidates' values, A_max the largest,
    Phi their ``1 - 1/K`` quantile and U the candidates::

        T = max(M eps_o, A_max - Phi),    eps_o = 1 / (ln(E_max) - ln|U|)

    so that about the best K-th of the candidates share the draw. For ``A = 1 - |u|`` whose norms
    reach from 0 to 1 it is the paper's ``max(eps_o, T_0)``: there M_A = M = 1. The paper divides by
    M_A = max A, which for `norm`, ``-|u|``, would be 0.

    Several nodes are drawn without replacement (Gumbel's trick: W. Kool et al., 2019), and are
    returned best first. Costs O(n).

    Parameters
    ----------
    K : float > 1
        The paper's K_hat: the inverse share of the smallest cluster.
    temperature : float > 0, optional
        T itself, in the units of the values, instead of the rule; at least ``M eps_o``, about
        0.0015 of the values' range. Smaller ones would be the policy `max` but for ties.
    draw : int >= 1
        Draw this many for every node wanted and keep the best of them; the authors' code has 10.
    """

    K: float = 10.0
    temperature: float | None = None
    draw: int = 1

    def __post_init__(self) -> None:
        K = real_number(
            self.K,
            "K",
            lambda number: 1 < number < float("inf"),
            "it must be a number above 1, such as the number of clusters",
        )
        object.__setattr__(self, "K", K)
        if self.temperature is not None:
            temperature = real_number(
                self.temperature,
                "temperature",
                lambda number: 0 < number < float("inf"),
                "it must be positive and finite; the smallest that works is about 0.0015 times "
                "the range of the values, None chooses",
            )
            object.__setattr__(self, "temperature", temperature)
        object.__setattr__(self, "draw", whole_number(self.draw, "draw", 1))

    def __call__(
        self, values: Floats, snapshot: Snapshot, k: int, rng: np.random.Generator
    ) -> Ints:
        allowed = np.flatnonzero(~np.isnan(values))
        below = _below_largest(values[allowed])
        T = rule(below, self.K) if self.temperature is None else checked(self.temperature, below)
        # The largest of (log p + Gumbel noise) are a sample without replacement in proportion to p.
        keys = rng.gumbel(size=len(allowed)) - (below / T if T > 0 else 0.0)
        n_drawn = min(k * self.draw, len(allowed))
        drawn = allowed[np.argpartition(-keys, n_drawn - 1)[:n_drawn]]
        kept = np.full(len(values), np.nan)
        kept[drawn] = values[drawn]
        return largest(kept, snapshot, k, rng)


def rule(below: Floats, K: float) -> float:
    """The temperature for values that lie `below` the largest; 0 if all are the same."""
    rank = int(np.ceil((1.0 - 1.0 / K) * len(below))) - 1  # of the smallest t with share >= 1 - 1/K
    quantile = -np.partition(-below, max(rank, 0))[max(rank, 0)]
    return max(overflow_bound(below), float(quantile))


def checked(temperature: float, below: Floats) -> float:
    """A fixed temperature, unless the paper's bound for these values refuses it."""
    least = overflow_bound(below)
    if temperature < least:
        raise InputError(
            f"temperature is {temperature}: with these values exp(A / T) overflows; give at least "
            f"{1.005 * least:.3g}, or temperature=None, or use the policy max"  # rounded up
        )
    return temperature


def overflow_bound(below: Floats) -> float:
    """The paper's eps_o in units of the values: their range / (ln E_max - ln|U|)."""
    return float(below.max()) / (LOG_LARGEST - float(np.log(len(below))))


def _below_largest(values: Floats) -> Floats:
    """How far each value is below the largest: >= 0, so that no exponential overflows."""
    if not np.isfinite(values).all():
        raise InputError(
            "the acquisition function gave infinite values: sampling in proportion needs finite "
            "ones; give NaN for what is not a candidate, or use the policy max"
        )
    return np.asarray(values.max() - values)
