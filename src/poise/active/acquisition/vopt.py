"""Variance optimality (V-Opt)."""

from dataclasses import dataclass
from typing import ClassVar

from poise.active.acquisition.registry import acquisitions
from poise.active.acquisition.variance.covariance import Statistics
from poise.active.acquisition.variance.criteria import variance_reduction
from poise.active.acquisition.variance.forms import OnAllPoints, OnSubset, OnTruncation
from poise.arrays import Floats


class _Criterion:
    """What the three forms of it share."""

    def criterion(self, statistics: Statistics) -> Floats:
        return variance_reduction(statistics)


@acquisitions.register("vopt")
@dataclass(frozen=True)
class VOpt(_Criterion, OnAllPoints):
    """Largest fall of the total variance first (V-Opt), on all points.

    ``|C e_k|^2 / (s2 + C_kk)``, C the covariance given the nodes asked (Ji & Han 2012).
    Parameters: see `OnAllPoints`.
    """

    use: ClassVar[str] = "to explore without looking at answers"


@acquisitions.register("vopt-truncated")
@dataclass(frozen=True)
class VOptTruncated(_Criterion, OnTruncation):
    """V-Opt with m eigenpairs in place of the graph.

    Parameters: see `OnTruncation`.
    graphlearning's `var_opt` in its truncated form, and equal to it for an orthonormal V.
    """


@acquisitions.register("vopt-subset")
@dataclass(frozen=True)
class VOptSubset(_Criterion, OnSubset):
    """V-Opt on random candidates, exactly: the paper's "Full".

    Parameters: see `OnSubset`.
    """
