"""The k-nearest-neighbour graph."""

from typing import Any, Literal, get_args

import numpy as np

from poise.checks import shown
from poise.errors import InputError
from poise.graph.backend import Backend
from poise.graph.construction import Construction
from poise.graph.cost import check_cost, knn_cost
from poise.graph.features import check_features, is_sparse
from poise.graph.graph import Graph
from poise.graph.kernel import Kernel, KernelLike, Symmetrise, as_kernel, label
from poise.graph.metrics import check_metric
from poise.graph.search import nearest_neighbours, resolve_backend
from poise.graph.weights import knn_weights, symmetrised
from poise.progress import Progress


# Over 80 lines because of its docstring: the body has 20.
def knn_graph(
    X: Any,
    k: int = 20,
    *,
    metric: str = "euclidean",
    kernel: KernelLike = "gaussian",
    symmetrise: Literal["auto"] | Symmetrise = "auto",
    backend: str | Backend = "auto",
    keep_features: bool = True,
    keep_neighbours: bool = False,
    seed: int = 0,
    progress: Progress | None = None,
) -> Graph:
    """Join every point to its `k` nearest neighbours.

    With d_k(x) the distance from x to its k-th neighbour and the default kernel, the weight of an
    edge is the mean over both directions of ``exp(-4 |x - y|^2 / d_k(x)^2)``, where a direction
    counts 0 if x does not list y.

    Parameters
    ----------
    X : array-like or sparse, shape (n, d)
        One row per point; finite. float32 stays float32. A tensor in the memory of the CPU, an
        Arrow array of lists, an Arrow table of numbers, and anything that NumPy or DLPack can read
        work too, without a copy where none is needed.
    k : int
        Neighbours of each point, the point itself not counted: 1 <= k < n.
    metric : str
        "euclidean", "cosine" (the chord between directions), "manhattan", or any other name that
        scikit-learn's brute-force `NearestNeighbors` knows.
    kernel : str, Kernel or callable
        A name from ``poise.graph.kernels.describe()``, or a function that maps an array of
        ``|x - y|^2 / d_k(x)^2`` to weights. Coinciding points have distance 0 whatever d_k is.
    symmetrise : {"auto", "mean", "max", "min"}
        How the two directions become one weight per pair; "min" keeps only mutual neighbours.
        "auto": as in GraphLearning, the mean for "gaussian" and callables, else the maximum.
    backend : str or Backend
        "auto" (exact up to about 28,000 points, else approximate: `choose_backend`), "exact", or a
        name from ``poise.graph.backends.describe()``.
    keep_features : bool
        Keep `X` (not a copy) in the graph: new points need it.
    keep_neighbours : bool
        Keep the lists of neighbours and their distances: 12 k bytes per point. `Graph.extend` and
        `Graph.without` need them.
    seed : int
        For approximate backends: same seed and machine, same graph.
    progress : callable, optional
        Called with (points done, points) during the search.

    Returns
    -------
    Graph

    Raises
    ------
    MemoryShortError
        Before anything is computed, if there is not enough free memory.

    References
    ----------
    The kernel is that of section 5 of the paper; see also J. Calder et al., "Poisson learning",
    ICML 2020, and the Python package GraphLearning.

    Examples
    --------
    >>> import poise
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> poise.knn_graph(X, k=10)
    Graph(1797 nodes, 12339 edges, k=10, euclidean, gaussian)
    """
    features = check_features(X)
    k = check_k(k, features.shape[0])
    seed = check_seed(seed)
    metric = check_metric(metric, is_sparse(features))
    function = as_kernel(kernel)
    how = check_symmetrise(symmetrise, function)
    engine, engine_name = resolve_backend(backend, features, metric)
    n, d = features.shape
    check_cost(n, k, knn_cost(n, d if not is_sparse(features) else 0, k, engine_name))
    neighbours = nearest_neighbours(
        features, k, metric=metric, backend=engine, seed=seed, progress=progress
    )
    spacing = neighbours.spacing()
    return Graph(
        symmetrised(knn_weights(neighbours, function, spacing.scale), how),
        features if keep_features else None,
        neighbours if keep_neighbours else None,
        Construction(metric, label(function), how, engine_name, k=k, function=function),
        spacing,
    )


def check_k(k: Any, n: int) -> int:
    """`k` as an int with 1 <= k < n."""
    if isinstance(k, bool | np.bool_) or not isinstance(k, int | np.integer):
        raise InputError(f"k is {shown(k)}: expected a whole number of neighbours, e.g. k=20")
    if k < 1:
        raise InputError(f"k is {shown(int(k))}: expected at least 1 neighbour, e.g. k=20")
    if k >= n:
        raise InputError(
            f"k is {shown(int(k))} and there are {n} points: a point has at most {n - 1} others, "
            f"so the largest k allowed is {n - 1}"
        )
    return int(k)


def check_seed(seed: Any) -> int:
    """`seed` as an int >= 0."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed is {seed!r}: expected a whole number >= 0, e.g. seed=0")
    return int(seed)


def check_symmetrise(symmetrise: Literal["auto"] | Symmetrise, kernel: Kernel) -> Symmetrise:
    """`symmetrise`, with "auto" decided by the kernel."""
    if symmetrise == "auto":
        return kernel.symmetrise
    if symmetrise in get_args(Symmetrise):
        return symmetrise
    raise InputError(f"symmetrise is {symmetrise!r}: expected 'auto', 'mean', 'max' or 'min'")
