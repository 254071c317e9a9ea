"""Groups of neighbouring nodes: the coarse space of the two-level preconditioner.

Jacobi-preconditioned CG is slow on a Laplacian because of the few smooth modes that distinguish
clusters from each other. Functions that are constant on a few hundred connected groups of nodes
capture those modes; solving the small system they span exactly, at every step, cuts the number of
steps by a factor of two to three (docs/decisions/preconditioner.md).
"""

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

#: Groups at most. More groups mean fewer steps, but a dense inverse of this size per operator.
MAX_GROUPS = 256
#: A group of fewer nodes than this on average is not worth its share of the dense inverse.
MIN_NODES_PER_GROUP = 32


def aggregate(
    weights: sparse.csr_array, components: npt.NDArray[np.int64], seed: int = 0
) -> npt.NDArray[np.int64]:
    """Group of every node: the graph's Voronoi cells around random seeds, lengths 1/w.

    Seeds are dealt to the components in proportion to their sizes. Nodes of components too small
    to receive one get -1: Jacobi alone solves those in a few steps.

    Returns
    -------
    (n,) array of group numbers 0 .. m-1, or -1. Every group lies within one component.
    """
    n = weights.shape[0]
    wanted = min(MAX_GROUPS, n // MIN_NODES_PER_GROUP)
    sizes = np.bincount(components)
    shares = np.round(wanted * sizes / n).astype(np.int64)
    rng = np.random.default_rng(seed)
    order = rng.permutation(n)
    # Rank of each node within its component, in random order: the first `share` become seeds.
    by_component = order[np.argsort(components[order], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    rank = np.arange(n) - np.repeat(starts, sizes)
    seeds = np.sort(by_component[rank < np.repeat(shares, sizes)])
    groups = np.full(n, -1, dtype=np.int64)
    if len(seeds) == 0:
        return groups
    # Weights may be as small as the smallest float; a length must stay finite to be a length.
    length = 1.0 / np.maximum(weights.data, 1e-150)
    lengths = sparse.csr_array((length, weights.indices, weights.indptr), weights.shape)
    _, _, source = dijkstra(lengths, indices=seeds, min_only=True, return_predecessors=True)
    reached = source >= 0
    groups[reached] = np.searchsorted(seeds, source[reached])
    return groups
