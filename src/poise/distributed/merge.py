"""Merge the lists of a point from several cells, and sort its edges by target cell."""

from pathlib import Path

import numpy as np

from poise.distributed.layout import first_rows, read_table, segments_from
from poise.distributed.plan import load_plan
from poise.distributed.tasks import Arrays, Facts, load
from poise.graph.metrics import FloatArray, IntArray


def merge_cell(folder: Path, number: int) -> tuple[Arrays, Facts]:
    """The final lists of a cell's points as directed edges, by target cell.

    Its files: for each edge its origin (counted within the cell), its target (a row of the graph)
    and its distance; where the edges to each cell begin; for each point the distances of its first
    and its k-th neighbour.
    """
    plan = load_plan(folder)
    first = first_rows(read_table(folder, "counts"))
    rows, items, distances = _candidates(folder, number, first)
    rows, distances = nearest_of(rows, items, distances, plan.k)
    n = rows.shape[0]
    listed = rows >= 0
    origins = np.repeat(np.arange(n, dtype=np.int32), listed.sum(axis=1))
    targets, lengths = rows[listed], distances[listed]
    cells = np.searchsorted(first, targets, side="right") - 1
    order = np.argsort(cells, kind="stable")
    counts = np.bincount(cells, minlength=first.size - 1)
    return {
        "sources": origins[order],
        "targets": targets[order],
        "distances": lengths[order],
        "starts": np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        "nearest": distances[:, 0].copy(),
        "kth": distances[:, -1].copy(),
    }, {"short": int((~listed).any(axis=1).sum()), "coinciding": int((distances[:, -1] == 0).sum())}


def nearest_of(
    rows: IntArray, items: IntArray, distances: FloatArray, k: int
) -> tuple[IntArray, FloatArray]:
    """The k nearest candidates of each point, equal distances in the order of the items.

    Parameters
    ----------
    rows, items, distances : ndarray, shape (n, c)
        Candidates; -1 stands for none, at infinite distance. No candidate occurs twice, since each
        point is in one cell.
    """
    order = np.lexsort((items, distances), axis=1)[:, :k]
    return np.take_along_axis(rows, order, axis=1), np.take_along_axis(distances, order, axis=1)


def _candidates(folder: Path, cell: int, first: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
    """All lists of a cell's points: one of k from its own cell, and one of k per visit."""
    lists = [(cell, np.arange(first[cell + 1] - first[cell]), slice(None), "home")]
    for segment in segments_from(folder, "visits", cell):
        visitors = np.asarray(load("home", folder, cell, "visitors")[segment.begin : segment.end])
        rows_there = slice(segment.position, segment.position + visitors.size)
        lists.append((segment.target, visitors, rows_there, "visits"))
    n, k = lists[0][1].size, load("home", folder, cell, "indices").shape[1]
    turn = np.zeros(n, dtype=np.int64)  # number of lists of each point copied so far
    visits = np.zeros(n, dtype=np.int64)
    for _, points, _, _ in lists:
        visits[points] += 1
    width = int(visits.max())
    rows = np.full((n, width, k), -1, dtype=np.int64)
    items = np.full((n, width, k), -1, dtype=np.int64)
    distances = np.full((n, width, k), np.inf)
    for other, points, theirs, stage in lists:
        indices = np.asarray(load(stage, folder, other, "indices")[theirs])
        numbered = np.asarray(load("home", folder, other, "items"))
        rows[points, turn[points]] = np.where(indices >= 0, first[other] + indices, -1)
        items[points, turn[points]] = np.where(indices >= 0, numbered[indices], -1)
        distances[points, turn[points]] = load(stage, folder, other, "distances")[theirs]
        turn[points] += 1
    return rows.reshape(n, -1), items.reshape(n, -1), distances.reshape(n, -1)
