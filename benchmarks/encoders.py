"""Embeddings of small grey images: seconds, numbers per item and 1-NN accuracy.

    POISE_DATA=folder python benchmarks/encoders.py mnist fashionmnist --items 10000

1-NN accuracy is the share of items whose nearest other item has the same class: what a neighbour
graph can use. `scattering` is measured if kymatio is installed. The tables are in
docs/decisions/encoders.md.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import faiss
import numpy as np

import poise
from poise.data.embeddings.items import as_images


def scattering(X: np.ndarray) -> np.ndarray:
    """Scattering coefficients of scale 4, and their 50 principal components as for hog."""
    import scipy.special

    if not hasattr(scipy.special, "sph_harm"):  # kymatio 0.3.0 imports what SciPy 1.17 removed
        scipy.special.sph_harm = None
    from kymatio.numpy import Scattering2D

    transform = Scattering2D(J=2, shape=(28, 28))
    images = as_images(X, "scattering")
    parts = [transform(images[i : i + 100]) for i in range(0, len(images), 100)]
    coefficients = np.concatenate(parts).reshape(len(X), -1).astype(np.float32)
    return poise.embed(coefficients, "pca", dimensions=50, cached=False)


#: Epochs of the last training.
trained: list[int] = []


def named(name: str, **parameters: Any) -> Callable[[np.ndarray], np.ndarray]:
    def count(done: int, total: int, note: str) -> None:
        trained[:] = [done] if name == "vae" else []

    return lambda X: poise.embed(X, name, cached=False, progress=count, **parameters)


WAYS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "raw": named("raw"),
    "pca, 20": named("pca", dimensions=20),
    "pca": named("pca"),
    "hog": named("hog"),
    "scattering": scattering,
    "vae": named("vae"),
    "vae, patience 5": named("vae", patience=5),
    "vae, all epochs": named("vae", patience=0),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=list(WAYS))
    options = parser.parse_args()
    print("| data | embedding | numbers | 1-NN accuracy | seconds | epochs |")
    print("|---|---|--:|--:|--:|--:|")
    for name in options.datasets:
        found = poise.load_dataset(name)
        chosen = np.random.default_rng(0).permutation(found.n_points)[: options.items]
        X, y = found.X[chosen], found.clusters[chosen]
        for way in options.ways:
            trained.clear()
            start = time.perf_counter()
            try:
                Z = WAYS[way](X)
            except ImportError as error:
                print(f"| {name} | {way} | | {error} | | |", flush=True)
                continue
            seconds = time.perf_counter() - start
            figures = f"{Z.shape[1]} | {nearest_accuracy(Z, y):.3f} | {seconds:.1f}"
            print(f"| {name} | {way} | {figures} | {' '.join(map(str, trained))} |", flush=True)


def nearest_accuracy(X: np.ndarray, y: np.ndarray) -> float:
    """Leave-one-out accuracy of the nearest neighbour."""
    index = faiss.IndexFlatL2(X.shape[1])
    index.add(X)
    _, nearest = index.search(X, 2)
    itself = nearest[:, 0] == np.arange(len(X))
    return float((y[np.where(itself, nearest[:, 1], nearest[:, 0])] == y).mean())


if __name__ == "__main__":
    main()
