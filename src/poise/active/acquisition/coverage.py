"""Coverage: the smallest Poisson weight."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from poise.active.acquisition.registry import acquisitions
from poise.active.snapshot import Snapshot
from poise.arrays import Floats


@acquisitions.register("coverage")
@dataclass(frozen=True)
class Coverage:
    """Smallest Poisson weight first: farthest from everything asked, whatever the answers.

    ``mean_c(gamma) - gamma(x)``, the mean over the component of x, with gamma the solution of
    ``L gamma = sum_j (delta_j - 1/N)`` over the labelled and pending nodes j (paper, eq.
    gamma_eq_discrete). gamma falls away from these nodes as the potential of charges does: its
    minimum is what they cover least. On a connected graph this is the order of ``-gamma``; between
    components the mean makes it comparable, for the smallest gamma of each is the same by
    definition. Components where nothing has been asked come first.

    Knows no classes and no tau: it explores and never refines. While tau is not tiny, `norm` mostly
    asks for the very same node. Costs one Poisson solve per query.
    """

    uses_scores: ClassVar[bool] = False
    needs: ClassVar[str] = "nothing, not even answers"
    cost: ClassVar[str] = "one Poisson solve"
    use: ClassVar[str] = "to spread questions before anything is answered"

    def __call__(self, snapshot: Snapshot) -> Floats:
        components, sizes = snapshot.graph.components, snapshot.graph.component_sizes
        gamma = snapshot.weights
        mean = np.bincount(components, weights=gamma) / sizes
        values = np.asarray(mean[components] - gamma)
        covered = np.zeros(len(sizes), dtype=bool)
        covered[components[snapshot.constrained]] = True
        if not covered.all():
            # Above every candidate: where a component has one, its largest value is positive.
            values[~covered[components]] = 2.0 * values.max(initial=0.0)
        return values
