"""Minimum norm: the paper's acquisition function."""

from dataclasses import dataclass
from typing import ClassVar

from poise.active.acquisition.registry import acquisitions
from poise.active.snapshot import Snapshot
from poise.arrays import Floats


@acquisitions.register("norm")
@dataclass(frozen=True)
class Norm:
    """Smallest norm of the scores first: explores, then refines (the paper's method).

    ``-|u(x)|_2`` (paper, eq. min-norm-af). The authors' code has ``1 - |u(x)|_2``; the smallest
    norms are around 1e-16, which the difference from 1 would round away.

    Costs one Poisson solve and one solve with a column per class, per query.
    """

    needs: ClassVar[str] = "scores"
    cost: ClassVar[str] = "one Poisson solve, one column per class"
    use: ClassVar[str] = "the default: finds what is unexplored, then refines"

    def __call__(self, snapshot: Snapshot) -> Floats:
        return -snapshot.norms
