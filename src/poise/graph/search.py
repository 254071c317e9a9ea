"""Nearest neighbours: which backend when, and lists that are the same on every run."""

from collections.abc import Callable, Iterable

import numpy as np
from scipy.sparse import csr_array

from poise.graph.backend import Backend, FaissFlat, Searcher, as_backend, backends
from poise.graph.cells import CellSearcher
from poise.graph.coinciding import LARGE_GROUP_POINTS, large_groups, next_in_group
from poise.graph.features import Features, is_sparse
from poise.graph.metrics import FloatArray, IntArray, search_space
from poise.graph.neighbours import Neighbours
from poise.graph.workers import blocks_in_parallel
from poise.progress import Progress

KD_TREE_MAX_DIMENSIONS = 10
"""Up to so many dimensions the k-d tree is clearly faster than comparing all pairs."""

BRUTE_MAX_WORK = 2e9
"""Up to this work scikit-learn takes a fraction of a second, and faiss is not imported."""

BRUTE_MAX_NUMBERS = 1e7
"""Features of at most so many numbers are copied to float64 for scikit-learn."""

FLAT_MAX_WORK = 5e10
"""Up to this work all pairs are compared: about a second on two cores (28,000 points in 64
dimensions). Above it, the time would grow with the square of the number of points."""

CELLS_MIN_POINTS = 200_000
"""From this many points on, inverted lists have many small cells. Small cells are no slower for
fewer points, but the graphs of published experiments must stay as they are."""

BLOCK_QUERIES = 16_384
"""Queries answered at a time: bounds the memory that a search needs beyond its result."""


def choose_backend(
    n: int, d: int, metric: str, *, sparse: bool = False, queries: int | None = None,
    exact: bool = False,
) -> str:  # fmt: skip
    """Name of the backend for `queries` searches (default n) among n points of dimension d.

    Exact where that takes about a second, approximate above. The work of comparing all pairs is
    ``queries * n * max(d, 64)``: below 64 dimensions, keeping the nearest costs as much as the
    distances. `docs/decisions/neighbour-search.md` has the measurements.
    """
    if sparse or metric not in ("euclidean", "cosine", "manhattan"):
        return "brute"
    if d <= KD_TREE_MAX_DIMENSIONS:
        return "kd-tree"
    work = float(n if queries is None else queries) * n * max(d, 64)
    if metric == "manhattan" or (work <= BRUTE_MAX_WORK and n * d <= BRUTE_MAX_NUMBERS):
        return "brute"
    few = queries is not None and 20 * queries <= n  # not worth sorting all points into lists
    if exact or few or work <= FLAT_MAX_WORK:
        return "faiss-flat"
    return "faiss-cells" if n >= CELLS_MIN_POINTS else "faiss-ivf"


def resolve_backend(
    backend: str | Backend, points: Features, metric: str, queries: int | None = None
) -> tuple[Backend, str]:
    """The backend and its name, with "auto" and "exact" decided by `choose_backend`."""
    if backend in ("auto", "exact"):
        n, d = points.shape
        backend = choose_backend(
            n, d, metric, sparse=is_sparse(points), queries=queries,
            exact=backend == "exact",
        )  # fmt: skip
    chosen = as_backend(backend)
    same = (name for name in backends if type(backends.make(name)) is type(chosen))
    return chosen, next(same, type(chosen).__name__)


def nearest_neighbours(
    X: Features,
    k: int,
    *,
    metric: str = "euclidean",
    backend: str | Backend = "auto",
    seed: int = 0,
    progress: Progress | None = None,
) -> Neighbours:
    """The k nearest neighbours of every row of `X` among the other rows.

    Parameters
    ----------
    X : ndarray or csr_array, shape (n, d)
        Finite features, n > k.
    k : int
        Number of neighbours.
    metric, backend, seed, progress
        As in `knn_graph`.

    Returns
    -------
    Neighbours
    """
    chosen, _ = resolve_backend(backend, X, metric)
    points, metric = search_space(X, metric)
    n = points.shape[0]
    groups = (
        []
        if isinstance(points, csr_array)
        else large_groups(points, max(LARGE_GROUP_POINTS, k + 1))
    )
    if not groups:
        own = np.arange(n)
        return search_points(points, points, k, metric, chosen, seed, own=own, progress=progress)
    indices, distances = np.zeros((n, k), dtype=np.int32), np.zeros((n, k))
    for group in groups:
        indices[group] = next_in_group(group, k)
    own = np.setdiff1d(np.arange(n), np.concatenate(groups))
    if own.size:
        lists = search_points(
            points, points[own], k, metric, chosen, seed, own=own, progress=progress
        )
        indices[own], distances[own] = lists.indices, lists.distances
    return Neighbours(indices, distances)


def nearest_nodes(
    X: Features,
    queries: Features,
    k: int,
    *,
    metric: str = "euclidean",
    backend: str | Backend = "auto",
    seed: int = 0,
) -> Neighbours:
    """The k rows of `X` nearest to every row of `queries`; an equal row is among them."""
    chosen, _ = resolve_backend(backend, X, metric, queries.shape[0])
    points, space = search_space(X, metric)
    others, _ = search_space(queries, metric)
    return search_points(points, others, k, space, chosen, seed)


def search_points(
    points: Features,
    queries: Features,
    k: int,
    metric: str,
    backend: Backend,
    seed: int = 0,
    *,
    own: IntArray | None = None,
    progress: Progress | None = None,
) -> Neighbours:
    """The k nearest `points` of every query, both as `search_space` returns them.

    `own` holds the row of each query among the points, which is left out of its list.
    """
    backend.check(points, metric)
    searcher = backend.prepare(points, metric, seed)
    m = queries.shape[0]
    indices = np.empty((m, k), dtype=np.int32)
    distances = np.empty((m, k))

    def answer(rows: IntArray, searcher: Searcher = searcher) -> IntArray:
        selves = None if own is None else own[rows]
        indices[rows], distances[rows] = _nearest(searcher, queries[rows], k, selves)
        return rows

    order = np.arange(m)
    each: Callable[..., Iterable[IntArray]] = map
    if isinstance(searcher, CellSearcher):
        each = blocks_in_parallel
        if own is not None:
            order = np.argsort(
                searcher.cell[own], kind="stable"
            )  # neighbouring queries share cached cells
    blocks = [order[start : start + BLOCK_QUERIES] for start in range(0, m, BLOCK_QUERIES)]
    done = 0
    for rows in each(answer, blocks):
        done += rows.size
        if progress and done < m:
            progress(done, m)
    short = np.flatnonzero(~np.isfinite(distances[:, -1]))  # cells that held too few points
    if short.size:
        exact = FaissFlat().prepare(points, metric, seed)
        for start in range(0, short.size, BLOCK_QUERIES):
            answer(short[start : start + BLOCK_QUERIES], exact)
    if progress:
        progress(m, m)
    return Neighbours(indices, distances)


def _nearest(
    searcher: Searcher, queries: Features, k: int, own: IntArray | None
) -> tuple[IntArray, FloatArray]:
    """The k nearest candidates of each query, by distance and then by node."""
    indices, distances = searcher(queries, k if own is None else k + 1)
    if own is not None:
        # by node, not by distance: among coinciding points the first need not be the point itself
        distances[indices == own[:, None]] = np.inf
    order = np.lexsort((indices, distances), axis=1)[:, :k]
    return np.take_along_axis(indices, order, axis=1), np.take_along_axis(distances, order, axis=1)
