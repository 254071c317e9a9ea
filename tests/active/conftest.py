"""Small graphs with known classes, and a count of the solves."""

from collections.abc import Iterator

import numpy as np
import pytest

import poise
from poise.models import harmonic, poisson_weights


@pytest.fixture(scope="session")
def blobs() -> tuple[poise.Graph, np.ndarray]:
    """Three touching clouds of 40 points: one component, three classes."""
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 1.7]])
    y = np.repeat([0, 1, 2], 40)
    X = centres[y] + 0.45 * rng.normal(size=(120, 2))
    graph = poise.knn_graph(X, k=7)
    assert graph.n_components == 1
    return graph, y


@pytest.fixture(scope="session")
def islands() -> tuple[poise.Graph, np.ndarray]:
    """Components of 40, 20, 6 and 1 nodes."""
    rng = np.random.default_rng(1)
    sizes = (40, 20, 6, 1)
    y = np.repeat(np.arange(4), sizes)
    W = np.zeros((67, 67))
    start = 0
    for size in sizes:
        block = np.triu(rng.uniform(0.1, 1.0, (size, size)), 1)
        W[start : start + size, start : start + size] = block + block.T
        start += size
    order = rng.permutation(67)
    return poise.Graph.from_weights(W[np.ix_(order, order)]), y[order]


class Counter:
    def __init__(self) -> None:
        self.solves = 0


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter]:
    """Counts every linear solve that the models start."""
    counter = Counter()
    for module in (harmonic, poisson_weights):
        original = module.solve

        def counting(*args, original=original, **kwargs):
            counter.solves += 1
            return original(*args, **kwargs)

        monkeypatch.setattr(module, "solve", counting)
    return counter
