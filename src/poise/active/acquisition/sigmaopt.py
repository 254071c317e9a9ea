"""Sigma-optimality (Sigma-Opt)."""

from dataclasses import dataclass
from typing import ClassVar

from poise.active.acquisition.registry import acquisitions
from poise.active.acquisition.variance.covariance import Statistics
from poise.active.acquisition.variance.criteria import sum_reduction
from poise.active.acquisition.variance.forms import OnAllPoints, OnSubset, OnTruncation
from poise.arrays import Floats


class _Criterion:
    """What the three forms of it share."""

    squares: ClassVar[bool] = False

    def criterion(self, statistics: Statistics) -> Floats:
        return sum_reduction(statistics)


@acquisitions.register("sigmaopt")
@dataclass(frozen=True)
class SigmaOpt(_Criterion, OnAllPoints):
    """Largest fall of the summed covariance first (Sigma-Opt), on all points.

    ``(1^T C e_k)^2 / (s2 + C_kk)``, C the covariance given the nodes asked
    (Ma, Garnett & Schneider 2013).
    Parameters: see `OnAllPoints`.
    """

    cost: ClassVar[str] = "some 300 columns once, then 50 a query"
    use: ClassVar[str] = "to explore without looking at answers, away from outliers"


@acquisitions.register("sigmaopt-truncated")
@dataclass(frozen=True)
class SigmaOptTruncated(_Criterion, OnTruncation):
    """Sigma-Opt with m eigenpairs in place of the graph.

    Parameters: see `OnTruncation`.
    graphlearning's `sigma_opt` sums the m coefficients of a column where this sums over nodes, and
    therefore chooses differently.
    """


@acquisitions.register("sigmaopt-subset")
@dataclass(frozen=True)
class SigmaOptSubset(_Criterion, OnSubset):
    """Sigma-Opt on random candidates, exactly: the paper's "Full".

    Parameters: see `OnSubset`.
    """
