"""Stages of the search: sort points into cells, search in them, and visit other cells.

Each function is a task (`poise.distributed.tasks`): it returns arrays for its files, and a few
numbers.
"""

from pathlib import Path
from typing import Any

import numpy as np

from poise.distributed.bisectors import cells_to_visit
from poise.distributed.centres import (
    SAMPLE_MAX_POINTS,
    SAMPLE_POINTS_PER_CELL,
    cell_centres,
    home_cells,
)
from poise.distributed.layout import first_rows, read_centres, read_table, segments_into
from poise.distributed.plan import Plan, load_plan
from poise.distributed.tasks import Arrays, Facts, load
from poise.graph.backend import Backend, Searcher
from poise.graph.coinciding import LARGE_GROUP_POINTS, large_groups, next_in_group
from poise.graph.features import Features
from poise.graph.metrics import FloatArray, IntArray, search_space
from poise.graph.search import resolve_backend, search_points

MAX_SAMPLED_BLOCKS = 256
"""The sample is drawn from at most so many blocks."""


def sampled_blocks(plan: Plan) -> IntArray:
    """The blocks that the sample is drawn from: all, or some at even distances in the source."""
    return np.unique(
        np.linspace(0, plan.blocks - 1, min(plan.blocks, MAX_SAMPLED_BLOCKS)).astype(int)
    )


def sample_block(folder: Path, number: int) -> tuple[Arrays, Facts]:
    """Draw points of a block for the sample that the cells are computed from."""
    plan = load_plan(folder)
    first, stop = block_bounds(plan, number)
    wanted = min(SAMPLE_POINTS_PER_CELL * plan.cells, SAMPLE_MAX_POINTS) / sampled_blocks(plan).size
    points, _ = search_space(plan.source.read(first, stop), plan.metric)
    draw = np.random.default_rng([plan.seed, number])
    chosen = draw.permutation(stop - first)[: int(np.ceil(wanted))]
    return {"points": np.asarray(points)[np.sort(chosen)]}, {}


def make_centres(folder: Path, number: int) -> tuple[Arrays, Facts]:
    """Compute the cells from the sample."""
    plan = load_plan(folder)
    sample = [load("sample", folder, int(block), "points") for block in sampled_blocks(plan)]
    return {"centres": cell_centres(np.concatenate(sample), plan.cells, plan.seed)}, {}


def block_bounds(plan: Plan, number: int) -> tuple[int, int]:
    """The first point of a block and the first after it."""
    first = number * plan.block_rows
    return first, min(first + plan.block_rows, plan.n)


def sort_block(folder: Path, number: int) -> tuple[Arrays, Facts]:
    """Read a block of the source and sort its points by cell, then by item."""
    plan = load_plan(folder)
    first, stop = block_bounds(plan, number)
    points, _ = search_space(plan.source.read(first, stop), plan.metric)
    centres = read_centres(folder)
    home = home_cells(points, centres)
    order = np.argsort(home, kind="stable")
    counts = np.bincount(home, minlength=centres.shape[0])
    return {
        "points": np.asarray(points)[order],
        "items": (first + order).astype(np.int64),
        "counts": counts.astype(np.int64),
    }, {}


class SearchHome:
    """The task that searches the neighbours of the points of a cell within the cell.

    Its files: the points and their items, in the order of the graph's rows; the lists so far, whose
    indices count within the cell (-1: none); which points must visit which cell.
    """

    def __init__(self, backend: str | Backend) -> None:
        self.backend = backend

    def __call__(self, folder: Path, number: int) -> tuple[Arrays, Facts]:
        """The lists of cell `number`."""
        plan, centres = load_plan(folder), read_centres(folder)
        points, items = _gathered(folder, number)
        indices, distances = lists_within(points, plan.k, plan.metric, self.backend, plan.seed)
        visitors, visited, covered = cells_to_visit(
            points, number, centres, distances[:, -1], plan.reach - 1
        )
        counts = np.bincount(visited, minlength=centres.shape[0])
        return {
            "points": points,
            "items": items,
            "indices": indices.astype(np.int32),
            "distances": distances,
            "visitors": visitors.astype(np.int32),
            "starts": np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        }, {"points": items.size, "visits": visitors.size, "covered": int(covered.sum())}


class SearchVisitors:
    """The task that searches the neighbours of points of other cells within a cell."""

    def __init__(self, backend: str | Backend) -> None:
        self.backend = backend

    def __call__(self, folder: Path, number: int) -> tuple[Arrays, Facts]:
        """Lists of the visitors of cell `number`, in the order of their rows."""
        plan = load_plan(folder)
        first = first_rows(read_table(folder, "counts"))
        points = load("home", folder, number, "points")
        rows, queries = [], []
        for segment in segments_into(folder, "visits", number):
            visitors = load("home", folder, segment.origin, "visitors")[segment.begin : segment.end]
            rows.append(first[segment.origin] + visitors)
            queries.append((segment.origin, visitors))
        visiting = np.concatenate(rows).astype(np.int64)
        indices = np.full((visiting.size, plan.k), -1, dtype=np.int32)
        distances = np.full((visiting.size, plan.k), np.inf)
        search = CellSearch(points, plan.metric, self.backend, visiting.size, plan.seed)
        done = 0
        for origin, visitors in queries:  # only the visitors from one cell are in memory at a time
            near = slice(done, done + visitors.size)
            theirs = load("home", folder, origin, "points")[visitors]
            indices[near], distances[near] = search(theirs, plan.k)
            done += visitors.size
        return {"rows": visiting, "indices": indices, "distances": distances}, {}


class CellSearch:
    """Search among the points of a cell, which are prepared once for all blocks."""

    def __init__(
        self, points: Any, metric: str, backend: str | Backend, queries: int, seed: int
    ) -> None:
        self.points = np.asarray(points)
        self.metric = "euclidean" if metric == "cosine" else metric
        chosen, self.name = resolve_backend(backend, self.points, self.metric, queries)
        chosen.check(self.points, self.metric)
        self.prepared = Prepared(chosen.prepare(self.points, self.metric, seed))

    def __call__(
        self, queries: Features, k: int, own: IntArray | None = None
    ) -> tuple[IntArray, FloatArray]:
        """The k nearest points of each query, padded with -1 where the cell has fewer."""
        m, kept = queries.shape[0], min(k, self.points.shape[0])
        indices, distances = np.full((m, k), -1, dtype=np.int64), np.full((m, k), np.inf)
        lists = search_points(self.points, queries, kept, self.metric, self.prepared, own=own)
        indices[:, :kept], distances[:, :kept] = lists.indices, lists.distances
        indices[np.isinf(distances)] = -1
        return indices, distances


class Prepared(Backend):
    """A backend whose points are already prepared."""

    metrics = None

    def __init__(self, searcher: Searcher) -> None:
        self.searcher = searcher

    def prepare(self, points: Features, metric: str, seed: int) -> Searcher:
        """The prepared searcher."""
        return self.searcher


def lists_within(
    points: Any, k: int, metric: str, backend: str | Backend, seed: int
) -> tuple[IntArray, FloatArray]:
    """Neighbours of the points of a cell among themselves, as `knn_graph` finds them.

    Points of large coinciding groups list the next ones of their group without a search.
    """
    n = points.shape[0]
    indices, distances = np.full((n, k), -1, dtype=np.int64), np.full((n, k), np.inf)
    groups = large_groups(points, max(LARGE_GROUP_POINTS, k + 1))
    for group in groups:
        indices[group], distances[group] = next_in_group(group, k), 0.0
    own = np.setdiff1d(np.arange(n), np.concatenate(groups)) if groups else np.arange(n)
    if own.size:
        search = CellSearch(points, metric, backend, own.size, seed)
        indices[own], distances[own] = search(points[own], k, own)
    return indices, distances


def _gathered(folder: Path, cell: int) -> tuple[Any, IntArray]:
    """The points of a cell from all blocks, and their items."""
    counts = read_table(folder, "counts")
    points, items = [], []
    for block in range(counts.shape[0]):
        begin = int(counts[block, :cell].sum())
        near = slice(begin, begin + int(counts[block, cell]))
        if near.start < near.stop:
            points.append(np.asarray(load("blocks", folder, block, "points")[near]))
            items.append(np.asarray(load("blocks", folder, block, "items")[near]))
    return np.concatenate(points), np.concatenate(items)
