"""PWLL for labels that may be wrong: a label is a wish, not a constraint."""

import numpy as np
import numpy.typing as npt

from poise.arrays import Floats
from poise.errors import InputError
from poise.graph import Graph
from poise.models.components import reached
from poise.models.harmonic import spread
from poise.models.label_walk import label_walk, soft_targets
from poise.models.labels import Labels
from poise.models.poisson_weights import SHIFT, poisson_weights
from poise.models.registry import check_labels, models
from poise.models.result import ScoreResult
from poise.models.suspicion import NOISE, doubt


@models.register("soft-pwll")
def soft_pwll(
    graph: Graph,
    labels: Labels,
    *,
    noise: float = NOISE,
    weights: npt.ArrayLike | None = None,
    shift: float = SHIFT,
    relative: bool = False,
    rtol: float | None = None,
) -> ScoreResult:
    """PWLL with a penalty for leaving a label instead of a constraint: for doubtful answers.

    Minimises, over all nodes, labelled ones included,

        1/2 sum_ij gamma_i gamma_j w_ij |u_i - u_j|^2 + sum_i lambda_i |u_i - e_y(i)|^2,

    the second sum over the labels, ``lambda_i = w_i c_i`` with c_i the conductance between label i
    and all other labels. A weight of 1 makes the label count as much as all others together do at
    its node; with infinite weights this is PWLL. Seen from the labels this is a problem on the
    labels alone, `soft_targets`: they are solved for there, and PWLL extends them.

    Parameters
    ----------
    noise : float between 0 and 1
        Share of wrong labels expected: the weights then follow from what the other labels say
        about each (`poise.models.suspicion.doubt`).
    weights : float or (m,) array, positive, optional
        Weights of the labels, in the order of ``labels.nodes``, instead of those.
    shift, relative
        As for the Poisson weights; with `relative` nothing depends on the scale of the graph's
        weights.
    rtol : float, optional
        Relative residual of the weights and the scores; that of `poise.linalg.solve` by default.

    Notes
    -----
    A column for each label finds the walk between labels, one for each class the scores.

    References
    ----------
    D. Zhou, O. Bousquet, T. N. Lal, J. Weston, B. Schölkopf, Learning with local and global
    consistency, NIPS 2003: labels as penalties.
    """
    check_labels(labels)
    gamma = poisson_weights(graph, [labels.nodes], shift=shift, relative=relative, rtol=rtol)
    walk = label_walk(graph, labels.nodes, gamma[:, 0])
    if weights is None:
        trusted, _ = doubt(walk, labels, noise)
    else:
        trusted = _checked(weights, len(labels))
    targets = np.clip(soft_targets(walk, labels.one_hot, trusted), 0.0, 1.0)
    columns = [labels.nodes] * len(labels.classes)
    (scores,) = spread(graph, gamma, [0.0], [columns], [targets.T.tolist()], rtol=rtol)
    return ScoreResult(
        scores,
        labels.classes,
        reached(graph, labels.nodes),
        labels.counts / len(labels),
        gamma[:, 0],
    )


def _checked(weights: npt.ArrayLike, m: int) -> Floats:
    """`weights` as (m,) positive numbers, infinite ones allowed."""
    values = np.asarray(weights, dtype=np.float64)
    if values.shape not in ((), (m,)) or not np.all(values > 0):
        raise InputError(
            f"weights of shape {values.shape}, the smallest {values.min(initial=np.inf):g}, for "
            f"{m} labels: give one positive number, or one for each label"
        )
    return np.broadcast_to(values, (m,))
