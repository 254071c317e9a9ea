"""A neighbour graph built with Dask and in one process: recall, time and memory on the same points.

    python benchmarks/dask_graph.py points -n 1000000 --data touching   # writes the points
    python benchmarks/dask_graph.py truth                               # exact lists of 2,000
    python benchmarks/dask_graph.py one                                 # poise.knn_graph
    python benchmarks/dask_graph.py dask --workers 2 [--cells 20 --reach 4]
    python benchmarks/dask_graph.py cells                               # what many cells cost
    python benchmarks/dask_graph.py table                               # what was measured

Each part runs in its own process and writes its result to --folder. The points are float32 in 32
dimensions. "touching": 30 clusters in 8 dimensions bent into 32, with noise, which touch. "apart":
1,000 round clusters that hardly touch. "filling": 1,000 round clusters that overlap, so that the
points fill all 32 dimensions; this is the hardest case for a search that skips cells. Recall is the
share of the true k nearest neighbours in the lists, compared with all pairs in float64. Memory is
the peak resident size of the process, for Dask that of the largest worker.
"""

import argparse
import json
import os
import resource
import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np

DIMENSIONS, INTRINSIC = 32, 8
K = 10
QUERIES = 2_000
BLOCK = 65_536


def make_points(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """Points of that kind, n of them."""
    if kind == "touching":
        centres = rng.normal(scale=1.8, size=(30, INTRINSIC)).astype(np.float32)
        straight = np.linalg.qr(rng.normal(size=(DIMENSIONS, INTRINSIC)))[0].T.astype(np.float32)
        bent = (rng.normal(size=(INTRINSIC, DIMENSIONS)) / INTRINSIC).astype(np.float32)
        place = centres[rng.integers(30, size=n)]
        place += rng.standard_normal((n, INTRINSIC), dtype=np.float32)
        X = place @ straight + 0.3 * np.sin(place @ bent)
        X += 0.05 * rng.standard_normal(X.shape, dtype=np.float32)
        return X
    scale = {"apart": 2.0, "filling": 0.7}[kind]
    centres = rng.normal(scale=scale, size=(1_000, DIMENSIONS)).astype(np.float32)
    X = rng.standard_normal((n, DIMENSIONS), dtype=np.float32)
    X += centres[rng.integers(1_000, size=n)]
    return X


def points(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    np.save(folder / "X.npy", make_points(arguments.data, arguments.n, np.random.default_rng(0)))
    return {"n": arguments.n, "data": arguments.data}


def truth(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    X = np.load(folder / "X.npy", mmap_mode="r")
    rows = np.sort(np.random.default_rng(1).choice(len(X), QUERIES, replace=False))
    queries = X[rows].astype(np.float64)
    squares = np.einsum("md,md->m", queries, queries)
    best = np.full((QUERIES, K + 1), np.inf)
    for start in range(0, len(X), BLOCK):
        block = X[start : start + BLOCK].astype(np.float64)
        distances = squares[:, None] + np.einsum("nd,nd->n", block, block) - 2 * queries @ block.T
        np.clip(distances, 0, None, out=distances)
        near = np.partition(distances, min(K, len(block) - 1), axis=1)[:, : K + 1]
        best = np.sort(np.concatenate([best, near], axis=1), axis=1)[:, : K + 1]
    np.savez(folder / "truth.npz", rows=rows, kth=np.sqrt(best[:, K]))
    return {}


def recall_of(folder: Path, lists: list[np.ndarray]) -> float:
    """Share of the true neighbours among the distances found."""
    with np.load(folder / "truth.npz") as file:
        kth = file["kth"] * (1 + 1e-6)  # expanded squares lose some digits
    hits = [min(K, int((one <= far).sum())) for one, far in zip(lists, kth, strict=True)]
    return sum(hits) / (K * len(hits))


def one(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    import poise

    X = np.load(folder / "X.npy", mmap_mode="r")
    begun, used = time.monotonic(), time.process_time()
    graph = poise.knn_graph(X, K, keep_neighbours=True)
    seconds, cpu = time.monotonic() - begun, time.process_time() - used
    assert graph.neighbours is not None
    rows = np.load(folder / "truth.npz")["rows"]
    return {
        "seconds": seconds,
        "cpu": cpu,
        "memory": peak(),
        "recall": recall_of(folder, list(graph.neighbours.distances[rows])),
        "components": graph.n_components,
    }


def dask(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    from poise.distributed import neighbour_graph
    from poise.distributed.cluster import local_client
    from poise.distributed.recall import lists_of
    from poise.distributed.shards import read_rows

    place = folder / "graph"
    if place.exists() and not arguments.resume:
        shutil.rmtree(place)
    stages: dict[str, float] = {}

    def progress(stage: str, done: int, total: int) -> None:
        stages[stage] = time.monotonic() - begun
        if done == total:
            print(f"{stages[stage]:7.1f} s  {stage}", flush=True)

    with local_client(arguments.workers) as client:
        begun = time.monotonic()
        manifest = neighbour_graph(
            folder / "X.npy", place, K, client=client, cells=arguments.cells,
            reach=arguments.reach, backend=arguments.backend, keep_work=True, progress=progress,
        )  # fmt: skip
        seconds = time.monotonic() - begun
        used = client.run(usage)
    rows = np.load(folder / "truth.npz")["rows"]
    nodes = read_rows(place, 0, manifest.n_nodes, check=False).nodes
    numbered = np.empty_like(nodes)
    numbered[nodes] = np.arange(nodes.size)
    lists = lists_of(place, numbered[rows])
    disk = sum(file.stat().st_size for file in place.rglob("*") if file.is_file())
    kept = sum(file.stat().st_size for file in place.glob("part-*/*"))
    return {
        "seconds": seconds,
        "cpu": sum(worker[1] for worker in used.values()),
        "memory": max(worker[0] for worker in used.values()),
        "recall": recall_of(folder, lists),
        "components": manifest.report["n_components"],
        "disk": disk,
        "graph": kept,
        "stages": stages,
        "workers": arguments.workers,
        **{
            name: manifest.report[name]
            for name in ("reach", "covered", "visits_per_point", "cells", "hubs", "neighbours")
        },
        "own_check": manifest.report["recall"],
    }


def cells(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Nanoseconds of one thread to compare a point with one centre, in the two stages that do."""
    from threadpoolctl import threadpool_limits

    from poise.distributed.bisectors import cells_to_visit
    from poise.distributed.centres import home_cells

    X = np.load(folder / "X.npy", mmap_mode="r")[:50_000]
    centres = np.load(folder / "X.npy", mmap_mode="r")[-2_000:].astype(np.float64)
    pairs = len(X) * len(centres)
    with threadpool_limits(1):
        begun = time.process_time()
        home_cells(X, centres)
        assigned = time.process_time()
        cells_to_visit(X, 0, centres, np.full(len(X), 1.0), arguments.reach - 1)
        ended = time.process_time()
    return {"assign": 1e9 * (assigned - begun) / pairs, "bound": 1e9 * (ended - assigned) / pairs}


def peak() -> int:
    """Largest resident size of this process in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def usage() -> tuple[int, float]:
    """Of a worker: largest resident size in bytes, seconds of processor time."""
    return peak(), time.process_time()


def table(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    print("| | seconds | CPU s | recall | largest process, MB | components | load |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for path in sorted(folder.glob("result-*.json")):
        result = json.loads(path.read_text())
        if "recall" in result:
            print(
                f"| {path.stem.removeprefix('result-')} | {result['seconds']:.0f} | "
                f"{result['cpu']:.0f} | {result['recall']:.4f} | {result['memory'] / 1e6:.0f} | "
                f"{result['components']} | {result['load']:.1f} |"
            )
    return {}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = {f.__name__: f for f in (points, truth, one, dask, cells, table)}
    parser.add_argument("part", choices=parts)
    parser.add_argument("--folder", type=Path, default=Path("out/dask"))
    parser.add_argument("--data", choices=("touching", "apart", "filling"), default="touching")
    parser.add_argument("-n", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--cells", type=int)
    parser.add_argument("--reach", type=int, default=4)
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--resume", action="store_true", help="keep what an earlier run finished")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    load = os.getloadavg()[0]
    result = parts[arguments.part](arguments.folder, arguments)
    if result:
        name = arguments.part
        if name == "dask":
            name = f"dask-{arguments.workers}-cells-{arguments.cells}-reach-{arguments.reach}"
        text = json.dumps(result | {"load": load}, indent=1)
        (arguments.folder / f"result-{name}.json").write_text(text + "\n")
        print(text)


if __name__ == "__main__":
    main()
