"""Compute the weights from directed edges, cell by cell: hubs, scales, symmetry, shards."""

from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph

from poise.distributed.layout import (
    Segment,
    first_rows,
    read_table,
    segments_from,
    segments_into,
)
from poise.distributed.plan import load_plan
from poise.distributed.shards import Rows, write_shard
from poise.distributed.tasks import Arrays, Facts, load
from poise.graph.metrics import FloatArray, IntArray
from poise.graph.weights import combined


class Edges(NamedTuple):
    """Directed edges: rows of the graph at both ends, and distances."""

    origins: IntArray
    targets: IntArray
    distances: FloatArray


class Limits(NamedTuple):
    """The last edge that each point of a cell accepts: its distance and its origin."""

    distances: FloatArray
    origins: IntArray


def receive(folder: Path, number: int) -> tuple[Arrays, Facts]:
    """The scale of each point of a cell and the edges it accepts, from the edges into the cell.

    Its files: the scale of each point, that is d_k or, where that is 0, the smallest positive
    distance at which the point is listed; and, for points listed by more than `most_incoming`
    others, the last edge that they accept.
    """
    plan = load_plan(folder)
    first = first_rows(read_table(folder, "counts"))
    edges = _edges(folder, segments_into(folder, "edges", number), first)
    n, rows = int(first[number + 1] - first[number]), edges.targets - first[number]
    scale = np.array(load("edges", folder, number, "kth"))
    positive = edges.distances > 0
    nearest = np.full(n, np.inf)
    np.minimum.at(nearest, rows[positive], edges.distances[positive])
    repaired = (scale == 0) & np.isfinite(nearest)
    scale[repaired] = nearest[repaired]
    incoming = np.bincount(rows, minlength=n)
    limits = accepted(edges, rows, incoming, plan.most_incoming)
    facts = {
        "most_incoming": int(incoming.max()),
        "capped": int(np.isfinite(limits.distances).sum()),
    }
    return {"scale": scale, "limit": limits.distances, "last": limits.origins}, facts


def accepted(edges: Edges, rows: IntArray, incoming: IntArray, most: int | None) -> Limits:
    """The limits of points with more than `most` incoming edges; infinite for the others."""
    limits = Limits(
        np.full(incoming.size, np.inf),
        np.full(incoming.size, np.iinfo(np.int64).max, dtype=np.int64),
    )
    for hub in np.flatnonzero(incoming > most) if most is not None else ():
        into = np.flatnonzero(rows == hub)
        order = np.lexsort((edges.origins[into], edges.distances[into]))
        last = into[order[most - 1]]  # type: ignore[operator]
        limits.distances[hub], limits.origins[hub] = edges.distances[last], edges.origins[last]
    return limits


def write_rows(folder: Path, number: int) -> tuple[Arrays, Facts]:
    """The weights of a cell's rows as a shard of the graph, and numbers for the report."""
    plan = load_plan(folder)
    first = first_rows(read_table(folder, "counts"))
    begin, stop = int(first[number]), int(first[number + 1])
    out, dropped = _directed(folder, segments_from(folder, "edges", number), first)
    into, _ = _directed(folder, segments_into(folder, "edges", number), first)
    shape = (stop - begin, int(first[-1]))
    W = _matrix(out.weights, out.origins - begin, out.targets, shape)
    transposed = _matrix(into.weights, into.targets - begin, into.origins, shape)
    rows = combined(W, transposed, plan.symmetrise)
    rows.eliminate_zeros()
    rows.sort_indices()
    items = load("home", folder, number, "items")
    shard_number = int(np.count_nonzero(np.diff(first[: number + 1])))  # cells may be empty
    columns = rows.indices.astype(np.int64)
    shard = write_shard(
        folder, shard_number, begin, Rows(rows.indptr.astype(np.int64), columns, rows.data, items)
    )
    counts, degrees = np.diff(rows.indptr), np.asarray(rows.sum(axis=1)).ravel()
    inside = sparse.csr_array(rows[:, begin:stop])
    parts, component = csgraph.connected_components(inside, directed=False)
    sizes, numbers = np.unique(counts, return_counts=True)
    return {"component": component.astype(np.int64)}, {
        "shard": asdict(shard),
        "dropped": dropped,
        "components": int(parts),
        "neighbours": [sizes.tolist(), numbers.tolist()],
        "degrees": [float(degrees.min()), float(degrees.sum()), float(degrees.max())],
        "inside": int(inside.nnz),
    }


class _Weighted(NamedTuple):
    origins: IntArray
    targets: IntArray
    weights: FloatArray


def _directed(folder: Path, segments: list[Segment], first: IntArray) -> tuple[_Weighted, int]:
    """The accepted edges of some segments with their weights, and the number of refused ones."""
    kernel = load_plan(folder).kernel_function
    origins, targets, weights, dropped = [], [], [], 0
    for segment in segments:
        edges = _edges(folder, [segment], first)
        from_cell, to_cell = first[segment.origin], first[segment.target]
        kept = _kept(folder, segment, edges, from_cell, to_cell)
        dropped += int((~kept).sum())
        edges = Edges(edges.origins[kept], edges.targets[kept], edges.distances[kept])
        own = load("received", folder, segment.origin, "scale")[edges.origins - from_cell]
        other = load("received", folder, segment.target, "scale")[edges.targets - to_cell]
        origins.append(edges.origins)
        targets.append(edges.targets)
        weights.append(kernel(edges.distances, own, other))
    none = np.empty(0, dtype=np.int64)
    weighted = _Weighted(
        np.concatenate([none, *origins]),
        np.concatenate([none, *targets]),
        np.concatenate([np.empty(0), *weights]),
    )
    return weighted, dropped


def spare(folder: Path, number: int) -> tuple[Arrays, Facts]:
    """The points of a cell that hubs would leave without edges: they keep the nearest one."""
    first = first_rows(read_table(folder, "counts"))
    left = np.zeros(int(first[number + 1] - first[number]), dtype=bool)
    for segment in segments_from(folder, "edges", number):
        edges = _edges(folder, [segment], first)
        kept = _accepted(folder, segment, edges, int(first[segment.target]))
        left[edges.origins[kept] - first[number]] = True
    return {"spared": ~left}, {}


def _kept(
    folder: Path, segment: Segment, edges: Edges, from_cell: int, to_cell: int
) -> npt.NDArray[np.bool_]:
    """Which edges their targets accept, or their origins keep because they have no others."""
    if not read_table(folder, "capped")[segment.target]:
        return np.ones(edges.origins.size, dtype=bool)
    rows = edges.origins - from_cell
    nearest = load("edges", folder, segment.origin, "nearest")[rows]
    spared = load("spared", folder, segment.origin, "spared")[rows]
    accepted = _accepted(folder, segment, edges, to_cell)
    return np.asarray(accepted | (spared & (edges.distances == nearest)), dtype=bool)


def _accepted(folder: Path, segment: Segment, edges: Edges, to_cell: int) -> npt.NDArray[np.bool_]:
    """Which edges their targets accept."""
    rows = edges.targets - to_cell
    limit = load("received", folder, segment.target, "limit")[rows]
    last = load("received", folder, segment.target, "last")[rows]
    before = (edges.distances < limit) | ((edges.distances == limit) & (edges.origins <= last))
    return np.asarray(before, dtype=bool)


def _edges(folder: Path, segments: list[Segment], first: IntArray) -> Edges:
    """The directed edges of some segments, by rows of the graph."""
    parts = []
    for segment in segments:
        near = slice(segment.begin, segment.end)
        names = ("sources", "targets", "distances")
        origins, targets, distances = (
            np.asarray(load("edges", folder, segment.origin, name)[near]) for name in names
        )
        parts.append(Edges(first[segment.origin] + origins, targets, distances))
    none = np.empty(0, dtype=np.int64)
    return Edges(
        np.concatenate([none, *(part.origins for part in parts)]),
        np.concatenate([none, *(part.targets for part in parts)]),
        np.concatenate([np.empty(0), *(part.distances for part in parts)]),
    )


def _matrix(
    weights: FloatArray, rows: IntArray, columns: IntArray, shape: tuple[int, int]
) -> sparse.csr_array:
    """Entries as CSR in canonical form: SciPy adds such matrices without large temporary tables."""
    matrix = sparse.csr_array(sparse.coo_array((weights, (rows, columns)), shape=shape))
    matrix.sum_duplicates()
    return matrix
