"""Share of the true neighbours that were found, from exact searches for a sample of points."""

from pathlib import Path

import numpy as np

from poise.distributed.layout import first_rows, read_table, write_table
from poise.distributed.plan import load_plan
from poise.distributed.search import CellSearch
from poise.distributed.tasks import Arrays, Facts, load
from poise.graph.metrics import FloatArray, IntArray

TIE_RTOL = 1e-12
"""Distances with less relative difference count as equal."""


def choose_checked(folder: Path) -> None:
    """Choose the points to check and write them for all tasks."""
    plan = load_plan(folder)
    first = first_rows(read_table(folder, "counts"))
    draw = np.random.default_rng([plan.seed, plan.n])
    rows = np.sort(draw.choice(plan.n, size=min(plan.checked, plan.n), replace=False))
    cells = np.searchsorted(first, rows, side="right") - 1
    points = [
        load("home", folder, int(cell), "points")[rows[cells == cell] - first[cell]]
        for cell in np.unique(cells)
    ]
    write_table(folder, "checked_rows", rows.astype(np.int64))
    write_table(folder, "checked_points", np.concatenate(points))


def check_cell(folder: Path, number: int) -> tuple[Arrays, Facts]:
    """Distances from the checked points to their k + 1 nearest in a cell, every pair compared."""
    plan = load_plan(folder)
    queries = read_table(folder, "checked_points")
    points = load("home", folder, number, "points")
    search = CellSearch(points, plan.metric, "exact", queries.shape[0], plan.seed)
    _, distances = search(np.asarray(queries), plan.k + 1)
    return {"distances": distances}, {}


def measured_recall(folder: Path, cells: IntArray) -> float:
    """Share of the true neighbours of the checked points that their lists hold."""
    plan = load_plan(folder)
    rows = np.asarray(read_table(folder, "checked_rows"))
    everything = np.concatenate(
        [load("checks", folder, int(cell), "distances") for cell in cells], axis=1
    )
    # The nearest is the point itself, or a point that coincides with it.
    exact = np.sort(everything, axis=1)[:, 1 : plan.k + 1]
    return share_found(lists_of(folder, rows), exact)


def share_found(lists: list[FloatArray], exact: FloatArray) -> float:
    """Share of the exact lists that was found, by distance: any of several tied points counts."""
    farthest = exact[:, -1] * (1 + TIE_RTOL)
    hits = [int((distances <= far).sum()) for distances, far in zip(lists, farthest, strict=True)]
    return float(np.minimum(hits, exact.shape[1]).sum() / exact.size)


def lists_of(folder: Path, rows: IntArray) -> list[FloatArray]:
    """Distances in the lists of some rows of the graph; needs its work folder."""
    first = first_rows(read_table(folder, "counts"))
    cells = np.searchsorted(first, rows, side="right") - 1
    distances_of: dict[int, FloatArray] = {}
    for cell in np.unique(cells):
        origins = np.asarray(load("edges", folder, int(cell), "sources"))
        distances = np.asarray(load("edges", folder, int(cell), "distances"))
        for row in rows[cells == cell]:
            distances_of[int(row)] = distances[origins == row - first[cell]]
    return [distances_of[int(row)] for row in rows]
