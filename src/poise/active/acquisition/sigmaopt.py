"""Sigma-optimality (Sigma-Opt)."""

from dataclasses import dataclass
from typing import ClassVar

from poise.active.acquisition.registry import acquisitions
from poise.active.acquisition.variance.covariance import Statistics
from poise.active.acquisition.variance.criteria import sum_reduction
from poise.active.acquisition.variance.forms import OnAllPoints, OnSubset, OnTruncation
from poise.linalg.status import Floats


class _Criterion:
    """What the three forms of it share."""

    uses_scores: ClassVar[bool] = False
    squares: ClassVar[bool] = False

    def criterion(self, statistics: Statistics) -> Floats:
        return sum_reduction(statistics)


@acquisitions.register("sigmaopt")
@dataclass(frozen=True)
class SigmaOpt(_Criterion, OnAllPoints):
    """Largest fall of the summed covariance first (Sigma-Opt), on all points.

    ``(1^T C e_k)^2 / (s2 + C_kk)``, C the covariance given the nodes asked
    (Ma, Garnett & Schneider 2013).

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

    needs: ClassVar[str] = "the graph"
    cost: ClassVar[str] = "some 300 columns once, then 50 a query"
    use: ClassVar[str] = "to explore without looking at answers, away from outliers"


@acquisitions.register("sigmaopt-truncated")
@dataclass(frozen=True)
class SigmaOptTruncated(_Criterion, OnTruncation):
    """Sigma-Opt with m eigenpairs in place of the graph.

    The same with ``C = V (Lambda + epsilon)^-1 V^T``, V the eigenvectors of the m smallest
    eigenvalues. graphlearning's `sigma_opt` sums the m coefficients of a column where
    this sums over nodes, and therefore chooses differently.

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

    needs: ClassVar[str] = "eigenpairs"
    cost: ClassVar[str] = "eigenpairs once, then milliseconds"
    use: ClassVar[str] = "to reproduce the paper; misses small clusters"


@acquisitions.register("sigmaopt-subset")
@dataclass(frozen=True)
class SigmaOptSubset(_Criterion, OnSubset):
    """Sigma-Opt on random candidates, exactly: the paper's "Full".

    Each question draws `size` candidates and solves for the column of each; the others are not
    considered. In components without an asked node, which come first, the most central of the
    candidates.

    Parameters
    ----------
    size : int
        Candidates; 500 in the paper.
    model, epsilon, noise
        As for `SigmaOpt`.
    """

    needs: ClassVar[str] = "the graph"
    cost: ClassVar[str] = "500 columns a query"
    use: ClassVar[str] = "to reproduce the paper"
