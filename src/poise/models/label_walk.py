"""The labels as a small graph: which label a walk from a label reaches next.

PWLL without decay is a random walk on the reweighted graph. Seen from the labels alone it is a walk
among them, and models in which labels are doubted need nothing more: m labels, m x m numbers.
"""

import numpy as np

from poise.arrays import Floats, Ints
from poise.graph import Graph
from poise.linalg.breakdown import named_breakdown
from poise.models.harmonic import spread

#: Columns solved for at a time: they fill the solver's packets and take little memory.
CHUNK_COLUMNS = 64
#: Relative residual of the columns: the walk is compared, not published.
RTOL = 1e-5


def label_walk(graph: Graph, nodes: Ints, gamma: Floats, *, rtol: float | None = RTOL) -> Floats:
    """Probabilities that a walk from one label reaches another one first.

    With h_k the column that is 1 at label k and 0 at the other labels, a step from label i to its
    neighbours and the walk from there give ``B_ik = sum_j w_ij gamma_j h_k(j)``. Walks that return
    to i start again, so that ``P_ik = B_ik / sum_{l != i} B_il``.

    Parameters
    ----------
    nodes : (m,) distinct labelled nodes
    gamma : (n,) Poisson weights, or any positive ones

    Returns
    -------
    (m, m) array P: zero diagonal, rows sum to 1, or are 0 where no other label is reached
    """
    m = len(nodes)
    near = graph.weights[nodes].multiply(gamma).tocsr()
    B = np.zeros((m, m))
    for first in range(0, m, CHUNK_COLUMNS):
        chunk = np.arange(first, min(first + CHUNK_COLUMNS, m))
        groups = [nodes[[k]] for k in chunk]
        if len(chunk) < m:
            groups.append(np.delete(nodes, chunk))
        (columns,) = spread(graph, gamma[:, None], [0.0], [groups], rtol=rtol)
        B[:, chunk] = near @ columns[:, : len(chunk)]
    np.fill_diagonal(B, 0.0)
    total = B.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(B, total, out=np.zeros_like(B), where=total > 0))


@named_breakdown()
def soft_targets(walk: Floats, targets: Floats, weights: Floats) -> Floats:
    """Targets of labels of finite weight: each a mean of itself and of the labels it can reach.

    Labelled nodes are free and pay ``lambda_i |z_i - y_i|^2`` for leaving their label. With the
    weight ``w_i = lambda_i / c_i`` in units of the conductance c_i between label i and all others
    (which makes it free of the graph's scale), ``s_i = w_i / (1 + w_i)`` and P the `label_walk`,

        z_i = s_i y_i + (1 - s_i) sum_k P_ik z_k.

    Parameters
    ----------
    walk, targets : (m, m) and (m, C)
    weights : (m,) positive; infinite for a label that cannot be doubted

    Returns
    -------
    (m, C) array; the rows are means of rows of `targets`
    """
    share = _shares(walk, weights)
    return np.asarray(np.linalg.solve(_system(walk, share), share[:, None] * targets))


@named_breakdown()
def held_out_targets(walk: Floats, targets: Floats, weights: Floats) -> Floats:
    """Targets of each label by the others: its `soft_targets` if its weight were 0.

    By the formula of Sherman and Morrison, with N the inverse of ``I - (1 - s) P``, one inverse
    serves all labels.

    Returns
    -------
    (m, C) array; a row is 0 where no other label is reached
    """
    share = _shares(walk, weights)
    N = np.linalg.inv(_system(walk, share))
    z = N @ (share[:, None] * targets)
    own = share * np.diag(N)
    back = share * np.einsum("ik,ki->i", walk, N)
    here = z - own[:, None] * targets
    around = walk @ z - back[:, None] * targets
    scores = here + own[:, None] * around / np.maximum(1.0 - back, 1e-12)[:, None]
    alone = walk.sum(axis=1, keepdims=True) == 0
    return np.where(alone, 0.0, np.clip(scores, 0.0, 1.0))


def _shares(walk: Floats, weights: Floats) -> Floats:
    """Share of a label in its target: w / (1 + w), and 1 where no other label is reached."""
    shares = 1.0 - 1.0 / (1.0 + np.asarray(weights, dtype=np.float64))
    return np.where(walk.sum(axis=1) > 0, shares, 1.0)


def _system(walk: Floats, share: Floats) -> Floats:
    return np.asarray(np.eye(len(walk)) - (1.0 - share)[:, None] * walk)
