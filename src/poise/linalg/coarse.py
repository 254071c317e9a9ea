"""Coarse matrices of restricted, shifted Laplacians: one half of the two-level preconditioner.

``M^-1 = D^-1 + Z (Z^T A Z)^-1 Z^T`` for ``A = (L + diag(q))`` on the free nodes, `D` its diagonal
and `Z` the indicators of the groups (`aggregates.py`).
"""

from functools import cache

import numpy as np
from threadpoolctl import ThreadpoolController

from poise.arrays import Bools, Floats
from poise.linalg.prepared import PreparedLaplacian


def coarse_matrix(prepared: PreparedLaplacian, q: Floats, free: Bools) -> Floats:
    """``Z^T A Z`` for one operator: the stored ``Z^T L Z`` without the bound nodes.

    Parameters
    ----------
    q : (n,) diagonal added to `L`
    free : (n,) mask of the free nodes
    """
    group, m = prepared.group, prepared.n_groups
    E = prepared.coarse.copy()
    kept = free & (group >= 0)
    diagonal = np.zeros(m)  # floats: an empty bincount has integers
    diagonal += np.bincount(group[kept], weights=q[kept], minlength=m)
    bound = np.flatnonzero(~free & (group >= 0))
    diagonal -= np.bincount(group[bound], weights=prepared.degrees[bound], minlength=m)
    E[np.diag_indices(m)] += diagonal
    if len(bound):
        rows = prepared.weights[bound].tocoo()
        from_group, to_group = group[bound[rows.row]], group[rows.col]
        np.add.at(E, (from_group, to_group), rows.data)
        # An edge between two bound nodes appears once from each end; one between a bound and a
        # free node only from the bound one, so its transpose is added here.
        to_free = free[rows.col]
        np.add.at(E, (to_group[to_free], from_group[to_free]), rows.data[to_free])
    # A group without free nodes has a zero row: any positive diagonal makes it invertible.
    E[np.diag_indices(m)] += np.where(np.bincount(group[kept], minlength=m) == 0, 1.0, 0.0)
    return E


def coarse_inverses(prepared: PreparedLaplacian, diagonals: Floats, free: Bools) -> Floats:
    """(K, m, m) inverses, one per operator; `diagonals` and `free` are (K, n)."""
    matrices = [coarse_matrix(prepared, q, mask) for q, mask in zip(diagonals, free, strict=True)]
    # A second BLAS thread saves one millisecond, then spins for twenty on a core that the threads
    # of the solver need.
    with _blas().limit(limits=1, user_api="blas"):
        return np.linalg.inv(np.array(matrices))


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()
