"""The figures of the theory by name: what ``poise theory`` draws."""

from collections.abc import Callable

from poise.experiments.theory import bounds, certificate, one_dimension, plane
from poise.experiments.theory.chapter import Chapter

#: Name -> what makes that part of the page, in its order.
CHAPTERS: dict[str, Callable[[], Chapter]] = {
    "set-up": one_dimension.set_up,
    "solutions": one_dimension.solutions,
    "phase": one_dimension.phase,
    "bounds": bounds.interval,
    "clusters": plane.clusters,
    "new-cluster": bounds.cluster,
    "labels": bounds.labels,
    "limit": plane.limit,
    "certificate": certificate.certificate,
    "convergence": one_dimension.convergence,
}
