"""A graph that grows during labelling: accuracy and time, compared with a graph built at once.

    POISE_DATA=folder python benchmarks/growing.py accuracy [cifar10_eff mnist_vae] [--seeds 5]
    POISE_DATA=folder python benchmarks/growing.py time [mnist_vae] [--new 1000]

Accuracy: half of the points at the start, the rest in ten steps, five answers before each step; 50
answers in all, asked by "auto" without labels at the start. Time: one step, compared with building
the graph again. The tables are in docs/decisions/growing.md.
"""

import argparse
import os
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from poise import Graph, Learner, knn_graph
from poise.models.components import laplacian

STEPS, ANSWERS = 10, 50
K = 10


def load(name: str, points: int, seed: int) -> tuple[np.ndarray, np.ndarray, str]:
    """Features and classes in an order of the seed, and the metric that the app would use."""
    with np.load(Path(os.environ["POISE_DATA"]) / f"{name}.npz") as file:
        X, y = file["X"], file["y"]
    order = np.random.default_rng(seed).permutation(len(X))[:points]
    return X[order], y[order], "euclidean" if name.endswith("_vae") else "cosine"


def label(learner: Learner, y: np.ndarray, count: int) -> None:
    for _ in range(count):
        (node,) = learner.ask()
        learner.tell(node, int(y[node]))


def accuracy(learner: Learner, y: np.ndarray) -> float:
    rest = np.delete(np.arange(len(y)), list(learner.labels))
    return float((learner.predictions == y)[rest].mean())


def compare(name: str, points: int, seed: int) -> tuple[float, float, float]:
    """Accuracy after growing, on the graph built at once, and of the grown session's labels there.

    The third says what the graph alone changes; the first two sessions also ask other questions.
    """
    X, y, metric = load(name, points, seed)
    sizes = np.linspace(len(X) // 2, len(X), STEPS + 1).astype(int)
    grown = Learner(
        knn_graph(X[: sizes[0]], K, metric=metric, keep_neighbours=True),
        seed=seed,
        anticipate=False,
    )
    for start, end in pairwise(sizes):
        label(grown, y, ANSWERS // STEPS)
        grown.grow(grown.graph.extend(X[start:end]))
    graph = knn_graph(X, K, metric=metric)
    at_once = Learner(graph, seed=seed, anticipate=False)
    label(at_once, y, ANSWERS)
    same_labels = Learner(graph, grown.labels)
    return accuracy(grown, y), accuracy(at_once, y), accuracy(same_labels, y)


def measure_accuracy(names: list[str], points: int, seeds: int) -> None:
    print("set, points | grown | at once | difference (standard error) | grown's labels, at once")
    for name in names:
        found = np.array([compare(name, points, seed) for seed in range(seeds)])
        difference = found[:, 0] - found[:, 1]
        error = difference.std(ddof=1) / np.sqrt(seeds) if seeds > 1 else np.nan
        grown, at_once, same = found.mean(axis=0)
        print(
            f"{name}, {min(points, len(load(name, points, 0)[0])):,} | {grown:.3f} | {at_once:.3f} "
            f"| {difference.mean():+.3f} ({error:.3f}) | {same:.3f}",
            flush=True,
        )


def seconds(work: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """The shortest of some runs, and what the last one returned."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
    return min(times), result


def measure_time(name: str, points: int, new: int) -> None:
    X, y, metric = load(name, points, 0)
    old = knn_graph(X[:-new], K, metric=metric, keep_neighbours=True)
    step, grown = seconds(lambda: old.extend(X[-new:]))
    leaving, _ = seconds(lambda: grown.without(np.arange(new)))
    again, _ = seconds(lambda: knn_graph(X, K, metric=metric, keep_neighbours=True))
    exact, _ = seconds(lambda: knn_graph(X, K, metric=metric, backend="exact"), repeats=1)
    print(f"{new:,} into {len(X) - new:,} of {name}, {X.shape[1]} features ({old.construction})")
    print(f"extend                    {step:7.3f} s")
    print(f"without, as many          {leaving:7.3f} s")
    print(f"build again ({old.construction.backend:9s})   {again:7.3f} s")  # type: ignore[union-attr]
    print(f"build again, exact        {exact:7.3f} s")

    def prepared() -> None:
        graph = Graph(grown.weights)  # a new graph each time: what is prepared is kept with it
        _ = laplacian(graph).coarse_inverse

    prepare, _ = seconds(prepared)
    learner = Learner(old, anticipate=False)
    label(learner, y, 20)
    learner.grow(grown)
    learner.ask()  # prepares the Laplacian
    question, _ = seconds(lambda: label(learner, y, 1), repeats=5)
    print(f"prepare the Laplacian     {prepare:7.3f} s")
    print(f"a question (auto)         {question:7.3f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["accuracy", "time"])
    parser.add_argument("sets", nargs="*", help="names of .npz files in POISE_DATA")
    parser.add_argument("--points", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--new", type=int, default=1_000)
    given = parser.parse_args()
    if given.what == "accuracy":
        sets = given.sets or ["cifar10_eff", "mnist_vae"]
        measure_accuracy(sets, given.points or 10_000, given.seeds)
    else:
        for one in given.sets or ["mnist_vae"]:
            measure_time(one, given.points or 70_000, given.new)
