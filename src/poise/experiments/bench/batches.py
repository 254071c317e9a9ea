"""Batches of 20, compared with one question at a time for the same number of labels."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from poise.active.simulate import simulate_many
from poise.experiments.bench.data import imbalanced_mnist
from poise.experiments.bench.row import Row
from poise.progress import Progress

SEEDS = (2, 3, 5, 6)
QUERIES = 100
BATCH = 20


def batches(progress: Progress) -> Iterator[Row]:
    """PWLL accuracy on mnist_imb_vae after 100 labels, and seconds per label."""
    graph, codes = imbalanced_mnist()
    ways: dict[str, dict[str, Any]] = {
        "one at a time": {},
        "batches of 20, open questions in expectation": {"batch": BATCH},
        "batches of 20, local-max": {"batch": BATCH, "policy": "local-max"},
    }
    results = {}
    for done, (name, options) in enumerate(ways.items()):
        progress(done, len(ways))
        traces = simulate_many(
            graph, codes, acquisition="norm", seeds=SEEDS, budget=QUERIES, **options
        )
        accuracy = float(np.mean([trace.accuracy[-1] for trace in traces]))
        seconds = float(np.sum(traces[0].seconds)) / QUERIES
        results[name] = accuracy, seconds
    progress(len(ways), len(ways))
    alone = results.pop("one at a time")
    for name, (accuracy, seconds) in results.items():
        yield Row(f"{name}: PWLL accuracy after {QUERIES} labels", accuracy, alone[0])
        yield Row(
            f"{name}: points of accuracy above one at a time",
            100 * (accuracy - alone[0]),
            goal=-1.0,
        )
        yield Row(f"{name}: seconds per label", seconds, alone[1], alone[1] / seconds, 1.0)
