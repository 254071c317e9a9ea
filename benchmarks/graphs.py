"""Accuracy by way of building the graph: neighbours, metric, kernel, symmetry, hubs.

    POISE_DATA=folder python benchmarks/graphs.py [SET ...] [--trials 3] [--points 5000]

Mean accuracy of PWLL on the rest with 20, 50 and 100 random labels, for the tuning sets of
`poise bench accuracy`. The table is in docs/decisions/graph.md.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from poise import Graph, knn_graph
from poise.experiments.efficiency.predictors import RTOL, share_right
from poise.experiments.efficiency.sets import POOLS
from poise.models.harmonic import Model, solve_problems

LABELS = (20, 50, 100)
SETS = [name for name, pool in POOLS.items() if pool.role == "tuning"]


@dataclass(frozen=True)
class Choice:
    """A way of joining points; `name` is what the table calls it."""

    name: str
    k: int = 10
    metric: str = "euclidean"
    kernel: str = "gaussian"
    symmetrise: str = "auto"
    correction: str = ""

    def graph(self, X: np.ndarray) -> Graph:
        graph = knn_graph(
            X, self.k, metric=self.metric, kernel=self.kernel, symmetrise=self.symmetrise
        )
        if self.correction == "degrees":
            # Hubs lose weight: D^-1/2 W D^-1/2.
            root = sparse.diags_array(1 / np.sqrt(np.maximum(graph.degrees, 1e-300)))
            return Graph.from_weights(root @ graph.weights @ root)
        if self.correction == "two scales":
            wide = knn_graph(X, 3 * self.k, metric=self.metric, kernel=self.kernel)
            return Graph.from_weights(graph.weights + wide.weights)
        return graph


CHOICES = [
    *(
        Choice(f"k = {k}, {metric}", k, metric)
        for metric in ("euclidean", "cosine")
        for k in (5, 7, 10, 15, 20, 30, 50)
    ),
    *(
        Choice(f"k = 10, cosine, {kernel}", 10, "cosine", kernel)
        for kernel in ("symmetric", "uniform")
    ),
    *(
        Choice(f"k = {k}, cosine, mutual neighbours", k, "cosine", symmetrise="min")
        for k in (10, 20)
    ),
    Choice("k = 10, cosine, degrees normalised", 10, "cosine", correction="degrees"),
    Choice("k = 10 and 30, cosine", 10, "cosine", correction="two scales"),
]


def accuracies(choice: Choice, X: np.ndarray, codes: np.ndarray, order: np.ndarray) -> float:
    """Mean accuracy over `LABELS`, of the first nodes of `order`."""
    graph = choice.graph(X)
    problems, seen = [], []
    for m in LABELS:
        nodes = order[:m]
        present = np.unique(codes[nodes])
        sources = tuple(tuple(nodes[codes[nodes] == c].tolist()) for c in present)
        problems.append(Model(rtol=RTOL).problem(sources))
        seen.append(present)
    found = []
    for m, present, columns in zip(LABELS, seen, solve_problems(graph, problems), strict=True):
        scores = np.zeros((len(codes), int(codes.max()) + 1))
        scores[:, present] = columns.values
        found.append(share_right(scores, codes, order[:m]))
    return float(np.mean(found))


def trials(name: str, count: int, points: int) -> Iterator[tuple[np.ndarray, ...]]:
    """Features, class codes and an order of random labels, `count` times."""
    data = POOLS[name].load()
    for trial in range(count):
        rng = np.random.default_rng([trial, 11])
        chosen = rng.choice(data.n_points, min(int(0.8 * data.n_points), points), replace=False)
        codes = np.unique(data.clusters[chosen], return_inverse=True)[1]
        if name in ("blobs", "box"):
            codes = np.unique(data.classes[chosen], return_inverse=True)[1]
        yield np.ascontiguousarray(data.X[chosen], np.float32), codes, rng.permutation(len(chosen))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", default=SETS)
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--points", type=int, default=5_000)
    options = parser.parse_args()
    table: dict[str, list[float]] = {choice.name: [] for choice in CHOICES}
    for name in options.sets:
        sums = dict.fromkeys(table, 0.0)
        for X, codes, order in trials(name, options.trials, options.points):
            for choice in CHOICES:
                flat = choice.metric == "cosine" and X.shape[1] < 3  # angles of points of a plane
                sums[choice.name] += float("nan") if flat else accuracies(choice, X, codes, order)
        for choice in CHOICES:
            table[choice.name].append(sums[choice.name] / options.trials)
    print("| graph | " + " | ".join(options.sets) + " | mean |")
    print("|---|" + "---|" * (len(options.sets) + 1))
    everywhere = ~np.isnan(list(table.values())).any(axis=0)
    for name, values in table.items():
        cells = ["" if np.isnan(v) else f"{v:.3f}" for v in values]
        mean = np.mean(np.array(values)[everywhere])  # over the sets that every graph has
        print(f"| {name} | " + " | ".join(cells) + f" | {mean:.3f} |")


if __name__ == "__main__":
    main()
