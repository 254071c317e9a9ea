"""scikit-activeml: poise as a query strategy and a classifier there, its strategies here by name.

Nothing is imported before it is used: scikit-activeml imports large libraries.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from poise.integrations.skactiveml.classifier import PoiseClassifier
    from poise.integrations.skactiveml.sampling import PoiseSampling

_home = {
    "PoiseClassifier": "poise.integrations.skactiveml.classifier",
    "PoiseSampling": "poise.integrations.skactiveml.sampling",
}

__all__ = ["PoiseClassifier", "PoiseSampling"]


def __getattr__(name: str) -> Any:
    if name not in _home:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_home[name]), name)
