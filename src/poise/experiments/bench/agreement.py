"""Agreement of scores with a dense solve, and with graphlearning at tight tolerances."""

from collections.abc import Iterator
from unittest.mock import patch

import numpy as np
from scipy import sparse

from poise.arrays import Floats
from poise.experiments.bench.peer import graphlearning
from poise.experiments.bench.row import Row
from poise.graph import Graph, knn_graph
from poise.models.labels import Labels
from poise.models.pwll import pwll
from poise.progress import Progress

GRAPHS = 40


def dense_pwll(graph: Graph, labels: Labels, tau: float, shift: float = 1e-5) -> Floats:
    """PWLL-tau by dense linear algebra in its original form, without the ground-state transform."""
    W = graph.weights.toarray()
    n = len(W)
    source = np.full(n, -len(labels) / n)
    source[labels.nodes] += 1.0
    g = np.linalg.lstsq(np.diag(W.sum(axis=1)) - W, source, rcond=None)[0]
    gamma = g - g.min() + shift
    V = gamma[:, None] * W * gamma
    A = np.diag(V.sum(axis=1) + tau) - V
    free = np.ones(n, dtype=bool)
    free[labels.nodes] = False
    u = np.zeros((n, len(labels.classes)))
    u[labels.nodes] = labels.one_hot
    u[free] = np.linalg.solve(A[np.ix_(free, free)], V[np.ix_(free, labels.nodes)] @ labels.one_hot)
    return u


def agreement(progress: Progress) -> Iterator[Row]:
    """Largest difference of the scores over random connected graphs, labels, tau, class counts."""
    gl = graphlearning()
    loose = gl.utils.conjgrad

    def tight(A, b, x0=None, max_iter=1e5, tol=1e-10):  # type: ignore[no-untyped-def]
        return loose(A, b, x0, max_iter, 1e-13)

    rng = np.random.default_rng(0)
    to_dense, to_peer = [], []
    for done in range(1, GRAPHS + 1):
        n, n_classes = int(rng.integers(50, 500)), int(rng.integers(1, 6))
        tau = float(rng.choice([0.0, 1e-6, 1e-4, 1e-3, 1e-1, 1.0]))
        graph = knn_graph(rng.normal(size=(n, 3)), k=int(rng.integers(6, 15)))
        nodes = rng.choice(n, n_classes + int(rng.integers(0, 20)), replace=False)
        codes = np.concatenate(
            [np.arange(n_classes), rng.integers(0, n_classes, len(nodes) - n_classes)]
        )
        labels = Labels.of(
            dict(zip(nodes.tolist(), codes.tolist(), strict=True)), n, range(n_classes)
        )
        if graph.n_components > 1:  # the peer is correct only on connected graphs
            continue
        ours = pwll(graph, labels, tau=tau).scores
        to_dense.append(np.abs(ours - dense_pwll(graph, labels, tau)).max())
        with patch.object(gl.utils, "conjgrad", tight):
            model = gl.ssl.laplace(sparse.csr_matrix(graph.weights), reweighting="poisson", tau=tau)
            to_peer.append(np.abs(ours - model.fit(labels.nodes, labels.codes)).max())
        progress(done, GRAPHS)
    count = len(to_dense)
    yield Row(f"max |u - dense| over {count} graphs", float(max(to_dense)), goal=1e-5, at_most=True)
    yield Row(
        f"max |u - graphlearning| over {count} graphs", float(max(to_peer)), goal=1e-5, at_most=True
    )
