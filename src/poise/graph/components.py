"""Connected components in a fixed order."""

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph


def ordered_components(W: sparse.csr_array) -> npt.NDArray[np.int64]:
    """Component of each node: 0 is the largest, equal sizes are ordered by their smallest node.

    Parameters
    ----------
    W : csr_array, shape (n, n)
        Symmetric weights.

    Returns
    -------
    ndarray of int64, shape (n,)
    """
    _, labels = csgraph.connected_components(W, directed=False)
    _, first, sizes = np.unique(labels, return_index=True, return_counts=True)
    order = np.lexsort((first, -sizes))
    rank = np.empty(order.size, dtype=np.int64)
    rank[order] = np.arange(order.size)
    return rank[labels]
