"""Build the neighbour graph of points that one process cannot search, cell by cell on Dask."""

import os
import shutil
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from poise.checks import whole_number
from poise.distributed.checksums import FileSum
from poise.distributed.cluster import check_workers, local_client, worker_memory
from poise.distributed.estimate import check_room, estimate
from poise.distributed.joins import component_sizes, join_cell
from poise.distributed.layout import first_rows, write_counts, write_segments, write_table
from poise.distributed.merge import merge_cell
from poise.distributed.plan import (
    METRICS,
    Plan,
    default_block_rows,
    default_cells,
    save_plan,
    work_folder,
)
from poise.distributed.recall import check_cell, choose_checked, measured_recall
from poise.distributed.report import make_report
from poise.distributed.search import (
    SearchHome,
    SearchVisitors,
    make_centres,
    sample_block,
    sampled_blocks,
    sort_block,
)
from poise.distributed.shards import MANIFEST, Manifest, Shard, read_manifest, write_manifest
from poise.distributed.sources import Source, open_source
from poise.distributed.stages import Run, StageProgress, run_stage
from poise.distributed.tasks import Facts, attempts, load
from poise.distributed.weigh import receive, spare, write_rows
from poise.errors import InputError, UnknownNameError
from poise.graph.backend import Backend, as_backend
from poise.graph.kernel import Symmetrise, kernels
from poise.graph.knn import check_k, check_seed, check_symmetrise
from poise.machine import available_memory

HUB_LISTS = 100
"""Default of `most_incoming`, as a multiple of k."""

REACH = 4
"""Default of `reach`."""


# Over 80 lines because of its docstring: the body has 22.
def neighbour_graph(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    folder: str | os.PathLike[str],
    k: int = 20,
    *,
    metric: Literal["euclidean", "cosine", "manhattan"] = "euclidean",
    kernel: str = "gaussian",
    symmetrise: Literal["auto"] | Symmetrise = "auto",
    backend: str | Backend = "auto",
    cells: int | None = None,
    reach: int = REACH,
    most_incoming: int | Literal["auto"] | None = "auto",
    column: str | None = None,
    checked: int = 1000,
    client: Any = None,
    workers: int = 2,
    seed: int = 0,
    keep_work: bool = False,
    progress: StageProgress | None = None,
) -> Manifest:
    """Join every point of `source` to its k nearest neighbours, in a partitioned graph on disk.

    The points are sorted into cells around k-means centres. The neighbours of a point are searched
    in its own cell and then in the nearest cells that may hold closer ones. The same call resumes
    an interrupted run; finished cells are not searched again.

    Parameters
    ----------
    source : path or list of paths
        Of .npy, Parquet or Arrow files; see `poise.distributed.sources.open_source`.
    folder : path
        Folder of the graph, on a file system that all workers share.
    k, metric, kernel, symmetrise, seed
        As in `poise.knn_graph`; the kernel by name, the metric one of these three.
    backend : str or Backend
        Search within a cell; "auto" is exact in small cells and uses inverted lists in large
        ones, "exact" is exact in all.
    cells : int, optional
        Number of cells, by default of about 50,000 points. Smaller cells need less memory, and a
        larger `reach` for the same recall.
    reach : int
        Maximum number of cells searched for a point, its own included. With ``reach=cells`` and
        ``backend="exact"`` the graph is that of ``knn_graph(X, k, backend="exact")``.
    most_incoming : int, "auto" or None
        A point listed by more others than this keeps the edges to the nearest of them, and to
        points that would otherwise have no edges. "auto": 100 k. None: no limit, as in
        `knn_graph`.
    column : str, optional
        Column of a table that holds the points as lists.
    checked : int
        Number of points whose lists are compared with an exact search for the report; 0: none.
    client : distributed.Client, optional
        Client of a Dask cluster; without it, `workers` processes of this machine are used.
    workers : int
        Processes to start if there is no client.
    keep_work : bool
        Keep the files of all stages.
    progress : callable, optional
        Called with (stage, tasks done, tasks).

    Returns
    -------
    Manifest
        Of the finished graph; ``manifest.report`` has degrees, hubs, imbalance, components, recall.

    Raises
    ------
    InputError
        If the graph does not fit on the disk or a cell does not fit in the memory of a worker; if
        the folder holds another graph; if workers have other versions or do not see the folder.
    RunError
        If a stage fails; finished work is kept.
    """
    target = Path(folder)
    points = open_source(source, column)
    plan = make_plan(
        points, k, metric, kernel, symmetrise, backend, cells, reach, most_incoming, checked, seed
    )
    finished = finished_graph(target, plan)
    if finished is not None:
        return finished
    workers = whole_number(workers, "workers", 1)
    target.mkdir(parents=True, exist_ok=True)
    free = available_memory()
    share = free // workers if free else None
    memory = worker_memory(client) if client is not None else share
    check_room(plan, estimate(plan), target, memory)
    save_plan(target, plan)
    context = nullcontext(client) if client is not None else local_client(workers)
    with context as active:
        check_workers(active, target)
        manifest = build(partial(run_stage, active, target, progress), target, plan, backend)
    if not keep_work:
        shutil.rmtree(work_folder(target))
    return manifest


def make_plan(
    source: Source,
    k: int,
    metric: str,
    kernel: str,
    symmetrise: Literal["auto"] | Symmetrise,
    backend: str | Backend,
    cells: int | None,
    reach: int,
    most_incoming: int | Literal["auto"] | None,
    checked: int,
    seed: int,
) -> Plan:
    """Check the settings and fill in the defaults."""
    k = check_k(k, source.n)
    if metric not in METRICS:
        raise UnknownNameError(
            f"no metric for several machines is called {metric!r}: there are {', '.join(METRICS)}"
        )
    if not isinstance(kernel, str):
        raise InputError(f"kernel is {kernel!r}: expected a name, one of {', '.join(kernels)}")
    if most_incoming == "auto":
        most_incoming = HUB_LISTS * k
    elif most_incoming is not None:
        most_incoming = whole_number(most_incoming, "most_incoming", 1)
    if backend not in ("auto", "exact"):
        as_backend(backend)
    if cells is None:
        cells = default_cells(source.n)
    cells = min(whole_number(cells, "cells", 1), source.n)
    return Plan(
        source=source,
        k=k,
        metric=metric,
        kernel=kernel,
        symmetrise=check_symmetrise(symmetrise, kernels.make(kernel)),
        backend=str(backend),
        cells=cells,
        reach=min(whole_number(reach, "reach", 1), cells),
        most_incoming=most_incoming,
        block_rows=default_block_rows(source),
        checked=whole_number(checked, "checked", 0),
        seed=check_seed(seed),
    )


def finished_graph(folder: Path, plan: Plan) -> Manifest | None:
    """The graph of this plan, if it is finished already."""
    if not (folder / MANIFEST).exists():
        return None
    manifest = read_manifest(folder)
    if manifest.report.get("plan") == plan.digest:
        return manifest
    raise InputError(
        f"{folder} holds a finished graph of other settings or of other files: use another "
        "folder, or remove it"
    )


def build(run: Run, folder: Path, plan: Plan, backend: str | Backend) -> Manifest:
    """Run all stages of the plan saved in the folder, and write the manifest."""
    run("sample", sample_block, sampled_blocks(plan))
    run("centres", make_centres, [0])
    run("blocks", sort_block, range(plan.blocks))
    counts = write_counts(folder, plan.blocks)
    cells = np.flatnonzero(counts.sum(axis=0))
    home = run("home", SearchHome(backend), cells)
    visits = write_segments(folder, "visits", "home", cells)
    run("visits", SearchVisitors(backend), np.unique(visits[:, 1]))
    merged = run("edges", merge_cell, cells)
    write_segments(folder, "edges", "edges", cells)
    received = run("received", receive, cells)
    capped = np.zeros(counts.shape[1], dtype=np.int64)
    capped[cells] = [received[int(cell)]["capped"] for cell in cells]
    write_table(folder, "capped", capped)
    if capped.any():
        run("spared", spare, cells)
    rows = run("rows", write_rows, cells)
    parts = np.zeros(counts.shape[1] + 1, dtype=np.int64)
    parts[cells + 1] = [rows[int(cell)]["components"] for cell in cells]
    write_table(folder, "parts", np.cumsum(parts))
    run("joins", join_cell, cells)
    joined = [load("joins", folder, int(cell), "pairs") for cell in cells]
    sizes = [load("joins", folder, int(cell), "sizes") for cell in cells]
    recall = None
    if plan.checked:
        choose_checked(folder)
        run("checks", check_cell, cells)
        recall = measured_recall(folder, cells)
    report = make_report(
        plan, home, merged, received, rows,
        np.bincount(visits[:, 1], weights=visits[:, 3] - visits[:, 2], minlength=cells.size),
        component_sizes(np.concatenate(sizes), np.concatenate(joined)), recall,
    )  # fmt: skip
    report["tasks_repeated"] = sum(attempts("home", folder, int(cell)) - 1 for cell in cells)
    shards = [_shard(rows[int(cell)]["shard"]) for cell in cells]
    assert shards[-1].stop == int(first_rows(counts)[-1])
    return write_manifest(
        folder,
        shards,
        k=plan.k,
        metric=plan.metric,
        kernel=plan.kernel,
        symmetrise=plan.symmetrise,
        report=report | {"plan": plan.digest},
    )


def _shard(plain: Facts) -> Shard:
    files = {name: FileSum(**about) for name, about in plain["files"].items()}
    return Shard(**plain | {"files": files})
