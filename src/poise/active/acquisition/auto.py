"""The default: where an answer settles most."""

from dataclasses import dataclass, fields, replace
from typing import ClassVar

import numpy as np

from poise.active.acquisition.herd import Herd
from poise.active.acquisition.margin import margins
from poise.active.acquisition.registry import acquisitions
from poise.active.acquisition.walks import walk_ends, walk_means
from poise.active.schedules import Relative
from poise.active.snapshot import Snapshot
from poise.arrays import Floats, Ints
from poise.checks import decay, real_number, whole_number
from poise.graph import Graph

#: Largest reach that counts; its mean is 1. Beyond it lie hubs, which are near many nodes of other
#: classes: on bags of words they cost accuracy (docs/auto.md).
MAX_REACH = 2.0
#: A component without a label competes for a question if it has about this share of the nodes
#: per label.
WORTHY_COMPONENT_SHARE = 0.1
#: Gains below this share of 1 count as this: where all points coincide, the rest decides.
MIN_GAIN = 1e-12


@dataclass(frozen=True, eq=False)
class Ground:
    """What is remembered during a session.

    Attributes
    ----------
    reach : (n,) at most `MAX_REACH`
    herd : a sample of the points, and what the constrained ones cover; None without features
    """

    reach: Floats
    herd: Herd | None


@acquisitions.register("auto")
@dataclass(frozen=True)
class Auto:
    """Where a whole region is uncertain and an answer reaches many nodes: the default.

    With u the scores of PWLL-tau, tau a hundredth of the reweighted degree (`Relative`), the
    uncertainty of a node is

        U(x) = 1 - (u_(1)(x) - u_(2)(x)),   0 where x is labelled or asked.

    It is 1 far from every label, where the scores have decayed, and between two classes. With
    ``P = D^-1 W`` the random walk on the graph and m the number of labels, the value is

        (P^2 U)(x) * min(r(x), 2)^(m / (2 (m + 30))) * g(x)^(0.3 m / (m + 10))

    with ``r = (P^T)^2 1``. The mean over the walk passes over outliers, whose neighbours are known.
    The reach r counts the nodes whose walks lead to x, which its label will influence; it matters
    later, because the best connected nodes of few labels lie between clusters. It counts up to
    twice its mean: the largest belong to hubs, which reach nodes of many classes.

    The gain g is that of `uncertainty-herding`: how much of the uncertain points lies near x, in
    the features, and not near a point asked before. Two steps on the graph see a hundred
    neighbours, the gain sees the whole. It is computed for a random `sample`, of which questions
    are chosen; graphs without features do without it.

    Small components without a label are worth asking when they are not much smaller than the other
    components per label. Without any label the best connected region is asked first.

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
    gain : float
        Power of the gain that is approached with many labels; 0 leaves it out.
    gain_half : float
        Labels at which half of that power is reached.
    sample : int
        Points that the gain looks at.

    The defaults suit all data: docs/auto.md shows what each of them is worth.
    """

    steps: int = 2
    power: float = 0.5
    half: float = 30.0
    most: float = MAX_REACH
    gain: float = 0.3
    gain_half: float = 10.0
    sample: int = 4_000

    tau: ClassVar[Relative] = Relative(0.01)
    #: Values are differences of numbers of order 1: tighter solves choose the same questions.
    rtol: ClassVar[float] = 3e-4
    needs: ClassVar[str] = "nothing; features help"
    cost: ClassVar[str] = "one Poisson solve, one column per class, both loose; 4,000 gains"
    use: ClassVar[str] = "the default: few labels, any data, nothing to set"

    def __post_init__(self) -> None:
        whole_number(self.steps, "steps", 0)
        for name in ("power", "half", "gain", "gain_half"):
            decay(getattr(self, name), name)
        real_number(self.most, "most", lambda number: number > 0, "it must be positive")
        whole_number(self.sample, "sample", 2)

    def __repr__(self) -> str:
        changed = (f for f in fields(self) if getattr(self, f.name) != f.default)
        return f"Auto({', '.join(f'{f.name}={getattr(self, f.name)!r}' for f in changed)})"

    def start(self, graph: Graph, labelled: Ints, seed: int) -> Ground:
        reach = np.minimum(walk_ends(graph, self.steps), self.most)
        herd = None
        if self.gain and graph.features is not None:
            herd = Herd.of(graph, labelled, self.sample, None, seed)
        return Ground(reach, herd)

    def advance(self, memory: Ground, node: int) -> Ground:
        return replace(memory, herd=memory.herd and memory.herd.and_by(node))

    def __call__(self, snapshot: Snapshot) -> Floats:
        graph, ground = snapshot.graph, snapshot.memory
        m = snapshot.constrained.size
        if m == 0:
            return walk_means(graph, walk_ends(graph, 2 * self.steps), self.steps) * worth(graph, m)
        uncertain = uncertainty(snapshot)
        values = walk_means(graph, uncertain, self.steps) * worth(graph, m)
        values *= ground.reach ** (self.power * m / (m + self.half))
        if ground.herd is not None:
            weights = uncertain[ground.herd.nodes]
            gains = ground.herd.narrowing_gains(weights, snapshot.candidates, snapshot.rng)
            gains = np.where(gains < 0, 0.0, np.maximum(gains, MIN_GAIN))
            values *= gains ** (self.gain * m / (m + self.gain_half))
        return np.asarray(values)


def uncertainty(snapshot: Snapshot) -> Floats:
    """(n,) 1 minus the margin of the scores; 0 at constrained nodes.

    Before the first answer there are no scores: then how little the open questions cover.
    """
    if snapshot.classes:
        values = 1.0 - margins(snapshot.scores)
    else:
        gamma = snapshot.weights
        values = 1.0 - gamma / gamma.max()
    values[snapshot.constrained] = 0.0
    return values


def worth(graph: Graph, m: int) -> Floats:
    """(n,) how much of a question the size of a node's component is worth, from 0 to 1."""
    sizes = graph.component_sizes[graph.components]
    return np.asarray(sizes / (sizes + WORTHY_COMPONENT_SHARE * graph.n_nodes / (m + 1)))
