"""Model change with variance optimality (MCV-Opt)."""

from dataclasses import dataclass
from typing import ClassVar

from poise.active.acquisition.registry import acquisitions
from poise.active.acquisition.variance.covariance import Statistics
from poise.active.acquisition.variance.criteria import variance_reduction
from poise.active.acquisition.variance.forms import OnAllPoints, OnSubset, OnTruncation
from poise.arrays import Floats


class _Criterion:
    """What the three forms of it share."""

    weighted: ClassVar[bool] = True

    def criterion(self, statistics: Statistics) -> Floats:
        return variance_reduction(statistics)


@acquisitions.register("mcvopt")
@dataclass(frozen=True)
class ModelChangeVOpt(_Criterion, OnAllPoints):
    """Uncertainty times the fall of the total variance first (MCV-Opt), on all points.

    ``(1 - (u_(1)(x_k) - u_(2)(x_k))) |C e_k|^2 / (s2 + C_kk)`` (Miller & Bertozzi 2021).
    Parameters: see `OnAllPoints`.
    """

    use: ClassVar[str] = "to explore, then to refine"


@acquisitions.register("mcvopt-truncated")
@dataclass(frozen=True)
class ModelChangeVOptTruncated(_Criterion, OnTruncation):
    """MCV-Opt with m eigenpairs in place of the graph.

    Parameters: see `OnTruncation`.
    graphlearning's `model_change_var_opt`, and equal to it for an orthonormal V.
    """


@acquisitions.register("mcvopt-subset")
@dataclass(frozen=True)
class ModelChangeVOptSubset(_Criterion, OnSubset):
    """MCV-Opt on random candidates, exactly: the paper's "Full".

    Parameters: see `OnSubset`.
    """
