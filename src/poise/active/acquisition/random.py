"""Uniformly random: the baseline."""

from dataclasses import dataclass
from typing import ClassVar

from poise.active.acquisition.registry import acquisitions
from poise.active.snapshot import Snapshot
from poise.arrays import Floats


@acquisitions.register("random")
@dataclass(frozen=True)
class Random:
    """Uniformly random: the baseline, and the only unbiased sample. Costs nothing."""

    uses_scores: ClassVar[bool] = False
    needs: ClassVar[str] = "nothing"
    cost: ClassVar[str] = "none"
    use: ClassVar[str] = "as a baseline, and for an unbiased sample"

    def __call__(self, snapshot: Snapshot) -> Floats:
        return snapshot.rng.random(snapshot.graph.n_nodes)
