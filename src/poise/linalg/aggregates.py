"""Nested groups of neighbouring nodes: the order of the rows, and the coarse space.

Jacobi-preconditioned CG is slow on a Laplacian because of the few smooth modes that distinguish
clusters from each other. Functions that are constant on a few hundred connected groups of nodes
capture those modes; solving the small system they span exactly, at every step, cuts the number of
steps by a factor of two to four (docs/decisions/preconditioner.md).

Pairs of strongly joined nodes become groups, pairs of strongly joined groups become larger ones,
and so on. Rows in the order of that tree have most of their neighbours close by in memory.
"""

from typing import NamedTuple

import numba
import numpy as np
from scipy import sparse

from poise.arrays import Ints

#: Maximum number of groups, unless components need more. More groups mean fewer steps, but a
#: dense inverse of this size per operator. On large graphs the maximum is this share of the root of
#: the number of nodes: steps would grow otherwise.
MAX_GROUPS, ROOT_SHARE = 256, 0.5
#: Smaller groups (on average) are not worth their share of the dense inverse.
MIN_NODES_PER_GROUP = 32
#: Maximum number of rounds of pairing: more than any graph that fits in memory needs.
MAX_ROUNDS = 64
#: Passes per round over the nodes that have no partner yet.
PASSES_PER_ROUND = 6
#: A round that leaves more than this share of the groups is slow (on a star, say). The nodes left
#: over then join their strongest neighbours.
SLOW_ROUND_SHARE = 0.75
#: Odd factors that turn the two ends of an edge into the arbitrary number that breaks ties.
FIRST_FACTOR, SECOND_FACTOR = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)


class Aggregates(NamedTuple):
    """Groups of nodes, and an order in which every group is a contiguous range.

    Attributes
    ----------
    group : (n,) group numbers 0 .. m-1 in that order, or -1; nodes with -1 are at its end
    order : (n,) nodes, near ones close to each other
    """

    group: Ints
    order: Ints


def aggregate(weights: sparse.csr_array, components: Ints) -> Aggregates:
    """Pair nodes, then pairs, until there are few enough groups; continue for the order alone.

    Components that are too small for a group of their own get none: Jacobi solves them in a few
    steps. Every group lies within one component.
    """
    n = weights.shape[0]
    wanted = min(max(MAX_GROUPS, int(ROOT_SHARE * n**0.5)), n // MIN_NODES_PER_GROUP)
    sizes = np.bincount(components)
    large = (2 * wanted * sizes >= n)[components] if wanted else np.zeros(n, dtype=bool)
    parents: list[Ints] = []
    group = np.arange(n)
    chosen = np.full(n, -1, dtype=np.int64)
    matrix = weights
    for _ in range(MAX_ROUNDS):
        is_chosen = chosen.max(initial=-1) >= 0
        if not is_chosen and np.count_nonzero(np.bincount(group[large])) <= wanted:
            chosen[large] = group[large]
        if matrix.nnz == 0:
            break
        parent = _pairs(matrix.indptr, matrix.indices, matrix.data, False)
        if parent.max() + 1 > SLOW_ROUND_SHARE * len(parent):
            parent = _pairs(matrix.indptr, matrix.indices, matrix.data, True)
        parents.append(parent)
        group = parent[group]
        matrix = _contract(matrix, parent)
    if chosen.max(initial=-1) < 0:  # one group per large component, and still too many
        chosen[large] = group[large]
    # From the top of the tree down: children take the places of their parents.
    rank = np.arange(matrix.shape[0])
    for parent in reversed(parents):
        order = np.argsort(rank[parent], kind="stable")
        rank = np.empty(len(parent), dtype=np.int64)
        rank[order] = np.arange(len(parent))
    order = np.argsort(rank)
    order = order[np.argsort(~large[order], kind="stable")]
    # Number the groups in this order.
    in_order = chosen[order[large[order]]]
    starts = np.concatenate([[True], in_order[1:] != in_order[:-1]])[: len(in_order)]
    numbers = np.full(n, -1, dtype=np.int64)
    numbers[order[: len(in_order)]] = np.cumsum(starts) - 1
    return Aggregates(numbers, order)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _pairs(indptr, indices, data, join):  # type: ignore[no-untyped-def]
    """(n,) pair of each node: two nodes that are each other's strongest free neighbour.

    Strengths are in units of both degrees, ``w_ij / sqrt(d_i d_j)``; ties are broken by an
    arbitrary number of the edge. A node left over after `PASSES_PER_ROUND` passes stays alone or,
    with `join`, joins its strongest neighbour.
    """
    n = len(indptr) - 1
    scale = np.zeros(n)
    for i in range(n):
        for e in range(indptr[i], indptr[i + 1]):
            scale[i] += data[e]
        scale[i] = 1.0 / np.sqrt(scale[i]) if scale[i] > 0.0 else 0.0
    pair = np.full(n, -1, dtype=np.int64)
    best = np.full(n, -1, dtype=np.int64)
    count = 0
    for _ in range(PASSES_PER_ROUND):
        before = count
        for i in range(n):
            if pair[i] >= 0 or (best[i] >= 0 and pair[best[i]] < 0):
                continue
            best[i] = -1
            strongest, lot = np.float32(0.0), np.uint64(0)
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                if pair[j] >= 0 or j == i:
                    continue
                strength = np.float32(data[e] * scale[i] * scale[j])
                if strength < strongest:
                    continue
                number = np.uint64(min(i, j)) * FIRST_FACTOR + np.uint64(max(i, j)) * SECOND_FACTOR
                if strength > strongest or number >= lot:
                    best[i], strongest, lot = j, strength, number
        for i in range(n):
            j = best[i]
            if pair[i] < 0 and j >= 0 and pair[j] < 0 and best[j] == i:
                pair[i] = pair[j] = count
                count += 1
        if count == before:
            break
    paired = count
    for i in range(n):
        if pair[i] >= 0:
            continue
        into, strongest = -1, np.float32(0.0)
        if join:
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                strength = np.float32(data[e] * scale[i] * scale[j])
                if 0 <= pair[j] < paired and strength > strongest:
                    into, strongest = j, strength
        if into >= 0:
            pair[i] = pair[into]
        else:
            pair[i] = count
            count += 1
    return pair


def _contract(weights: sparse.csr_array, parent: Ints) -> sparse.csr_array:
    """Weights between the groups: those between their members, added up."""
    m = int(parent.max()) + 1
    children = np.argsort(parent, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(parent, minlength=m))])
    indptr, indices, data = _sums(
        weights.indptr, weights.indices, weights.data, parent, children, starts
    )
    return sparse.csr_array((data, indices, indptr), shape=(m, m))


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _sums(indptr, indices, data, parent, children, starts):  # type: ignore[no-untyped-def]
    m = len(starts) - 1
    position = np.full(m, -1, dtype=np.int64)
    pointers = np.zeros(m + 1, dtype=np.int64)
    columns = np.empty(len(indices), dtype=np.int32)
    sums = np.empty(len(indices), dtype=np.float64)
    used = 0
    for g in range(m):
        first = used
        for c in range(starts[g], starts[g + 1]):
            i = children[c]
            for e in range(indptr[i], indptr[i + 1]):
                h = parent[indices[e]]
                if h == g:
                    continue
                if position[h] < first:
                    position[h] = used
                    columns[used] = h
                    sums[used] = data[e]
                    used += 1
                else:
                    sums[position[h]] += data[e]
        pointers[g + 1] = used
    return pointers, columns[:used].copy(), sums[:used].copy()
