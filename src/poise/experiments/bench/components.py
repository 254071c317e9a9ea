"""A graph with ten components, compared with a connected graph of the same size."""

import time
from collections.abc import Iterator

import numpy as np

from poise.active.learner import Learner
from poise.arrays import Ints
from poise.experiments.bench.peer import graphlearning
from poise.experiments.bench.row import Row
from poise.graph import Graph, knn_graph
from poise.progress import Progress

POINTS = 10_000
QUERIES = 20


def components(progress: Progress) -> Iterator[Row]:
    """Seconds per query on ten separate clouds, relative to the same clouds moved together."""
    rng = np.random.default_rng(0)
    cloud = rng.normal(size=(POINTS, 10))
    part = np.arange(POINTS) % 10
    apart = knn_graph(cloud + 100.0 * np.eye(10)[part], k=20)
    together = knn_graph(cloud, k=20)
    times = {}
    for name, graph in (("apart", apart), ("together", together)):
        first = {i: int(part[i]) for i in range(10)}
        learner = Learner(graph, first, acquisition="norm", predict_tau=None)
        learner.prepare()
        took = []
        for done in range(1, QUERIES + 1):
            before = time.perf_counter()
            node = int(learner.ask()[0])
            learner.tell(node, int(part[node]))
            _ = learner.predictions
            took.append(time.perf_counter() - before)
            progress(done, QUERIES)
        times[name] = float(np.median(took))
    yield Row(
        f"{apart.n_components} components against {together.n_components}: time per query, ratio",
        times["apart"],
        times["together"],
        times["apart"] / times["together"],
        1.5,
        at_most=True,
    )
    theirs = {name: _refit(graph, part) for name, graph in (("a", apart), ("t", together))}
    yield Row("the same, graphlearning", theirs["a"], theirs["t"], theirs["a"] / theirs["t"])


def _refit(graph: Graph, part: Ints) -> float:
    """Seconds of one refit by the peer after one new label."""
    model = graphlearning().ssl.laplace(graph.weights, reweighting="poisson", tau=1e-3)
    nodes = np.arange(11)
    before = time.perf_counter()
    model.fit(nodes, part[nodes])
    return time.perf_counter() - before
