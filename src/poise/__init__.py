"""poise: tell it a few labels, it asks for the next one worth knowing, and knows the rest."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from poise.active import (
        Constant,
        Geometric,
        Joined,
        Learner,
        Relative,
        Snapshot,
        Trace,
        acquisitions,
        diffused,
        policies,
        register,
        schedules,
        simulate,
        simulate_many,
    )
    from poise.data.datasets import Dataset, datasets, load_dataset
    from poise.data.embeddings import embed, embeddings
    from poise.errors import PoiseError
    from poise.graph import Graph, epsilon_graph, knn_graph
    from poise.integrations.projects import open_project
    from poise.models import Labels, ScoreResult
    from poise.models.estimators import (
        PWLL,
        WNLL,
        LaplaceLearning,
        PoissonLearning,
        ProperlyWeighted,
    )

#: Where each public name lives. Modules are imported when a name is first used, so that
#: ``import poise`` costs next to nothing.
_home = {
    "Constant": "poise.active",
    "Dataset": "poise.data.datasets",
    "Geometric": "poise.active",
    "Graph": "poise.graph",
    "Joined": "poise.active",
    "Labels": "poise.models",
    "LaplaceLearning": "poise.models.estimators",
    "Learner": "poise.active",
    "PWLL": "poise.models.estimators",
    "PoiseError": "poise.errors",
    "PoissonLearning": "poise.models.estimators",
    "ProperlyWeighted": "poise.models.estimators",
    "Relative": "poise.active",
    "ScoreResult": "poise.models",
    "Snapshot": "poise.active",
    "Trace": "poise.active",
    "WNLL": "poise.models.estimators",
    "acquisitions": "poise.active",
    "datasets": "poise.data.datasets",
    "diffused": "poise.active",
    "embed": "poise.data.embeddings",
    "embeddings": "poise.data.embeddings",
    "epsilon_graph": "poise.graph",
    "knn_graph": "poise.graph",
    "load_dataset": "poise.data.datasets",
    "open_project": "poise.integrations.projects",
    "policies": "poise.active",
    "register": "poise.active",
    "schedules": "poise.active",
    "simulate": "poise.active",
    "simulate_many": "poise.active",
}

__all__ = [
    "PWLL",
    "WNLL",
    "Constant",
    "Dataset",
    "Geometric",
    "Graph",
    "Joined",
    "Labels",
    "LaplaceLearning",
    "Learner",
    "PoiseError",
    "PoissonLearning",
    "ProperlyWeighted",
    "Relative",
    "ScoreResult",
    "Snapshot",
    "Trace",
    "__version__",
    "acquisitions",
    "datasets",
    "diffused",
    "embed",
    "embeddings",
    "epsilon_graph",
    "knn_graph",
    "load_dataset",
    "open_project",
    "policies",
    "register",
    "schedules",
    "simulate",
    "simulate_many",
]


def __getattr__(name: str) -> Any:
    if name not in _home:
        raise AttributeError(f"module 'poise' has no attribute {name!r}")
    value = getattr(import_module(_home[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
