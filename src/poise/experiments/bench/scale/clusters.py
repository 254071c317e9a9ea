"""Clustered points in any number, written in blocks."""

from pathlib import Path

import numpy as np
import numpy.typing as npt

DIMENSIONS, INTRINSIC = 64, 8
CLASSES, CLUSTERS_PER_CLASS = 10, 3
BLOCK = 2**16
#: Spread of the centres, and of the noise in all dimensions; the spread of a cluster is 1.
APART, NOISE = 1.8, 0.05


def clustered_points(folder: Path, n: int, seed: int = 0) -> tuple[Path, Path]:
    """Files with n points (float32, 64 dimensions) and their classes (int64, 10 of them).

    Three Gaussian clusters per class lie in 8 dimensions, bent into 64, with noise in all 64. They
    touch, so that ten neighbours per point give a connected graph. A file with more points begins
    with the same points. Existing files are kept.

    Returns
    -------
    paths of the points and of the classes
    """
    folder.mkdir(parents=True, exist_ok=True)
    points, classes = folder / f"points-{n}-{seed}.npy", folder / f"classes-{n}-{seed}.npy"
    if points.is_file() and classes.is_file():
        return points, classes
    beginning = points.with_suffix(".part"), classes.with_suffix(".part")
    X = np.lib.format.open_memmap(beginning[0], mode="w+", dtype=np.float32, shape=(n, DIMENSIONS))
    y = np.lib.format.open_memmap(beginning[1], mode="w+", dtype=np.int64, shape=(n,))
    for start in range(0, n, BLOCK):
        rows, labels = _block(start // BLOCK, seed)
        left = min(BLOCK, n - start)
        X[start : start + left], y[start : start + left] = rows[:left], labels[:left]
    X.flush()
    y.flush()
    del X, y
    beginning[1].replace(classes)
    beginning[0].replace(points)
    return points, classes


def _block(number: int, seed: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    """One block of points and their classes, which depend on its number and the seed."""
    shape = np.random.default_rng([seed, 0])
    clusters = CLASSES * CLUSTERS_PER_CLASS
    centres = shape.normal(scale=APART, size=(clusters, INTRINSIC)).astype(np.float32)
    straight = np.linalg.qr(shape.normal(size=(DIMENSIONS, INTRINSIC)))[0].T.astype(np.float32)
    bent = (shape.normal(size=(INTRINSIC, DIMENSIONS)) / INTRINSIC).astype(np.float32)
    rng = np.random.default_rng([seed, 1, number])
    cluster = rng.integers(clusters, size=BLOCK)
    position = centres[cluster] + rng.standard_normal((BLOCK, INTRINSIC), dtype=np.float32)
    rows = position @ straight + 0.3 * np.sin(position @ bent)
    rows += NOISE * rng.standard_normal(rows.shape, dtype=np.float32)
    return rows.astype(np.float32, copy=False), cluster % CLASSES
