"""Neighbour search: several libraries behind one small interface.

A backend prepares the points once and then answers queries. It returns candidates with exact
distances; `poise.graph.search` sorts them, leaves the point itself out and fills gaps.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeAlias

import numpy as np

from poise.errors import InputError
from poise.graph.features import Features, is_sparse
from poise.graph.metrics import FloatArray, IntArray, pair_distances, scikit_learn_form
from poise.registry import Registry

Searcher: TypeAlias = Callable[[Features, int], tuple[IntArray, FloatArray]]
"""(queries (m, d), count c) -> indices (m, c), -1 for none, and distances (m, c) in any order."""

SPARE_CANDIDATES = 4
"""Candidates fetched beyond the count, so that float32 rounding cannot displace a true one."""

REDUCED_ABOVE_DIMENSIONS, REDUCED_MAX_DIMENSIONS = 64, 4096
"""Numbers of dimensions for which the approximate search uses principal directions. With more, the
directions themselves would take minutes."""

PRINCIPAL_SAMPLE_POINTS = 5_000
"""Points that the principal directions are computed from."""


class Backend(ABC):
    """A way to find neighbours. Subclasses are frozen dataclasses of their settings."""

    metrics: ClassVar[frozenset[str] | None] = frozenset({"euclidean"})
    """Metrics that it can search; None: all that scikit-learn knows."""
    sparse: ClassVar[bool] = False

    @abstractmethod
    def prepare(self, points: Features, metric: str, seed: int) -> Searcher:
        """Index the points; the searcher may be called many times."""

    def check(self, points: Features, metric: str) -> None:
        """Refuse points or a metric that this backend cannot search."""
        name = type(self).__name__
        if is_sparse(points) and not self.sparse:
            raise InputError(
                f"the backend {name} cannot search sparse features: use backend='brute'"
            )
        if self.metrics is not None and metric not in self.metrics:
            raise InputError(
                f"the backend {name} cannot search with the metric {metric!r}: it knows "
                f"{', '.join(sorted(self.metrics))}; use backend='brute'"
            )


backends: Registry[Backend] = Registry("backend")


@backends.register("brute")
@dataclass(frozen=True)
class Brute(Backend):
    """scikit-learn, every pair in float64: exact, any metric, dense or sparse features."""

    metrics = None
    sparse = True

    def prepare(self, points: Features, metric: str, seed: int) -> Searcher:
        from sklearn import config_context
        from sklearn.neighbors import NearestNeighbors

        form = scikit_learn_form(points, metric)
        model = NearestNeighbors(metric=metric, algorithm="brute").fit(form(points))

        def search(queries: Features, count: int) -> tuple[IntArray, FloatArray]:
            fetched = min(count + SPARE_CANDIDATES, points.shape[0])
            with config_context(working_memory=64):  # megabytes
                distances, indices = model.kneighbors(form(queries), n_neighbors=fetched)
            indices = indices.astype(np.int64)
            if metric in ("euclidean", "manhattan"):
                return indices, pair_distances(queries, points, indices, metric)
            return indices, distances.astype(np.float64)

        return search


@backends.register("kd-tree")
@dataclass(frozen=True)
class KDTree(Backend):
    """SciPy's k-d tree: exact, the fastest in up to about ten dimensions."""

    metrics = frozenset({"euclidean", "manhattan"})

    def prepare(self, points: Features, metric: str, seed: int) -> Searcher:
        from scipy.spatial import cKDTree

        tree = cKDTree(np.asarray(points, dtype=np.float64))
        p = 1 if metric == "manhattan" else 2

        def search(queries: Features, count: int) -> tuple[IntArray, FloatArray]:
            fetched = min(count + SPARE_CANDIDATES, points.shape[0])
            asked = np.asarray(queries, dtype=np.float64)
            _, numbers = tree.query(asked, k=np.arange(1, fetched + 1), p=p, workers=-1)
            indices = np.asarray(numbers, dtype=np.int64)
            return indices, pair_distances(queries, points, indices, metric)

        return search


@dataclass(frozen=True, eq=False)
class Float32Form:
    """Rows for faiss: centred and scaled to the unit cube, where float32 is finest.

    With `axes` of shape (d, q), only their components along q directions.
    """

    centre: FloatArray
    scale: float
    axes: FloatArray | None = None

    def __call__(self, rows: Any) -> Any:
        width = rows.shape[1] if self.axes is None else self.axes.shape[1]
        result = np.empty((rows.shape[0], width), dtype=np.float32)
        for start in range(0, rows.shape[0], 4096):  # float64 only in blocks
            block = slice(start, start + 4096)
            centred = (rows[block] - self.centre) * self.scale
            result[block] = centred if self.axes is None else centred @ self.axes
        return result

    def reduced(self, points: Any, variance: float, seed: int) -> "Float32Form":
        """Keep the principal directions with this share of the variance, if half of all suffice."""
        n, d = points.shape
        if not REDUCED_ABOVE_DIMENSIONS < d <= REDUCED_MAX_DIMENSIONS:
            return self
        rows = np.sort(np.random.default_rng(seed).permutation(n)[:PRINCIPAL_SAMPLE_POINTS])
        sample = self(points[rows]).astype(np.float64)
        values, vectors = np.linalg.eigh(sample.T @ sample)
        held = np.cumsum(values[::-1])
        q = int(np.searchsorted(held, variance * held[-1])) + 1
        return replace(self, axes=vectors[:, ::-1][:, :q].copy()) if 2 * q <= d else self


def float32_form(points: Any) -> Float32Form:
    """The form of these points for faiss."""
    centre = points.mean(axis=0, dtype=np.float64)
    above = float((points.max(axis=0) - centre).max())
    below = float((centre - points.min(axis=0)).max())
    largest = max(above, below)
    return Float32Form(centre, 1.0 / largest if largest > 0 else 1.0)


@backends.register("faiss-flat")
@dataclass(frozen=True)
class FaissFlat(Backend):
    """faiss, every pair in float32, checked row by row and repaired in float64: exact."""

    def prepare(self, points: Features, metric: str, seed: int) -> Searcher:
        import faiss

        rescale = float32_form(points)
        index = faiss.IndexFlatL2(points.shape[1])
        index.add(rescale(points))

        def search(queries: Features, count: int) -> tuple[IntArray, FloatArray]:
            fetched = min(count + SPARE_CANDIDATES, points.shape[0])
            small = rescale(queries)
            squares, indices = index.search(small, fetched)
            distances = pair_distances(queries, points, indices, metric)
            if fetched < points.shape[0]:
                kth = np.partition(distances, count - 1, axis=1)[:, count - 1]
                doubtful = ~_certified(small, squares.max(axis=1), kth * rescale.scale)
                if doubtful.any():
                    again = Brute().prepare(points, metric, seed)
                    indices[doubtful], distances[doubtful] = again(queries[doubtful], count)
            return indices, distances

        return search


def _certified(queries: Any, farthest: Any, kth: FloatArray) -> Any:
    """Which rows of a float32 search provably hold the true nearest neighbours.

    Any point y nearer to the query x than the k-th candidate has ``|y| <= |x| + d_k``, so that its
    float32 square ``|x|^2 + |y|^2 - 2 x.y`` is wrong by at most ``(d + 8) u (2 |x| + d_k)^2``
    (u = 2^-24: standard bounds of d-term sums, and the rounding of the coordinates). If d_k^2 plus
    that error stays below the square of the farthest candidate, y is a candidate itself. A row with
    d_k = 0 cannot be improved.
    """
    lengths = np.sqrt(np.einsum("md,md->m", queries, queries, dtype=np.float64))
    error = (queries.shape[1] + 8) * 2.0**-24 * (2 * lengths + kth) ** 2
    return (kth**2 + error <= farthest) | (kth == 0)


@backends.register("faiss-ivf")
@dataclass(frozen=True)
class FaissIVF(Backend):
    """faiss inverted lists: approximate, searches only the cells near each point.

    Parameters
    ----------
    lists_per_root : float
        Number of cells, as a multiple of the square root of the number of points.
    probes : int
        Cells searched for each query. More: higher recall, longer search.
    variance : float
        In more than 64 dimensions, cells are searched along the principal directions that hold this
        share of the variance (if these are at most half of all) and three times as many candidates
        are compared by their true distances.
    """

    lists_per_root: float = 4.0
    probes: int = 32
    variance: float = 0.95

    def prepare(self, points: Features, metric: str, seed: int) -> Searcher:
        """Cluster a sample of the points into cells and sort all points into them."""
        import faiss

        n = points.shape[0]
        convert = float32_form(points).reduced(points, self.variance, seed)
        small = convert(points)
        lists = max(1, min(int(self.lists_per_root * np.sqrt(n)), n // 16))
        index = faiss.IndexIVFFlat(faiss.IndexFlatL2(small.shape[1]), small.shape[1], lists)
        index.cp.seed = seed % 2**31
        index.cp.niter = 10
        index.cp.min_points_per_centroid = 1  # or faiss writes a warning to stderr
        index.cp.max_points_per_centroid = 64
        index.train(small)
        index.add(small)
        index.nprobe = min(self.probes, lists)

        def search(queries: Features, count: int) -> tuple[IntArray, FloatArray]:
            wanted = count + SPARE_CANDIDATES if convert.axes is None else 3 * count
            _, indices = index.search(convert(queries), min(wanted, n))
            return indices, pair_distances(queries, points, indices, metric)

        return search


def as_backend(backend: str | Backend) -> Backend:
    """The backend of that name, with its default settings."""
    if isinstance(backend, Backend):
        return backend
    if isinstance(backend, str):
        return backends.make(backend)
    raise InputError(
        f"backend is {backend!r}: expected 'auto', 'exact', one of {', '.join(backends)}, "
        "or a Backend"
    )
