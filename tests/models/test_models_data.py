"""The paper's data: scores of a sample against a dense solve."""

from pathlib import Path

import dense
import numpy as np
import pytest

from poise.graph import knn_graph
from poise.models import Labels, pwll


@pytest.mark.data
@pytest.mark.parametrize("tau", [0.0, 1e-3])
def test_scores_of_mnist_are_the_dense_ones(poise_data: Path, tau: float) -> None:
    with np.load(poise_data / "mnist_imb_vae.npz") as file:
        X, y = file["X"], file["y"] % 3
    chosen = np.random.default_rng(0).choice(len(X), 3000, replace=False)
    X, y = X[chosen], y[chosen]
    graph = knn_graph(X, k=20)
    largest = np.flatnonzero(graph.components == 0)
    assert len(largest) > 2900
    graph = knn_graph(X[largest], k=20)
    assert graph.n_components == 1
    y = y[largest]
    nodes = [int(node) for c in range(3) for node in np.flatnonzero(y == c)[:2]]
    labels = Labels.of({node: int(y[node]) for node in nodes}, len(y))
    expected = dense.pwll(graph.weights.toarray(), labels, tau)
    assert np.abs(pwll(graph, labels, tau=tau).scores - expected).max() < 1e-5
