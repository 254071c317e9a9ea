"""Accuracy after 100 queries, compared with graphlearning's from the same labels."""

from collections.abc import Iterator

import numpy as np

from poise.active.schedules import Constant, Geometric
from poise.active.simulate import simulate_many
from poise.experiments.bench.data import load
from poise.experiments.bench.peer import Peer
from poise.experiments.bench.row import Row
from poise.graph import knn_graph
from poise.progress import Progress

QUERIES = 100
SEEDS = (2, 3, 5, 6)


def parity(progress: Progress) -> Iterator[Row]:
    """PWLL accuracy on mnist_imb_vae after 100 queries, 4 trials, with and without decay of tau."""
    X, digits = load("mnist_imb_vae")
    graph = knn_graph(X, k=20)
    codes = digits % 3
    done, total = 0, 2 * len(SEEDS) * QUERIES
    for name, tau in (("norm", Constant(1e-3)), ("norm, tau -> 0", Geometric(K=30))):
        traces = simulate_many(
            graph,
            codes,
            acquisition="norm",
            tau=tau,
            seeds=SEEDS,
            budget=QUERIES,
            clusters=digits,
        )
        theirs = []
        for trace in traces:
            peer = Peer(graph, trace.initial, codes, tau)
            for _ in range(QUERIES):
                peer.query()
                done += 1
                progress(done, total)
            theirs.append(peer.accuracy())
        ours = float(np.mean([trace.accuracy[-1] for trace in traces]))
        yield Row(
            f"{name}: PWLL accuracy after {QUERIES} queries",
            ours,
            float(np.mean(theirs)),
        )
        yield Row(
            f"{name}: points of accuracy above graphlearning",
            100 * (ours - float(np.mean(theirs))),
            goal=-0.5,
        )
