"""The node of largest value over all ranks; ties are broken as by the policy "max"."""

from collections.abc import Sequence

import numpy as np

from poise.arrays import Bools, Floats, Ints
from poise.distributed.partition import Partition
from poise.errors import InputError

#: Number of random numbers drawn at a time.
BLOCK_DRAWS = 1_000_000


def choose(partition: Partition, values: Floats, candidates: Bools, seed: Sequence[int]) -> int:
    """The node that `poise.active.policies.max` would choose, the same at every rank.

    Ties are broken by the largest component, then at random: the generator of `seed` draws a number
    for each tied node, in the order of the nodes.

    Parameters
    ----------
    values : (rows,) larger = ask first
    candidates : (rows,) mask of the rows that may be asked
    """
    ranks = partition.ranks
    values = np.where(candidates, values, np.nan)
    best = float(np.nanmax(values)) if not np.isnan(values).all() else -np.inf
    some = ranks.total(np.array([int(not np.isnan(values).all())]))[0]
    if not some:
        raise InputError("the acquisition function gave NaN for every candidate")
    best = float(ranks.largest(np.array([best]))[0])
    tied = np.flatnonzero(values == best)
    items = partition.nodes[tied]
    n_tied = int(ranks.total(np.array([tied.size]))[0])
    if n_tied == 1:
        return int(ranks.largest(np.append(items, -1).max(keepdims=True))[0])
    # Every rank draws the same numbers and picks those of its own nodes.
    positions = _positions(partition, items)
    component = partition.components[tied]
    n_components = len(partition.component_sizes)
    first = int(ranks.least(component.min(initial=n_components, keepdims=True))[0])
    inside = component == first
    chance = _drawn(np.random.default_rng(list(seed)), n_tied, positions[inside])
    least = float(ranks.least(chance.min(initial=np.inf, keepdims=True))[0])
    winners = items[inside][chance == least]
    # Equal random numbers are practically impossible; then the smallest node.
    nobody = np.iinfo(np.int64).max
    return int(ranks.least(winners.min(initial=nobody, keepdims=True))[0])


def _positions(partition: Partition, items: Ints) -> Ints:
    """Number of smaller nodes among those that tie; one bit per node is exchanged."""
    n_words = -(-partition.n_nodes // 64)
    bits = np.zeros(n_words * 8, dtype=np.uint8)
    np.bitwise_or.at(bits, items // 8, (1 << (items % 8)).astype(np.uint8))
    bits = partition.ranks.union(bits)
    counts = np.bitwise_count(bits)
    before = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    lower = bits[items // 8] & ((1 << (items % 8)) - 1).astype(np.uint8)
    return np.asarray(before[items // 8] + np.bitwise_count(lower))


def _drawn(rng: np.random.Generator, count: int, positions: Ints) -> Floats:
    """The numbers at these positions among `count` drawn numbers."""
    drawn = np.empty(len(positions))
    for first in range(0, count, BLOCK_DRAWS):
        numbers = rng.random(min(BLOCK_DRAWS, count - first))
        among = np.flatnonzero((positions >= first) & (positions < first + BLOCK_DRAWS))
        drawn[among] = numbers[positions[among] - first]
    return drawn
