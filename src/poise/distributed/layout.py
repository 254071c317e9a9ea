"""Small tables of the whole graph, written between two stages and read by every task.

Rows of the graph are numbered by cell and, within a cell, in the order of the items.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from poise.distributed.checksums import write_array
from poise.distributed.plan import work_folder
from poise.distributed.tasks import load
from poise.errors import GraphError
from poise.graph.metrics import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Segment:
    """What one cell has for another: entries begin to end - 1 of its files.

    `position` is their first position among all entries for the other cell, in the order of cells.
    """

    origin: int
    target: int
    begin: int
    end: int
    position: int


def read_table(folder: Path, name: str) -> IntArray:
    """A table written by `write_table`, memory-mapped."""
    path = work_folder(folder) / f"{name}.npy"
    try:
        table: IntArray = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise GraphError(f"{path} cannot be read ({error}): run the command again") from None
    return table


def write_table(folder: Path, name: str, table: IntArray | FloatArray) -> None:
    """Write a table for all tasks."""
    write_array(work_folder(folder) / f"{name}.npy", table, durably=False)


def read_centres(folder: Path) -> FloatArray:
    """Centres of the cells."""
    return np.asarray(load("centres", folder, 0, "centres"), dtype=np.float64)


def write_counts(folder: Path, blocks: int) -> IntArray:
    """(blocks, cells) number of points of each block in each cell."""
    counts = np.stack([load("blocks", folder, block, "counts") for block in range(blocks)])
    write_table(folder, "counts", counts)
    return counts


def first_rows(counts: IntArray) -> IntArray:
    """(cells + 1,) first row of each cell, and the number of rows at the end."""
    return np.concatenate([[0], np.cumsum(counts.sum(axis=0))]).astype(np.int64)


def write_segments(folder: Path, name: str, stage: str, cells: IntArray) -> IntArray:
    """Collect which cells have entries for which others, from the starts that each cell wrote.

    Returns
    -------
    ndarray of int64, shape (segments, 5)
        The fields of `Segment`, by target and then by origin.
    """
    segments = []
    for cell in cells:
        starts = np.asarray(load(stage, folder, int(cell), "starts"))
        targets = np.flatnonzero(np.diff(starts))
        origin = np.full(targets.size, cell)
        segments.append(np.stack([origin, targets, starts[targets], starts[targets + 1]], axis=1))
    table = np.concatenate(segments).astype(np.int64)
    table = table[np.lexsort((table[:, 0], table[:, 1]))]
    sizes = table[:, 3] - table[:, 2]
    before = np.cumsum(sizes) - sizes
    first = np.searchsorted(table[:, 1], table[:, 1])  # the first segment of the same target
    table = np.column_stack([table, before - before[first]])
    write_table(folder, name, table)
    return table


def segments_into(folder: Path, name: str, target: int) -> list[Segment]:
    """What other cells have for this one, in the order of their numbers."""
    table = read_table(folder, name)
    first, stop = np.searchsorted(table[:, 1], [target, target + 1])
    return [Segment(*map(int, row)) for row in table[first:stop]]


def segments_from(folder: Path, name: str, origin: int) -> list[Segment]:
    """What this cell has for others, in the order of their numbers."""
    table = read_table(folder, name)
    return [Segment(*map(int, row)) for row in table[table[:, 0] == origin]]
