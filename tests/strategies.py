"""What property tests draw from: random weighted graphs, joined or in pieces, and labels on them.

Hypothesis draws the size, the shape and a seed; NumPy does the rest, so that an example costs
little and shrinks to fewer nodes.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st
from scipy import sparse

from poise.graph import Graph
from poise.models import Labels

Floats = npt.NDArray[np.float64]

seeds = st.integers(0, 2**32 - 1)
shapes = st.sampled_from(["tree", "path", "star", "sparse", "dense"])


@st.composite
def connected_weights(
    draw: st.DrawFn, least: int = 2, most: int = 30, contrast: float = 100.0
) -> Floats:
    """Dense symmetric weights of a connected graph; the smallest is 1/`contrast` of the largest."""
    n = draw(st.integers(least, most))
    return random_weights(n, draw(shapes), draw(seeds), contrast)


@st.composite
def weights_in_pieces(draw: st.DrawFn, most: int = 12) -> Floats:
    """Dense symmetric weights of a graph of one to four components, isolated nodes among them."""
    pieces = draw(st.lists(connected_weights(least=1, most=most), min_size=1, max_size=4))
    W = sparse.block_diag(pieces).toarray()
    order = np.random.default_rng(draw(seeds)).permutation(len(W))
    return np.asarray(W[np.ix_(order, order)])


@st.composite
def labelled_graphs(
    draw: st.DrawFn, graphs: st.SearchStrategy[Floats], n_classes: int = 5
) -> tuple[Graph, Labels]:
    """A graph with one to `n_classes` classes on at least one node, at most all."""
    graph = Graph.from_weights(draw(graphs))
    n = graph.n_nodes
    count = draw(st.integers(1, min(n, 3 * n_classes)))
    rng = np.random.default_rng(draw(seeds))
    nodes = rng.choice(n, size=count, replace=False).tolist()
    codes = rng.integers(draw(st.integers(1, n_classes)), size=count).tolist()
    return graph, Labels.of(dict(zip(nodes, codes, strict=True)), n)


taus = st.one_of(st.just(0.0), st.floats(-6.0, 0.0).map(lambda power: 10.0**power))


def random_weights(n: int, shape: str, seed: int, contrast: float = 100.0) -> Floats:
    """A tree over n nodes of the given shape plus a share of all other pairs."""
    rng = np.random.default_rng(seed)
    W = np.zeros((n, n))
    children = np.arange(1, n)
    if shape == "path":
        parents = children - 1
    elif shape == "star":
        parents = np.zeros(n - 1, dtype=np.int64)
    else:
        parents = rng.integers(0, children)
    W[children, parents] = 1.0
    share = {"sparse": 2.0 / n, "dense": 0.5}.get(shape, 0.0)
    W[np.tril(rng.random((n, n)) < share, -1)] = 1.0
    W *= contrast ** -rng.random((n, n))
    order = rng.permutation(n)
    W = (W + W.T)[np.ix_(order, order)]
    return np.asarray(W)


def laplacian(W: Floats) -> Floats:
    """``L = diag(W 1) - W``, dense."""
    return np.asarray(np.diag(W.sum(axis=1)) - W)


def as_csr(W: Any) -> sparse.csr_array:
    """Weights as the solver takes them."""
    return sparse.csr_array(W)
