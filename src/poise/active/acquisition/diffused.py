"""Any acquisition, averaged over a short random walk."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from poise.active.acquisition.registry import acquisitions, as_acquisition, remembers, traits_of
from poise.active.acquisition.walks import walk_means
from poise.active.snapshot import Snapshot
from poise.arrays import Floats, Ints
from poise.checks import whole_number
from poise.graph import Graph


@acquisitions.register("diffused")
@dataclass(frozen=True)
class Diffused:
    """The mean of another acquisition over a short random walk: regions instead of outliers.

    ``P^t a`` with ``P = D^-1 W``, the random walk on the graph, and a(x) the values of
    `acquisition`; constrained nodes, and those without a value, count as the least of the others.
    An outlier may be as uncertain as can be: its neighbours are not, so it is no longer asked.
    What is left is where a whole region is uncertain.

    Parameters
    ----------
    acquisition : name or acquisition
    t : int
        Steps of the walk; 0 changes nothing.
    """

    acquisition: Any = "margin"
    t: int = 2

    needs: ClassVar[str] = "what the acquisition within needs"
    cost: ClassVar[str] = "that of the acquisition within, t products"
    use: ClassVar[str] = "to keep an acquisition of outliers from asking them"

    def __post_init__(self) -> None:
        object.__setattr__(self, "acquisition", as_acquisition(self.acquisition))
        whole_number(self.t, "t", 0)

    @property
    def uses_scores(self) -> bool:
        return traits_of(self.acquisition).uses_scores

    @property
    def tau(self) -> Any:
        return traits_of(self.acquisition).tau

    @property
    def rtol(self) -> float | None:
        return traits_of(self.acquisition).rtol

    def start(self, graph: Graph, labelled: Ints, seed: int) -> Any:
        """The memory is that of the acquisition within, None if it has none."""
        within = self.acquisition
        return within.start(graph, labelled, seed) if remembers(within) else None

    def advance(self, memory: Any, node: int) -> Any:
        return self.acquisition.advance(memory, node) if memory is not None else None

    def __call__(self, snapshot: Snapshot) -> Floats:
        values = np.asarray(self.acquisition(snapshot), dtype=np.float64)
        counts = np.isfinite(values)
        counts[snapshot.constrained] = False
        least = values[counts].min() if counts.any() else 0.0
        return walk_means(snapshot.graph, np.where(counts, values, least), self.t)


def diffused(acquisition: Any, t: int = 2) -> Diffused:
    """`acquisition`, a name or a function, averaged over a random walk of `t` steps.

    Examples
    --------
    >>> import poise
    >>> poise.diffused("margin", t=3)
    Diffused(acquisition=Margin(), t=3)
    """
    return Diffused(acquisition, t)
