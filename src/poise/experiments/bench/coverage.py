"""Whether the smallest Poisson weight and the smallest norm give the same questions."""

from collections.abc import Iterator

import numpy as np

from poise.active.learner import Learner
from poise.active.simulate import simulate_many
from poise.arrays import Ints
from poise.data.datasets import load_dataset
from poise.experiments.bench.data import imbalanced_mnist, load
from poise.experiments.bench.row import Row
from poise.graph import Graph, knn_graph
from poise.progress import Progress

SEEDS = (2, 3, 5, 6)
QUERIES = 100


def coverage(progress: Progress) -> Iterator[Row]:
    """Questions and accuracy of `coverage` and `norm` at tau = 1e-3."""
    sets = {"mnist_imb_vae": imbalanced_mnist, "isolet": _isolet, "blobs": blobs}
    for done, (name, make) in enumerate(sets.items()):
        graph, codes = make()
        progress(3 * done, 9)
        yield Row(
            f"{name}: share of questions at which norm and coverage agree", _same(graph, codes)
        )
        progress(3 * done + 1, 9)
        curves = {}
        for acquisition in ("norm", "coverage"):
            traces = simulate_many(
                graph, codes, acquisition=acquisition, seeds=SEEDS, budget=QUERIES
            )
            curves[acquisition] = np.mean([trace.accuracy for trace in traces], axis=0)
        progress(3 * done + 2, 9)
        for count in (20, QUERIES):
            yield Row(
                f"{name}: PWLL accuracy after {count} queries, coverage (and norm as peer)",
                float(curves["coverage"][count]),
                float(curves["norm"][count]),
            )
        yield Row(
            f"{name}: largest difference of the two curves",
            float(np.abs(curves["coverage"] - curves["norm"]).max()),
        )
    progress(9, 9)


def _same(graph: Graph, codes: Ints, queries: int = 50) -> float:
    """Share of the questions of a `norm` session at which `coverage` would ask the same."""
    start = {int(np.flatnonzero(codes == c)[0]): int(c) for c in np.unique(codes)}
    norm = Learner(graph, start, acquisition="norm", anticipate=False)
    agreed = 0
    for _ in range(queries):
        other = Learner(graph, norm.labels, acquisition="coverage", anticipate=False)
        node = int(norm.ask()[0])
        agreed += node == int(other.ask()[0])
        norm.tell(node, int(codes[node]))
    return agreed / queries


def _isolet() -> tuple[Graph, Ints]:
    X, letters = load("isolet")
    return knn_graph(X, k=5), letters


def blobs() -> tuple[Graph, Ints]:
    """The paper's blobs: 8 Gaussians of 300 points on the unit circle, two classes, k = 100."""
    data = load_dataset("blobs")
    return knn_graph(data.X, k=100), data.classes
