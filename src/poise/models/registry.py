"""The table of models: name -> score function ``(graph, labels, **parameters) -> ScoreResult``."""

from poise.errors import LabelError
from poise.models.labels import Labels
from poise.models.result import ScoreResult
from poise.registry import Registry

models: Registry[ScoreResult] = Registry("model")


def check_labels(labels: Labels) -> None:
    """Refuse to score without any label: there is nothing to spread."""
    if len(labels) == 0:
        raise LabelError("there are no labels: label at least one node")
