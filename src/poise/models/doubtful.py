"""PWLL with labels that hold, and any number of answers that may be wrong."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from poise.arrays import Bools, Floats, Ints
from poise.errors import InputError
from poise.graph import Graph
from poise.linalg import solve
from poise.models.components import laplacian, reached
from poise.models.labels import Labels
from poise.models.poisson_weights import poisson_weights
from poise.models.registry import check_labels
from poise.models.result import ScoreResult


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers that may be wrong.

    Attributes
    ----------
    nodes : (s,) distinct nodes without a label
    codes : (s,) classes, as positions in the classes of the labels
    weights : (s,) positive: with 1, an answer counts as much as the neighbours of its node together
    """

    nodes: Ints
    codes: Ints
    weights: Floats

    def __post_init__(self) -> None:
        sizes = {len(self.nodes), len(self.codes), len(self.weights)}
        if len(sizes) > 1 or not np.all(np.isfinite(self.weights) & (self.weights > 0)):
            raise InputError("answers need a node, a class and a finite positive weight each")

    def only(self, keep: Bools) -> Self:
        """Some of them, by a mask."""
        return type(self)(self.nodes[keep], self.codes[keep], self.weights[keep])


def doubtful_pwll(
    graph: Graph,
    labels: Labels,
    answers: Answers,
    *,
    gamma: Floats | None = None,
    rtol: float | None = None,
) -> ScoreResult:
    """PWLL that holds its labels and pays for leaving an answer.

    Minimises, with ``u_i = e_y(i)`` at the labels,

        1/2 sum_ij gamma_i gamma_j w_ij |u_i - u_j|^2 + sum_k lambda_k |u_k - e_c(k)|^2 / 2,

    the second sum over the answers, ``lambda_k = weight_k gamma_k (W gamma)_k``. So at the node of
    an answer ``u_k = s e_c(k) + (1 - s) (mean of the neighbours)`` with ``s = weight / (1 +
    weight)``. Unlike `soft_pwll`, which solves for a column of each label, this takes a column for
    each class. The Poisson weights are those of the labels: answers do not attract mass.

    Parameters
    ----------
    gamma : (n,) Poisson weights of these labels, or of more; computed if they are not given
    rtol : relative residual; that of `poise.linalg.solve` by default
    """
    check_labels(labels)
    if gamma is None:
        gamma = poisson_weights(graph, [labels.nodes], rtol=rtol)[:, 0]
    prepared, W, n_classes = laplacian(graph), graph.weights, len(labels.classes)
    around = (W @ gamma)[answers.nodes]
    # The ground-state form of `poise.models.harmonic.spread`: v = gamma u, and lambda / gamma^2 is
    # added to its diagonal.
    q = -prepared.product(gamma[:, None])[:, 0] / gamma
    q[answers.nodes] += answers.weights * around / gamma[answers.nodes]
    known = reached(graph, np.concatenate([labels.nodes, answers.nodes]))
    free = known.copy()
    free[labels.nodes] = False
    q[~free] = 0.0
    held = np.zeros((graph.n_nodes, n_classes))
    held[labels.nodes, labels.codes] = gamma[labels.nodes]
    rhs = np.asfortranarray(W @ held)
    rhs[answers.nodes, answers.codes] += answers.weights * around
    values = solve(prepared, rhs, diagonals=q, free=free, rtol=rtol).require().value
    scores = np.clip(values / gamma[:, None], 0.0, 1.0)
    scores[labels.nodes] = labels.one_hot
    return ScoreResult(scores, labels.classes, known, labels.counts / len(labels), gamma)
