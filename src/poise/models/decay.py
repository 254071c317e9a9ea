r"""How far a label can reach at most: a proved bound on the scores of PWLL-tau.

At an unlabelled node the equation reads :math:`(D_i + \tau) u_i = \sum_j \gamma_i\gamma_j w_{ij}
u_j` with :math:`D_i = \gamma_i (W\gamma)_i`, so that

.. math:: u_i \le \frac{D_i}{D_i + \tau} \max_{j \sim i} u_j .

**Proposition.** Let :math:`c_i = \log(1 + \tau/D_i)` and :math:`d_i` the least sum of c over the
nodes of a path from a label to i, the label left out. Then every class's score, the sum of all, and
the norm of the scores at i are at most :math:`e^{-d_i}`.

*Proof.* Let :math:`v_i = e^{-d_i}`, 1 on the labels. By the recursion of shortest paths
:math:`d_i = c_i + \min_{j\sim i} d_j`, hence :math:`(D_i + \tau) v_i = D_i \max_{j\sim i} v_j \ge
\sum_j \gamma_i\gamma_j w_{ij} v_j`: v is a supersolution. The sum w of the scores solves the same
equation with w = 1 on the labels, and the matrix of the unlabelled nodes is an M-matrix, so
:math:`w \le v`. Scores are not negative, so each of them and their norm are at most w.
"""

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from poise.arrays import Floats, Ints
from poise.graph import Graph
from poise.models.harmonic import check_decay


def decay_bound(graph: Graph, constrained: Ints, gamma: Floats, tau: float) -> Floats:
    """(n,) upper bound of the scores, their sum and their norm in PWLL-tau: one Dijkstra search.

    Parameters
    ----------
    constrained : labelled nodes
    gamma : (n,) the weights of the model, for those labels
    tau : float >= 0

    Returns
    -------
    1 on the labels, 0 on components without one, and ``exp(-d)`` elsewhere, see above.
    """
    (tau,) = np.atleast_1d(check_decay(tau)).tolist()
    W = graph.weights
    D = gamma * (W @ gamma)
    cost = np.log1p(tau / np.maximum(D, np.finfo(np.float64).tiny))
    # Entering a node costs its decay, from every neighbour. No cost is 0: a sparse matrix would
    # lose the edge.
    steps = sparse.csr_array(
        (np.maximum(cost[W.indices], 1e-300), W.indices, W.indptr), shape=W.shape
    )
    distance = dijkstra(steps, indices=constrained, min_only=True)
    return np.asarray(np.exp(-distance))
