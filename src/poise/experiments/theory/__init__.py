"""The figures of the theory by name, as ``poise theory`` draws them."""

from collections.abc import Callable

from poise.experiments.theory import bounds, certificate, one_dimension, plane
from poise.experiments.theory.chapter import Chapter

#: Name -> function that makes this part of the page, in the order of the page.
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
