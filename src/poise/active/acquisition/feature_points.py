"""The nodes as points: features, or coordinates of the graph where there are none."""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from poise.active.acquisition.distances import feature_space
from poise.active.acquisition.typiclust import spectral_coordinates
from poise.arrays import Ints
from poise.graph import Graph
from poise.graph.features import Features
from poise.graph.metrics import scikit_learn_form

Singles: TypeAlias = npt.NDArray[np.float32]

#: Entries beyond which, or below whose inverse, squares are not safe in single precision.
MAX_COORDINATE = 1e15


def node_points(graph: Graph) -> tuple[Features, str]:
    """The nodes as points, and the metric in which to compare them.

    The features in the graph's own metric; without features, the rows of the eigenvectors of the
    smallest eigenvalues, as in spectral clustering.
    """
    if graph.features is None:
        return spectral_coordinates(graph), "euclidean"
    return feature_space(graph)


def principal_components(points: Features, most: int) -> Any:
    """Dense points projected on their first `most` principal components; others as they are."""
    if not isinstance(points, np.ndarray) or min(points.shape) <= most:
        return points
    from sklearn.decomposition import PCA

    return PCA(most, svd_solver="covariance_eigh").fit_transform(points)


@dataclass(frozen=True, eq=False)
class Space:
    """Points with squared distances out of products of matrices, in single precision.

    Attributes
    ----------
    points, metric : as `node_points` gives them
    centre : (d,) mean of dense Euclidean points: products are only as exact as points are short
    unit : distances are measured in it; 1 unless their squares are beyond single precision
    """

    points: Any
    metric: str
    centre: Any
    unit: float

    @classmethod
    def of(cls, graph: Graph) -> "Space":
        return cls.of_points(*node_points(graph))

    @classmethod
    def of_points(cls, points: Any, metric: str) -> "Space":
        centre = None
        if metric == "euclidean" and isinstance(points, np.ndarray):
            centre = points.mean(axis=0, dtype=np.float64)
        entries = points if isinstance(points, np.ndarray) else points.data
        # The absolute values of all entries would be a second copy of the points.
        largest = float(max(entries.max(initial=0.0), -entries.min(initial=0.0)))
        usual = largest == 0.0 or 1.0 / MAX_COORDINATE < largest < MAX_COORDINATE
        return cls(points, metric, centre, 1.0 if usual else largest)

    def rows(self, nodes: Ints) -> Any:
        """Nodes in the form in which `squares` takes them."""
        if self.centre is None:
            return scikit_learn_form(self.points, self.metric)(self.points[nodes])
        return ((self.points[nodes] - self.centre) / self.unit).astype(np.float32)

    def squares(self, left: Any, right: Any) -> Singles:
        """(m, z) squared distances between two lists of `rows`."""
        from sklearn.metrics import pairwise_distances

        if self.centre is None:
            distances = pairwise_distances(left, right, metric=self.metric) / self.unit
            return np.asarray(distances * distances, dtype=np.float32)
        result = left @ right.T
        result *= np.float32(-2.0)
        result += np.einsum("id,id->i", left, left)[:, None]
        result += np.einsum("id,id->i", right, right)
        return np.asarray(np.maximum(result, 0.0, out=result))
