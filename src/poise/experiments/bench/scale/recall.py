"""The share of the true neighbours that a search found, on a sample of the points."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

SAMPLED = 1_000
BLOCK = 2**16

IntArray = npt.NDArray[np.integer[Any]]
Floats = npt.NDArray[np.float64]


def true_distances(points: Path, k: int, seed: int = 1) -> tuple[npt.NDArray[np.int64], Floats]:
    """Sampled rows, and the true distance of each to its k-th neighbour; kept in a file."""
    kept = points.with_name(f"{points.stem}-truth-{k}.npz")
    if kept.is_file():
        with np.load(kept) as file:
            return file["rows"], file["kth"]
    X = np.load(points, mmap_mode="r")
    n = len(X)
    rows = np.sort(np.random.default_rng(seed).choice(n, min(SAMPLED, n), replace=False))
    sample = np.asarray(X[rows], dtype=np.float64)
    nearest = np.full((len(rows), k), np.inf)
    for start in range(0, n, BLOCK):
        block = np.asarray(X[start : start + BLOCK], dtype=np.float64)
        squares = (block**2).sum(axis=1) - 2 * sample @ block.T
        inside = np.flatnonzero((rows >= start) & (rows < start + BLOCK))
        squares[inside, rows[inside] - start] = np.inf  # no point is its own neighbour
        few = min(2 * k, squares.shape[1] - 1)
        closest = np.argpartition(squares, few, axis=1)[:, :few]
        differences = block[closest] - sample[:, None]
        exact = np.sqrt(np.einsum("mcd,mcd->mc", differences, differences))
        exact[closest + start == rows[:, None]] = np.inf
        nearest = np.sort(np.hstack([nearest, exact]), axis=1)[:, :k]
    np.savez(kept, rows=rows, kth=nearest[:, -1])
    return rows, nearest[:, -1]


def recall(
    points: Path, lists: IntArray, rows: npt.NDArray[np.int64], kth: Floats, k: int
) -> float:
    """Share of the k listed points of a sampled row that are no farther than its true k-th.

    Parameters
    ----------
    lists : (sampled, k or more) lists of the sampled rows; a row itself does not count
    rows, kth : of `true_distances`
    """
    X = np.load(points, mmap_mode="r")
    differences = np.asarray(X[lists], dtype=np.float64)
    differences -= np.asarray(X[rows], dtype=np.float64)[:, None]
    distances = np.sqrt(np.einsum("mcd,mcd->mc", differences, differences))
    near = (distances <= kth[:, None] * (1 + 1e-9)) & (lists != rows[:, None])
    return float(near.sum() / (len(rows) * k))
