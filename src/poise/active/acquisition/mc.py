"""Model change (MC)."""

from dataclasses import dataclass
from typing import ClassVar

from poise.active.acquisition.registry import acquisitions
from poise.active.acquisition.variance.covariance import Statistics
from poise.active.acquisition.variance.criteria import model_change
from poise.active.acquisition.variance.forms import OnAllPoints, OnSubset, OnTruncation
from poise.arrays import Floats


class _Criterion:
    """What the three forms of it share."""

    weighted: ClassVar[bool] = True

    def criterion(self, statistics: Statistics) -> Floats:
        return model_change(statistics)


@acquisitions.register("mc")
@dataclass(frozen=True)
class ModelChange(_Criterion, OnAllPoints):
    """Largest expected change of the scores first (model change), on all points.

    ``(1 - (u_(1)(x_k) - u_(2)(x_k))) |C e_k| / (s2 + C_kk)``, the margin's uncertainty times
    how far an answer moves the scores (Miller & Bertozzi 2021).
    Parameters: see `OnAllPoints`.
    """

    use: ClassVar[str] = "to weigh uncertainty by influence"


@acquisitions.register("mc-truncated")
@dataclass(frozen=True)
class ModelChangeTruncated(_Criterion, OnTruncation):
    """Model change with m eigenpairs in place of the graph.

    Parameters: see `OnTruncation`.
    graphlearning's `model_change`, and equal to it for an orthonormal V.
    """


@acquisitions.register("mc-subset")
@dataclass(frozen=True)
class ModelChangeSubset(_Criterion, OnSubset):
    """Model change on random candidates, exactly: the paper's "Full".

    Parameters: see `OnSubset`.
    """
