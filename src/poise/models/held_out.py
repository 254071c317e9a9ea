"""Scores of each label by a model that has not seen it."""

from collections.abc import Callable

import numpy as np

from poise.arrays import Floats, Ints
from poise.graph import Graph
from poise.models.harmonic import spread
from poise.models.labels import Labels
from poise.models.poisson_weights import SHIFT, poisson_weights

#: Relative residual of the columns: held-out scores are compared, not published.
RTOL = 1e-5
#: Most labels that are held out: each costs a column, and more add little.
MOST_HELD_OUT = 200


def held_out_scores(
    graph: Graph,
    labels: Labels,
    held_out: Ints | None = None,
    *,
    tau: float = 0.0,
    shift: float = SHIFT,
    reweighted: bool = True,
    rtol: float = RTOL,
) -> Floats:
    """Leave-one-out scores of PWLL or Laplace learning, in closed form and one solve.

    The weights gamma are those of all labels. Let h_k be the column that is 1 at label k and 0 at
    the other labels, and ``B_ik = sum_j w_ij gamma_j h_k(j)``. Without label i, node i is free and
    its equation reads, with ``u = sum_k h_k y_k`` and superposition,

        u_i (tau / gamma_i + sum_j w_ij gamma_j - B_ii) = sum_{k != i} B_ik y_k

    which needs no difference of nearly equal numbers. A refit would change gamma too; calibration
    by refits is no better (docs/decisions/calibration.md).

    Parameters
    ----------
    held_out : (s,) positions in ``labels.nodes``; by default all, or `MOST_HELD_OUT` spread evenly
    tau, shift : as for `pwll`
    reweighted : False for Laplace learning
    rtol : relative residual of the columns

    Returns
    -------
    (s, C) scores; a row is zero if no other label is in the label's component

    References
    ----------
    X. Zhu, J. Lafferty, Z. Ghahramani, Combining active learning and semi-supervised learning using
    Gaussian fields and harmonic functions, ICML workshop 2003: the columns of harmonic functions.
    """
    chosen = spread_evenly(len(labels), MOST_HELD_OUT) if held_out is None else np.asarray(held_out)
    n_classes = len(labels.classes)
    if len(chosen) == 0:
        return np.zeros((0, n_classes))
    nodes = labels.nodes[chosen]
    if reweighted:
        gamma = poisson_weights(graph, [labels.nodes], shift=shift, rtol=rtol)
    else:
        gamma = np.ones((graph.n_nodes, 1))
    # One column for each label held out, one for the other labels of each class.
    others = np.ones(len(labels), dtype=bool)
    others[chosen] = False
    rest = [labels.nodes[others & (labels.codes == c)] for c in range(n_classes)]
    used = [c for c in range(n_classes) if len(rest[c])]
    groups = [np.array([node]) for node in nodes] + [rest[c] for c in used]
    (columns,) = spread(graph, gamma, [tau], [groups], rtol=rtol)
    near = graph.weights[nodes].multiply(gamma[:, 0]).tocsr()
    B = np.asarray(near @ columns)
    own = np.arange(len(nodes))
    # The diagonal of the node's equation: what its own column does not return to it.
    leaves = np.asarray(near @ (1.0 - columns[:, : len(nodes)]))[own, own]
    B[own, own] = 0.0
    classes = np.concatenate([labels.codes[chosen], np.array(used, dtype=np.int64)])
    sums = B @ (classes[:, None] == np.arange(n_classes)).astype(np.float64)
    # Rounding may leave less than what comes from the other labels.
    total = np.maximum(leaves + tau / gamma[nodes, 0], sums.sum(axis=1))
    reached = sums.any(axis=1)
    return np.where(reached[:, None], sums / np.where(reached, total, 1.0)[:, None], 0.0)


def held_out_by_refits(
    model: Callable[[Labels], Floats],
    labels: Labels,
    held_out: Ints | None = None,
    *,
    folds: int = 10,
) -> Floats:
    """Held-out scores of any model, by fitting it without a tenth of the labels ten times.

    Parameters
    ----------
    model : labels -> (n, C) scores of all nodes
    held_out : (s,) positions in ``labels.nodes``; by default all, or `MOST_HELD_OUT` spread evenly
    folds : number of refits; as many as labels held out for leave-one-out

    Returns
    -------
    (s, C) scores of the labels held out, each by a model that did not see it
    """
    chosen = spread_evenly(len(labels), MOST_HELD_OUT) if held_out is None else np.asarray(held_out)
    scores = np.zeros((len(chosen), len(labels.classes)))
    for part in dealt(len(chosen), folds):
        fewer = labels.without(chosen[part])
        if len(fewer):
            scores[part] = model(fewer)[labels.nodes[chosen[part]]]
    return scores


def spread_evenly(count: int, most: int) -> Ints:
    """At most `most` of the positions 0 to count - 1, evenly spaced."""
    return np.unique(np.linspace(0, max(count - 1, 0), min(count, most)).astype(np.int64))


def dealt(count: int, folds: int) -> list[Ints]:
    """Positions dealt into folds at random, with a fixed seed: adjacent `nodes` may be alike."""
    order = np.random.default_rng(0).permutation(count)
    return [order[start::folds] for start in range(min(folds, count))]
