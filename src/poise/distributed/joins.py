"""Connected components of a partitioned graph: those of each shard, joined by its edges."""

from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from poise.distributed.layout import first_rows, read_table
from poise.distributed.tasks import Arrays, Facts, load
from poise.graph.metrics import IntArray


def join_cell(folder: Path, number: int) -> tuple[Arrays, Facts]:
    """Pairs of parts that edges from this cell join; parts are numbered through the whole graph.

    A part is a connected component of the rows of one cell.
    """
    first = first_rows(read_table(folder, "counts"))
    parts = read_table(folder, "parts")  # the number of the first part of each cell
    begin, stop = int(first[number]), int(first[number + 1])
    shard = int(np.count_nonzero(np.diff(first[: number + 1])))
    shard_folder = folder / f"part-{shard:05d}"
    indptr = np.load(shard_folder / "indptr.npy", mmap_mode="r")
    columns = np.asarray(np.load(shard_folder / "indices.npy", mmap_mode="r"))
    rows = np.repeat(np.arange(stop - begin), np.diff(indptr))
    outside = columns >= stop  # every edge is in the shards of both of its ends
    rows, columns = rows[outside], columns[outside]
    parts_here = parts[number] + load("rows", folder, number, "component")[rows]
    cells = np.searchsorted(first, columns, side="right") - 1
    parts_there = np.empty(columns.size, dtype=np.int64)
    for cell in np.unique(cells):
        chosen = cells == cell
        theirs = load("rows", folder, int(cell), "component")
        parts_there[chosen] = parts[cell] + theirs[columns[chosen] - first[cell]]
    pairs = np.unique(np.stack([parts_here, parts_there], axis=1), axis=0)
    sizes = np.bincount(load("rows", folder, number, "component"))
    return {"pairs": pairs.astype(np.int64), "sizes": sizes.astype(np.int64)}, {}


def component_sizes(sizes: IntArray, pairs: IntArray) -> IntArray:
    """Sizes of the connected components, largest first.

    Parameters
    ----------
    sizes : ndarray, shape (parts,)
        Rows of each part.
    pairs : ndarray, shape (m, 2)
        Parts that are joined.
    """
    joined = sparse.coo_array(
        (np.ones(pairs.shape[0], dtype=np.int8), (pairs[:, 0], pairs[:, 1])),
        shape=(sizes.size, sizes.size),
    )
    _, component = csgraph.connected_components(joined, directed=False)
    totals = np.bincount(component, weights=sizes).astype(np.int64)
    return np.sort(totals)[::-1]
