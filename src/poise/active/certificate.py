r"""Are unexplored groups asked before known ones? What is measured, and what is proved.

For some values of tau, the smallest norm within a radius of the labels is compared with the
smallest in every group (component or cluster) without a label. Norms are computed, and their error
is certified: with r the residual of the solved system in its ground-state form,
:math:`\max_i \gamma_i |r_i| \le \varepsilon\tau` implies that scores err by at most epsilon, since
the matrix of :math:`L_\gamma + \tau` on the unlabelled nodes is an M-matrix with row sums of at
least tau. So "measured" is as good as proved for this graph. "Proved in advance" is what
:func:`poise.models.decay.decay_bound` says of the groups without solving for their scores.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from poise.active.acquisition.distances import Nearest
from poise.arrays import Bools, Floats
from poise.checks import real_number
from poise.errors import GraphError, InputError, LabelError
from poise.graph import Graph
from poise.models.components import laplacian
from poise.models.decay import decay_bound
from poise.models.harmonic import Columns, Problem, solve_problems
from poise.models.labels import Labels
from poise.models.poisson_weights import SHIFT

TAUS = tuple(float(f"{10.0**exponent:.3g}") for exponent in np.arange(-6, 0.5, 0.5))


@dataclass(frozen=True, eq=False)
class Certificate:
    """What is asked first, for T values of tau and G groups without a label.

    Attributes
    ----------
    taus : (T,)
    radius : distance within which a node counts as near a label
    groups : (G,) the groups without a label
    near : (T,) smallest norm of an unlabelled node within the radius of a label, or infinite
    unexplored : (T, G) smallest norm in each group
    bound : (T, G) the decay bound of it
    error : (T,) certified error of the norms
    """

    taus: Floats
    radius: float
    groups: npt.NDArray[np.int64]
    near: Floats
    unexplored: Floats
    bound: Floats
    error: Floats

    @property
    def explores(self) -> Bools:
        """(T,) whether every such group comes before any node near a label, error included."""
        return np.asarray((self.unexplored + 2 * self.error[:, None] < self.near[:, None]).all(1))

    @property
    def foreseen(self) -> Bools:
        """(T,) whether the decay bound says so, the norms near the labels being known."""
        return np.asarray((self.bound + self.error[:, None] < self.near[:, None]).all(1))


def exploration_certificate(
    graph: Graph,
    labels: Labels,
    *,
    radius: float,
    groups: npt.ArrayLike | None = None,
    taus: Sequence[float] = TAUS,
    shift: float = SHIFT,
) -> Certificate:
    """Compare norms near the labels with those of unexplored groups, in PWLL-tau.

    Parameters
    ----------
    labels : at least one
    radius : float >= 0
        In the distances of the features, or along the edges where there are none.
    groups : (n,) int, optional
        Clusters; the graph's components by default.
    taus : positive numbers
    """
    if not len(labels):
        raise LabelError("there are no labels: label at least one node")
    real_number(radius, "radius", lambda value: value >= 0, "it must be a number, 0 or more")
    decays = np.asarray(taus, dtype=np.float64)
    if decays.ndim != 1 or not len(decays) or not (np.isfinite(decays) & (decays > 0)).all():
        raise InputError(f"taus are {list(taus)}: they must be positive numbers, one or more")
    group_of = graph.components if groups is None else np.asarray(groups)
    if group_of.shape != (graph.n_nodes,):
        raise GraphError(f"groups has shape {group_of.shape}: expected ({graph.n_nodes},)")
    by_class = tuple(tuple(nodes.tolist()) for nodes in labels.by_class if len(nodes))
    problems = [Problem(by_class, float(tau), shift) for tau in decays]
    near_a_label = Nearest.to(graph, labels.nodes).distances <= radius
    near_a_label[labels.nodes] = False
    waiting = np.setdiff1d(np.unique(group_of), group_of[labels.nodes])
    near, unexplored, bound, error = [], [], [], []
    for problem, columns in zip(problems, solve_problems(graph, problems), strict=True):
        norms = np.sqrt(np.einsum("ij,ij->i", columns.values, columns.values))
        reach = decay_bound(graph, labels.nodes, columns.weights, problem.tau)
        near.append(norms[near_a_label].min(initial=np.inf))
        unexplored.append([norms[group_of == group].min() for group in waiting])
        bound.append([reach[group_of == group].min() for group in waiting])
        error.append(np.sqrt(len(by_class)) * certified_error(graph, problem, columns))
    shape = (len(decays), len(waiting))
    return Certificate(
        decays,
        float(radius),
        waiting,
        np.array(near),
        np.array(unexplored).reshape(shape),
        np.array(bound).reshape(shape),
        np.array(error),
    )


def certified_error(graph: Graph, problem: Problem, columns: Columns) -> float:
    """A proved bound on the error of the scores, from their residual."""
    gamma, u = columns.weights, columns.values
    v = gamma[:, None] * u
    q = -laplacian(graph).product(gamma[:, None])[:, 0] / gamma + problem.tau / gamma**2
    residual = laplacian(graph).product(np.asfortranarray(v)) + q[:, None] * v
    residual[list(problem.constrained)] = 0.0
    return float(np.abs(gamma[:, None] * residual).max(initial=0.0) / problem.tau)
