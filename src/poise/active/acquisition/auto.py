"""The default: where an answer settles most."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from poise.active.acquisition.registry import acquisitions
from poise.active.acquisition.walks import walk_ends, walk_means
from poise.active.schedules import Relative
from poise.active.snapshot import Snapshot
from poise.checks import decay, real_number, whole_number
from poise.graph import Graph
from poise.linalg.status import Floats, Ints

#: Reach that counts at most; its mean is 1. Beyond it lie hubs, which many listen to and few agree
#: with: on bags of words they cost 7 points of area (docs/auto.md).
MOST_REACH = 2.0
#: A component without a label competes for a question if it has about this share of the nodes
#: that each label has to speak for.
WORTH = 0.1


@acquisitions.register("auto")
@dataclass(frozen=True)
class Auto:
    """Where a whole region is uncertain and many would listen: the default, nothing to set.

    With u the scores of PWLL-tau, tau a hundredth of what holds nodes together (`Relative`), the
    uncertainty of a node is

        U(x) = 1 - (u_(1)(x) - u_(2)(x)),   0 where x is labelled or asked.

    It is 1 far from every label, where the scores have decayed, and between two classes. With
    ``P = D^-1 W`` the random walk on the graph and m the number of labels, the value is

        (P^2 U)(x) * min(r(x), 2)^(m / (2 (m + 30))),   r = (P^T)^2 1.

    The mean over the walk passes over outliers, whose neighbours are known. The reach r counts the
    nodes whose walks lead to x and which its label will speak to; it matters later, because the
    best connected nodes of few labels lie between clusters. It counts up to twice its mean: the
    largest belong to hubs, whose listeners are of many classes. Small components without a label
    are worth asking when they are not much smaller than what other labels speak for.

    Without any label the best connected region is asked first.

    Parameters
    ----------
    steps : int
        Steps of the walks.
    power : float
        Power of the reach that is approached with many labels; 0 leaves it out.
    half : float
        Labels at which half of that power is reached.
    most : float
        Reach that counts at most; infinity lets hubs in.

    Nobody has to set them: docs/auto.md says what each of them is worth.
    """

    steps: int = 2
    power: float = 0.5
    half: float = 30.0
    most: float = MOST_REACH

    tau: ClassVar[Relative] = Relative(0.01)
    #: Values are differences of numbers of order 1: tighter solves choose the same questions.
    rtol: ClassVar[float] = 1e-5
    needs: ClassVar[str] = "nothing"
    cost: ClassVar[str] = "one Poisson solve, one column per class, both loose"
    use: ClassVar[str] = "the default: few labels, any data, nothing to set"

    def __post_init__(self) -> None:
        whole_number(self.steps, "steps", 0)
        decay(self.power, "power")
        decay(self.half, "half")
        real_number(self.most, "most", lambda number: number > 0, "it must be positive")

    def start(self, graph: Graph, given: Ints, seed: int) -> Floats:
        """The reach of every node, as far as it counts."""
        return np.minimum(walk_ends(graph, self.steps), self.most)

    def advance(self, memory: Floats, node: int) -> Floats:
        return memory

    def __call__(self, snapshot: Snapshot) -> Floats:
        graph, reach = snapshot.graph, snapshot.memory
        m = snapshot.constrained.size
        if m == 0:
            return walk_means(graph, walk_ends(graph, 2 * self.steps), self.steps) * worth(graph, m)
        means = walk_means(graph, uncertainty(snapshot), self.steps)
        listeners = reach ** (self.power * m / (m + self.half))
        return np.asarray(means * listeners * worth(graph, m))


def uncertainty(snapshot: Snapshot) -> Floats:
    """(n,) 1 minus the margin of the scores; 0 at constrained nodes.

    While nothing is answered the scores say nothing: then how little the open questions cover.
    """
    if snapshot.classes:
        values = 1.0 - margins(snapshot.scores)
    else:
        gamma = snapshot.weights
        values = 1.0 - gamma / gamma.max()
    values[snapshot.constrained] = 0.0
    return values


def margins(scores: Floats) -> Floats:
    """(n,) first minus second score; a class that has no label counts as score 0."""
    if scores.shape[1] < 2:
        return np.asarray(scores.sum(axis=1))
    top = np.partition(scores, -2, axis=1)[:, -2:]
    return np.asarray(top[:, 1] - top[:, 0])


def worth(graph: Graph, m: int) -> Floats:
    """(n,) how much of a question the size of a node's component is worth, from 0 to 1."""
    sizes = graph.component_sizes[graph.components]
    return np.asarray(sizes / (sizes + WORTH * graph.n_nodes / (m + 1)))
