"""Solves with PETSc on graphs of millions of nodes, at one and two ranks.

    python benchmarks/petsc_scale.py make 4000000 FOLDER        # a graph of clusters, in shards
    mpiexec -n 2 python benchmarks/petsc_scale.py run FOLDER [STEPS]   # one question, in parts
    mpiexec -n 1 python benchmarks/petsc_scale.py products FOLDER   # ways to multiply 8 columns
    mpiexec -n 2 python benchmarks/petsc_scale.py multigrid FOLDER  # PETSc's GAMG and Jacobi

Each prints a line of JSON. Seconds are wall time, and processor time of the busiest rank. Set
OMP_NUM_THREADS=1: a rank is one thread. For docs/decisions/distributed-solves.md and docs/scale.md.
"""

import argparse
import json
import resource
import sys
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from poise.distributed.partition import load
from poise.distributed.ranks import Ranks, petsc
from poise.distributed.shards import Rows, write_manifest, write_shard
from poise.models.harmonic import Problem

DIMENSIONS, NEIGHBOURS, CLASSES, SHARDS = 16, 10, 10, 2
CELL, PROBES = 1000, 3


def make(n: int, folder: Path) -> dict[str, Any]:
    """Points around connected cluster centres, joined to their neighbours in the nearest cells."""
    import faiss

    begin = time.perf_counter()
    rng = np.random.default_rng(0)
    n_clusters = max(n // 5000, 2)
    # Each centre lies near an earlier one, so that the clusters hang together.
    parents = rng.integers(0, np.maximum(np.arange(n_clusters), 1))
    centres = rng.normal(size=(n_clusters, DIMENSIONS)).astype(np.float32)
    for i in range(1, n_clusters):
        centres[i] += centres[parents[i]]
    X = rng.normal(size=(n, DIMENSIONS)).astype(np.float32)
    X += centres[rng.integers(n_clusters, size=n)]
    cells = faiss.Kmeans(DIMENSIONS, n // CELL, niter=4, max_points_per_centroid=40, seed=0)
    cells.train(X)
    _, cell = cells.index.search(X, 1)
    X = X[np.argsort(_bisected(cells.centroids)[cell[:, 0]], kind="stable")]
    index = faiss.IndexIVFFlat(cells.index, DIMENSIONS, n // CELL)
    index.train(X[:1])
    index.add(X)
    index.nprobe = PROBES
    squares = np.empty((n, NEIGHBOURS), dtype=np.float32)
    found = np.empty((n, NEIGHBOURS), dtype=np.int64)
    for first in range(0, n, 100_000):
        some = slice(first, min(first + 100_000, n))
        d, i = index.search(X[some], NEIGHBOURS + 1)
        squares[some], found[some] = d[:, 1:], i[:, 1:]
    del index
    scale = np.maximum(squares[:, -1:], 1e-12)
    values = np.where(found >= 0, np.exp(-4.0 * np.minimum(squares / scale, 1.0)), 0.0)
    columns = np.where(found >= 0, found, np.arange(n)[:, None])
    pointers = np.arange(0, n * NEIGHBOURS + 1, NEIGHBOURS)
    W = sparse.csr_array(
        (values.ravel().astype(np.float64), columns.ravel(), pointers), shape=(n, n)
    )
    W.setdiag(0.0)
    W = W.maximum(W.T.tocsr()).tocsr()
    W.eliminate_zeros()
    W.sort_indices()
    folder.mkdir(parents=True, exist_ok=True)
    bounds = np.linspace(0, n, SHARDS + 1).astype(np.int64)
    shards = []
    for number, (first, stop) in enumerate(pairwise(bounds)):
        near = slice(W.indptr[first], W.indptr[stop])
        rows = Rows(
            W.indptr[first : stop + 1].astype(np.int64) - W.indptr[first],
            W.indices[near].astype(np.int64),
            W.data[near],
            np.arange(first, stop),
        )
        shards.append(write_shard(folder, number, int(first), rows))
    write_manifest(folder, shards, k=NEIGHBOURS, metric="l2", kernel=None, symmetrise="max")
    return {"nodes": n, "entries": int(W.nnz), "seconds": round(time.perf_counter() - begin, 1)}


def _bisected(centroids: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """Place of each cell in an order in which neighbours are close: halves of halves."""
    place = np.empty(len(centroids), dtype=np.int64)
    parts, first = [np.arange(len(centroids))], 0
    while parts:
        part = parts.pop()
        if len(part) < 3:
            place[part] = np.arange(first, first + len(part))
            first += len(part)
            continue
        points = centroids[part] - centroids[part].mean(axis=0)
        direction = np.linalg.svd(points, full_matrices=False)[2][0]
        order = part[np.argsort(points @ direction, kind="stable")]
        parts += [order[len(order) // 2 :], order[: len(order) // 2]]
    return place


def run(folder: Path, most_steps: int = 5000) -> dict[str, Any] | None:
    """Time, memory and messages of one question: weights, and ten columns.

    With `most_steps`, both end there: what a step takes is known by then.
    """
    from poise.distributed import columns
    from poise.distributed.solve import solve

    ranks = Ranks()
    clock = Clock(ranks)
    partition = load(ranks, folder)
    seconds = {"load": clock()}
    rng = np.random.default_rng(0)
    items = np.sort(rng.choice(partition.n_nodes, 3 * CLASSES, replace=False))
    sources = tuple(tuple(int(i) for i in items[c::CLASSES]) for c in range(CLASSES))
    steps: list[int] = []

    def counted(*arguments: Any, **options: Any) -> Any:
        found = solve(*arguments, **options, max_steps=most_steps)
        steps.append(int(found.steps.max()))
        return replace(found, status=np.zeros_like(found.status))

    solve(partition, np.ones((partition.n_rows, 2)), diagonals=1.0, max_steps=1)
    seconds["compiling"] = clock()
    columns.solve = counted  # type: ignore[assignment]
    problem = Problem(sources, tau=1e-3)
    gamma = columns.poisson_weights(partition, problem.constrained)
    seconds["weights"] = clock()
    columns.spread(partition, problem, gamma)
    seconds["columns"] = clock()
    fetched = ranks.each(np.array([partition.n_fetched]))[:, 0]
    peak = ranks.each(np.array([resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024]))[:, 0]
    ranks.close()
    if ranks.rank:
        return None
    return {
        "nodes": partition.n_nodes,
        "entries": partition.manifest.n_entries,
        "ranks": ranks.size,
        "components": len(partition.component_sizes),
        "seconds": seconds,
        "steps": {"weights": steps[0], "columns": steps[1]},
        "bytes sent per step and column": int(8 * fetched.sum()),
        "peak GB of each rank": [round(p / 1e9, 2) for p in peak],
        "estimated GB": round(partition.need.all / 1e9, 2),
    }


def products(folder: Path) -> dict[str, Any] | None:
    """Eight columns: one dense matrix of PETSc's, or eight vectors one after the other."""
    PETSc = petsc()
    ranks = Ranks()
    clock = Clock(ranks)
    partition = load(ranks, folder)
    product = partition.product
    clock()
    seconds = {}
    for n_columns in (1, 2, 4, 8):
        source, _ = product.buffers(n_columns)
        source[:] = np.random.default_rng(0).normal(size=source.shape)
        product.run(n_columns)
        clock()
        for _ in range(5):
            product.run(n_columns)
        seconds[f"5 of {n_columns} columns"] = clock()
    x = PETSc.Vec().createMPI((partition.n_rows, partition.n_nodes), comm=ranks.comm)
    y = x.duplicate()
    x.set(1.0)
    for _ in range(5 * 8):
        product.matrix.mult(x, y)
    seconds["5 of eight vectors"] = clock()
    ranks.close()
    if ranks.rank:
        return None
    return {"nodes": partition.n_nodes, "ranks": ranks.size, "seconds": seconds}


def multigrid(folder: Path) -> dict[str, Any] | None:
    """The Poisson equation by PETSc's conjugate gradients with Jacobi and with GAMG."""
    PETSc = petsc()
    ranks = Ranks()
    clock = Clock(ranks)
    partition = load(ranks, folder)
    main = partition.component_sizes[0]
    rows = PETSc.IS().createGeneral(
        (np.flatnonzero(partition.components == 0) + partition.first).astype(PETSc.IntType),
        comm=ranks.comm,
    )
    L = partition.product.matrix.createSubMatrix(rows, rows)  # one component: one kernel vector
    L.scale(-1.0)
    degrees = L.createVecLeft()
    degrees.getArray()[:] = partition.degrees[partition.components == 0]
    diagonal = PETSc.Mat().createDiagonal(degrees)
    diagonal.convert("aij")
    L.axpy(1.0, diagonal, structure=PETSc.Mat.Structure.DIFFERENT_NONZERO_PATTERN)
    constants = PETSc.NullSpace().create(constant=True, comm=ranks.comm)
    L.setNullSpace(constants)
    L.setNearNullSpace(constants)
    b, x = L.createVecs()
    values = np.random.default_rng(ranks.rank).normal(size=b.getLocalSize())
    b.getArray()[:] = values * (np.random.default_rng(ranks.rank).random(len(values)) < 1e-3)
    constants.remove(b)
    clock()
    found: dict[str, Any] = {"nodes": int(main), "ranks": ranks.size}
    for kind in ("jacobi", "gamg"):
        solver = PETSc.KSP().create(comm=ranks.comm)
        solver.setOperators(L)
        solver.setType("cg")
        solver.getPC().setType(kind)
        solver.setTolerances(rtol=1e-9, max_it=5000)
        solver.setUp()
        setup = clock()
        x.set(0.0)
        solver.solve(b, x)
        found[kind] = {
            "set-up": setup,
            "solve": clock(),
            "steps": solver.getIterationNumber(),
        }
        solver.destroy()
    peak = ranks.each(np.array([resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024]))[:, 0]
    found["peak GB of each rank"] = [round(p / 1e9, 2) for p in peak]
    ranks.close()
    return None if ranks.rank else found


class Clock:
    """Seconds since the last call, of the clock and of the busiest rank's processor."""

    def __init__(self, ranks: Ranks) -> None:
        self.ranks = ranks
        self.last = np.array([time.perf_counter(), time.process_time()])

    def __call__(self) -> list[float]:
        busy = time.process_time() - self.last[1]
        busiest = float(self.ranks.largest(np.array([busy]))[0])
        taken = time.perf_counter() - self.last[0]
        self.last = np.array([time.perf_counter(), time.process_time()])
        if self.ranks.rank == 0:
            print(f"{taken:.3f} s, processor {busiest:.3f} s", file=sys.stderr, flush=True)
        return [round(taken, 3), round(busiest, 3)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("words", nargs="*", metavar="PART [N] FOLDER [STEPS]")
    match parser.parse_args().words:
        case ["make", n, folder]:
            result: dict[str, Any] | None = make(int(n), Path(folder))
        case ["run", folder, *most]:
            result = run(Path(folder), *map(int, most))
        case ["products", folder]:
            result = products(Path(folder))
        case ["multigrid", folder]:
            result = multigrid(Path(folder))
        case _:
            parser.error("give a part and a folder, as in the examples of --help")
    if result is not None:
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
