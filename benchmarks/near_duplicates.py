"""Share of near-duplicate pairs that have the same class, by distance.

    POISE_DATA=folder python benchmarks/near_duplicates.py

Distances are relative to the median distance between an item and its nearest neighbour. The tables
are in docs/decisions/near-duplicates.md.
"""

import argparse
import os
from pathlib import Path

import numpy as np

import poise

SETS = {
    "banking77_use": "cosine",
    "cifar10_eff": "cosine",
    "mnist_vae": "euclidean",
    "fashionmnist_vae": "euclidean",
    "isolet": "euclidean",
}
BOUNDS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)


def relative_pairs(name: str, metric: str) -> tuple[np.ndarray, np.ndarray]:
    """Distances of each item to its neighbours in the graph, and whether they are of its class."""
    with np.load(Path(os.environ["POISE_DATA"]) / f"{name}.npz") as held:
        X, y = held["X"].astype(np.float32), held["y"]
    X = X.reshape(len(X), -1)
    neighbours = poise.knn_graph(X, k=10, metric=metric, keep_neighbours=True).neighbours
    assert neighbours is not None
    away = neighbours.distances
    return away / np.median(away[:, 0]), y[neighbours.indices] == y[:, None]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.parse_args()
    if "POISE_DATA" not in os.environ:
        parser.error("set POISE_DATA to the folder that holds the data sets")
    print("Items with a near-duplicate, pairs (item, neighbour), and the share of one class.\n")
    for name, metric in SETS.items():
        away, same = relative_pairs(name, metric)
        print(f"\n## {name}, {len(away):,} items\n\n| up to | items | pairs | of one class |")
        print("|--:|--:|--:|--:|")
        for bound in BOUNDS:
            near = away <= bound + 1e-6
            share = f"{same[near].mean():.1%}" if near.any() else ""
            print(f"| {bound} | {near.any(axis=1).mean():.2%} | {near.sum():,} | {share} |")


if __name__ == "__main__":
    main()
