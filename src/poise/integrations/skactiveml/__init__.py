"""scikit-activeml: poise as a query strategy and a classifier there, its strategies here by name."""

from poise.integrations.skactiveml.classifier import PoiseClassifier
from poise.integrations.skactiveml.sampling import PoiseSampling

__all__ = ["PoiseClassifier", "PoiseSampling"]
