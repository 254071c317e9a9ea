"""Disk space and memory per worker that a graph needs, estimated before the build."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from poise.distributed.plan import Plan
from poise.errors import InputError

PROCESS_BYTES = 250 * 2**20
"""Memory of a worker with its libraries, without points (measured: 210 MB)."""

LARGEST_CELL_RATIO = 2.0
"""Assumed size of the largest cell, as a multiple of the mean."""


@dataclass(frozen=True)
class Needs:
    """Bytes needed.

    Parameters
    ----------
    work : int
        Disk until the graph is finished: an upper bound, reached if every point visits the maximum
        number of cells.
    graph : int
        Disk for the finished graph: an upper bound, reached if no two points list each other.
    memory : int
        Memory of each worker.
    """

    work: int
    graph: int
    memory: int

    @property
    def disk(self) -> int:
        """Disk at the end of the last stage."""
        return self.work + self.graph

    def __str__(self) -> str:
        return f"up to {size(self.disk)} of disk and {size(self.memory)} of memory per worker"


def estimate(plan: Plan) -> Needs:
    """Upper bounds of what a plan needs, from the sizes of its files and arrays.

    With n points of d numbers of b bytes, k neighbours and searches in r cells, the files take
    ``2 n d b`` (points, by block and by cell) ``+ 12 n k r + 12 n r`` (lists and visits)
    ``+ 20 n k`` (edges) ``+ 64 n``, and the graph ``16 (2 n k + n)``.
    """
    n, k = plan.n, plan.k
    width = plan.source.dimensions * (8 if plan.source.dtype == "float64" else 4)
    work = 2 * n * width + 12 * n * (k + 1) * plan.reach + 20 * n * k + 64 * n
    graph = 16 * (2 * n * k + n)
    cell = min(n, int(LARGEST_CELL_RATIO * n / plan.cells) + 1)
    # A cell: its points twice, once more in single precision for faiss; then lists and their merge.
    search = cell * (2 * width + 8 * plan.source.dimensions) + cell * (24 * k + 64)
    merge = cell * plan.reach * k * 72
    weigh = cell * k * 2 * 96
    block = plan.block_rows * (3 * width + 32)
    return Needs(work, graph, PROCESS_BYTES + max(search, merge, weigh, block))


def check_room(plan: Plan, needs: Needs, folder: Path, memory: int | None) -> None:
    """Refuse a plan that does not fit, and say by how much.

    Parameters
    ----------
    folder : Path
        Folder of the graph; files left there by an earlier run count as free space.
    memory : int, optional
        Bytes that each worker may use.
    """
    free = shutil.disk_usage(folder).free
    left = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    if needs.disk > free + left:
        raise InputError(
            f"the graph of {plan.n:,} points needs up to {size(needs.disk)} of disk "
            f"({size(needs.work)} until it is finished, {size(needs.graph)} then) and "
            f"{size(free + left)} are free in {folder}: use a folder with more space, or a "
            "smaller k or reach"
        )
    # A worker is stopped at 95% of its limit and pauses at 80%.
    if memory is not None and needs.memory > 0.8 * memory:
        raise InputError(
            f"each worker needs up to {size(needs.memory)} of memory for cells of about "
            f"{plan.n // plan.cells:,} points and may use {size(int(0.8 * memory))} of its "
            f"{size(memory)}: use more cells than {plan.cells}, or fewer and larger workers"
        )


def size(count: int) -> str:
    """A number of bytes as text, for example "1.5 GB"."""
    for unit, name in ((10**12, "TB"), (10**9, "GB"), (10**6, "MB")):
        if count >= unit:
            return f"{count / unit:.3g} {name}"
    return f"{count / 1000:.3g} kB"
