"""Models: pure functions from a graph and labels to scores, and scikit-learn estimators."""

from poise.models.labels import Label, Labels
from poise.models.laplace import laplace
from poise.models.poisson import poisson
from poise.models.properly_weighted import properly_weighted
from poise.models.pwll import pwll
from poise.models.registry import models
from poise.models.result import ScoreResult
from poise.models.soft import soft_pwll
from poise.models.wnll import wnll

__all__ = [
    "Label",
    "Labels",
    "ScoreResult",
    "laplace",
    "models",
    "poisson",
    "properly_weighted",
    "pwll",
    "soft_pwll",
    "wnll",
]
