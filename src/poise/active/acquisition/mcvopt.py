"""Model change with variance optimality (MCV-Opt)."""

from dataclasses import dataclass
from typing import ClassVar

from poise.active.acquisition.registry import acquisitions
from poise.active.acquisition.variance.covariance import Statistics
from poise.active.acquisition.variance.criteria import variance_reduction
from poise.active.acquisition.variance.forms import OnAllPoints, OnSubset, OnTruncation
from poise.linalg.status import Floats


class _Criterion:
    """What the three forms of it share."""

    uses_scores: ClassVar[bool] = True
    weighted: ClassVar[bool] = True

    def criterion(self, statistics: Statistics) -> Floats:
        return variance_reduction(statistics)


@acquisitions.register("mcvopt")
@dataclass(frozen=True)
class ModelChangeVOpt(_Criterion, OnAllPoints):
    """Uncertainty times the fall of the total variance first (MCV-Opt), on all points.

    ``(1 - (u_(1)(x_k) - u_(2)(x_k))) |C e_k|^2 / (s2 + C_kk)`` (Miller & Bertozzi 2021).

    Parameters
    ----------
    model : "hard" or "soft"
        Whether an answer is exact or has a variance of its own; see `variance.covariance`.
    epsilon, noise : float > 0
        Precision of the field and variance of an answer, in the soft model.
    projections : int
        Random projections; with 256 estimates err by 1 to 3 per cent.
    shortlist : int
        Columns kept exactly.

    Nodes of components without an asked node come first, the most central one of the largest
    component before all; see `variance.sketch`.
    """

    needs: ClassVar[str] = "the graph and scores"
    cost: ClassVar[str] = "some 600 columns once, then 50 a query and the scores"
    use: ClassVar[str] = "to explore, then to refine"


@acquisitions.register("mcvopt-truncated")
@dataclass(frozen=True)
class ModelChangeVOptTruncated(_Criterion, OnTruncation):
    """MCV-Opt with m eigenpairs in place of the graph.

    The same with ``C = V (Lambda + epsilon)^-1 V^T``, V the eigenvectors of the m smallest
    eigenvalues. graphlearning's `model_change_var_opt`, and equal to it for an
    orthonormal V.

    Parameters
    ----------
    m : int
        Eigenpairs; all of them if the graph has fewer nodes.
    normalisation : "combinatorial", "normalised" or "random-walk"
        Of the Laplacian; for the last, V = D^-1/2 times the normalised one's.
    model : "hard" or "soft"
        Whether the variance of an answer is 0 or `noise`. Once m answers are exact nothing is
        uncertain any more and all nodes tie.
    """

    needs: ClassVar[str] = "eigenpairs and scores"
    cost: ClassVar[str] = "eigenpairs once, then milliseconds and the scores"
    use: ClassVar[str] = "to reproduce the paper; misses small clusters"


@acquisitions.register("mcvopt-subset")
@dataclass(frozen=True)
class ModelChangeVOptSubset(_Criterion, OnSubset):
    """MCV-Opt on random candidates, exactly: the paper's "Full".

    Each question draws `size` candidates and solves for the column of each; the others are not
    considered. In components without an asked node, which come first, the most central of the
    candidates.

    Parameters
    ----------
    size : int
        Candidates; 500 in the paper.
    model, epsilon, noise
        As for `ModelChangeVOpt`.
    """

    needs: ClassVar[str] = "the graph and scores"
    cost: ClassVar[str] = "500 columns a query and the scores"
    use: ClassVar[str] = "to reproduce the paper"
