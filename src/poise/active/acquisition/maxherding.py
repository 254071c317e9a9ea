"""MaxHerding: greedy coverage by a kernel."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from poise.active.acquisition.herd import Herd, Herding
from poise.active.acquisition.registry import acquisitions
from poise.active.snapshot import Snapshot
from poise.arrays import Floats


@acquisitions.register("maxherding")
@dataclass(frozen=True)
class MaxHerding(Herding):
    """The point that adds most to the coverage by a Gaussian kernel first: dense, not yet covered.

    The coverage of the constrained nodes S is ``mean over x of max over z in S of k(x, z)`` with
    ``k(x, z) = exp(-d(x, z)^2 / sigma^2)``, and the value of z is what it would add:

        mean over x of max(k(x, z) - max over s in S of k(x, s), 0).

    The coverage is submodular, so that the nodes asked reach at least ``1 - 1/e`` of what as many
    can. `probcover` is the same with balls in place of the kernel.

    The means run over a random sample of the nodes, and only its nodes are asked: all of them on
    graphs of at most `sample` nodes. Distances are those of the graph's metric; without features,
    Euclidean ones between the rows of the eigenvectors of the 20 smallest eigenvalues.

    scikit-activeml's `MaxHerding` asks the same, but scales points to unit length by default, and
    keeps an (n, n) array. This keeps the distances within the sample, 64 MB at 4,000 nodes, and
    computes the kernel from them at every query. Lazy evaluation would save little of that, and
    the values of most nodes would depend on when they were last evaluated.

    Parameters
    ----------
    sigma : float, optional
        Width of the kernel in the units of the metric. By default the root of half the median
        squared distance, which is 1, the paper's, for directions spread over a sphere.
    sample : int
        Nodes looked at.

    References
    ----------
    W. Bae, J. Noh and D. J. Sutherland, "Generalized coverage for more robust low-budget active
    learning", 2024.
    """

    uses_scores: ClassVar[bool] = False
    needs: ClassVar[str] = "features, or eigenpairs"
    cost: ClassVar[str] = "one pass over the kernel of 4,000 nodes"
    use: ClassVar[str] = "for few questions, on dense regions"

    def __call__(self, snapshot: Snapshot) -> Floats:
        herd: Herd = snapshot.memory
        weights = np.ones(len(herd.nodes))
        return herd.values(herd.sigma, weights, snapshot.candidates, snapshot.rng)
