"""Neighbour searches: recall, time, memory and repeatability of the candidates.

    POISE_DATA=folder python benchmarks/neighbours.py                       # everything
    POISE_DATA=folder python benchmarks/neighbours.py --data mnist_vae --only poise faiss-ivf
    python benchmarks/neighbours.py --dimensions                            # where a k-d tree wins
    POISE_DATA=folder OMP_NUM_THREADS=1 python benchmarks/neighbours.py --growth  # by size

Every candidate runs in its own process. Printed are: recall at k (share of the true k nearest
neighbours found, checked by float64 brute force on 2,000 sampled points); wall and processor
seconds (the faster of two runs on the smaller data sets); seconds of a first search of 2,000 points
(imports, compilation); peak memory above the state before the search; and whether two runs with the
same seed gave the same lists. A candidate is skipped if its library is not installed. The tables
are in docs/decisions/neighbour-search.md.
"""

import argparse
import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

K = 20
SAMPLED = 2_000
DATASETS = ("isolet", "mnist_vae", "mnist", "synthetic")
REPEATED = ("isolet", "mnist_vae")
WARM_UP = 2_000
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
SLOW = {  # minutes, not seconds: left out unless named by --only
    ("mnist", "scikit-learn"),
    ("mnist", "kd-tree"),
    ("mnist", "faiss-nndescent"),
    ("mnist", "hnswlib"),
    ("mnist", "usearch"),
    ("mnist", "poise-exact"),
    ("isolet", "kd-tree"),
    ("mnist_vae", "kd-tree"),
    ("synthetic", "scikit-learn"),
    ("synthetic", "faiss-flat"),
    ("synthetic", "faiss-ivf"),
    ("synthetic", "faiss-hnsw"),
    ("synthetic", "faiss-nndescent"),
    ("synthetic", "hnswlib"),
    ("synthetic", "usearch"),
    ("synthetic", "kd-tree"),
    ("synthetic", "poise-exact"),
}


def load(name: str) -> np.ndarray:
    """The data set `name` as a float32 matrix."""
    if name == "synthetic":  # 1,000,000 x 32, 1,000 clusters
        rng = np.random.default_rng(0)
        centres = rng.normal(scale=2.0, size=(1_000, 32)).astype(np.float32)
        X = rng.standard_normal(size=(1_000_000, 32), dtype=np.float32)
        X += centres[rng.integers(1_000, size=1_000_000)]
        return X
    with np.load(Path(os.environ["POISE_DATA"]) / f"{name}.npz") as file:
        X = file["X"]
    return np.ascontiguousarray(X.reshape(len(X), -1), dtype=np.float32)


def scikit_learn(X: np.ndarray, seed: int) -> np.ndarray:
    from sklearn.neighbors import NearestNeighbors

    found = NearestNeighbors(n_neighbors=K + 1, algorithm="brute").fit(X)
    return found.kneighbors(X, return_distance=False)


def kd_tree(X: np.ndarray, seed: int) -> np.ndarray:
    from scipy.spatial import cKDTree

    return cKDTree(X).query(X, k=K + 1, workers=-1)[1]


def faiss_flat(X: np.ndarray, seed: int) -> np.ndarray:
    import faiss

    index = faiss.IndexFlatL2(X.shape[1])
    index.add(X)
    return index.search(X, K + 1)[1]


def faiss_ivf(X: np.ndarray, seed: int) -> np.ndarray:
    import faiss

    lists = int(4 * np.sqrt(len(X)))
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(X.shape[1]), X.shape[1], lists)
    index.own_fields = False
    index.cp.seed, index.cp.niter = seed + 1, 10
    index.train(X)
    index.add(X)
    index.nprobe = 32
    return index.search(X, K + 1)[1]


def faiss_hnsw(X: np.ndarray, seed: int) -> np.ndarray:
    import faiss

    index = faiss.IndexHNSWFlat(X.shape[1], 16)
    index.hnsw.efConstruction = 100
    index.hnsw.efSearch = 64
    index.add(X)
    return index.search(X, K + 1)[1]


def faiss_nndescent(X: np.ndarray, seed: int) -> np.ndarray:
    import faiss

    index = faiss.IndexNNDescentFlat(X.shape[1], 64)
    index.nndescent.random_seed = seed
    index.add(X)
    graph = faiss.vector_to_array(index.nndescent.final_graph).reshape(len(X), -1)
    return graph[:, : K + 1]


def hnswlib_(X: np.ndarray, seed: int) -> np.ndarray:
    import hnswlib

    index = hnswlib.Index(space="l2", dim=X.shape[1])
    index.init_index(len(X), ef_construction=100, M=16, random_seed=seed)
    index.add_items(X)
    index.set_ef(64)
    return index.knn_query(X, k=K + 1)[0].astype(np.int64)


def usearch_(X: np.ndarray, seed: int) -> np.ndarray:
    from usearch.index import Index

    index = Index(ndim=X.shape[1], metric="l2sq", dtype="f32", connectivity=16, expansion_add=100)
    index.expansion_search = 64
    index.add(np.arange(len(X)), X)
    return index.search(X, K + 1).keys.astype(np.int64)


def pynndescent_(X: np.ndarray, seed: int) -> np.ndarray:
    from pynndescent import NNDescent

    return NNDescent(X, n_neighbors=K + 1, random_state=seed).neighbor_graph[0]


def poise_(X: np.ndarray, seed: int) -> np.ndarray:
    from poise.graph.search import nearest_neighbours

    return nearest_neighbours(X, K, seed=seed).indices


def poise_exact(X: np.ndarray, seed: int) -> np.ndarray:
    from poise.graph.search import nearest_neighbours

    return nearest_neighbours(X, K, backend="exact", seed=seed).indices


CANDIDATES: dict[str, tuple[str, Callable[[np.ndarray, int], np.ndarray]]] = {
    "scikit-learn": ("scikit-learn", scikit_learn),
    "kd-tree": ("scipy", kd_tree),
    "faiss-flat": ("faiss-cpu", faiss_flat),
    "faiss-ivf": ("faiss-cpu", faiss_ivf),
    "faiss-hnsw": ("faiss-cpu", faiss_hnsw),
    "faiss-nndescent": ("faiss-cpu", faiss_nndescent),
    "hnswlib": ("hnswlib", hnswlib_),
    "usearch": ("usearch", usearch_),
    "pynndescent": ("pynndescent", pynndescent_),
    "poise": ("poise", poise_),
    "poise-exact": ("poise", poise_exact),
}


def truth(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sampled rows and the true squared distance of each to its k-th neighbour, in float64."""
    from sklearn.neighbors import NearestNeighbors

    rows = np.sort(np.random.default_rng(1).choice(len(X), min(SAMPLED, len(X)), replace=False))
    centred = X - X.mean(axis=0, dtype=np.float64)
    found = NearestNeighbors(n_neighbors=K + 5, algorithm="brute").fit(centred)
    near = found.kneighbors(centred[rows], return_distance=False)
    squares = ((centred[near] - centred[rows][:, None]) ** 2).sum(axis=2)
    squares[near == rows[:, None]] = np.inf
    return rows, np.sort(squares, axis=1)[:, K - 1]


def recall(X: np.ndarray, found: np.ndarray, rows: np.ndarray, kth: np.ndarray) -> float:
    """Share of the k slots of each sampled row filled by a point no farther than the true k-th."""
    hits = 0
    for row, limit in zip(rows, kth, strict=True):
        ids = found[row]
        ids = np.unique(ids[(ids >= 0) & (ids != row)])
        squares = ((X[ids].astype(np.float64) - X[row].astype(np.float64)) ** 2).sum(axis=1)
        hits += min(K, int(np.count_nonzero(squares <= limit * (1 + 1e-9))))
    return hits / (K * rows.size)


def peak_memory(reset: bool = False) -> float:
    """Largest resident size since the last reset, in MB (Linux only, else NaN)."""
    try:
        if reset:
            Path("/proc/self/clear_refs").write_text("5")
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return float("nan")


def run_one(dataset: str, name: str, truth_file: str) -> None:
    """Measure one candidate on one data set; print a line of JSON."""
    X = load(dataset)
    function = CANDIDATES[name][1]
    start = time.perf_counter()
    function(X[:WARM_UP], 0)  # imports and compilation are paid once per process
    first = time.perf_counter() - start
    base = peak_memory(reset=True)
    runs = []
    for _ in range(2 if dataset in REPEATED else 1):
        wall, busy = time.perf_counter(), time.process_time()
        found = np.asarray(function(X, 0))
        runs.append((time.perf_counter() - wall, time.process_time() - busy, found))
        if len(runs) == 1:
            peak = peak_memory() - base
    with np.load(truth_file) as file:
        share = recall(X, runs[0][2], file["rows"], file["kth"])
    same = "-" if len(runs) == 1 else "yes" if np.array_equal(runs[0][2], runs[1][2]) else "no"
    row = {
        "recall": share,
        "wall": min(run[0] for run in runs),
        "busy": min(run[1] for run in runs),
        "first": first,
        "peak": peak,
        "same": same,
    }
    print(json.dumps(row))


def compare_dimensions() -> None:
    """CPU seconds of the k-d tree and of comparing all pairs, by dimension: 50,000 points."""
    print(f"{'dimensions':<12}{'kd-tree':>10}{'faiss-flat':>12}   CPU seconds, 50,000 points")
    rng = np.random.default_rng(0)
    for d in (2, 4, 6, 8, 10, 12, 16):
        centres = 3 * rng.normal(size=(20, d))
        X = (rng.normal(size=(50_000, d)) + centres[rng.integers(20, size=50_000)]).astype(
            np.float32
        )
        seconds = []
        for function in (kd_tree, faiss_flat):
            start = time.process_time()
            function(X, 0)
            seconds.append(time.process_time() - start)
        print(f"{d:<12}{seconds[0]:>10.2f}{seconds[1]:>12.2f}", flush=True)


def measure_growth() -> None:
    """CPU seconds of building the whole graph from 5,000 to 70,000 points of mnist_vae."""
    from poise.graph import knn_graph

    X = load("mnist_vae")
    X = X[np.random.default_rng(0).permutation(len(X))]
    sizes = (5_000, 10_000, 20_000, 35_000, 70_000)
    print(f"{'backend':<12}" + "".join(f"{n:>9,}" for n in sizes) + "   fitted power of n")
    for backend in ("auto", "faiss-ivf", "exact"):
        knn_graph(X[:6_000], K, backend=backend)
        seconds = []
        for n in sizes:
            start = time.process_time()
            knn_graph(X[:n], K, backend=backend)
            seconds.append(time.process_time() - start)
        power = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
        print(f"{backend:<12}" + "".join(f"{s:>9.2f}" for s in seconds) + f"   {power:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", nargs="+", choices=DATASETS, default=DATASETS)
    parser.add_argument("--only", nargs="+", choices=CANDIDATES)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--dimensions", action="store_true", help="k-d tree against all pairs")
    parser.add_argument("--growth", action="store_true", help="time against number of points")
    arguments = parser.parse_args()
    if arguments.growth:
        measure_growth()
        return
    if arguments.dimensions:
        compare_dimensions()
        return
    if arguments.one:
        run_one(*arguments.one)
        return
    for dataset in arguments.data:
        if dataset != "synthetic" and "POISE_DATA" not in os.environ:
            print(f"{dataset}: skipped, set POISE_DATA to the folder that holds {dataset}.npz")
            continue
        X = load(dataset)
        rows, kth = truth(X)
        truth_file = Path(tempfile.gettempdir()) / f"truth-{os.getpid()}.npz"
        np.savez(truth_file, rows=rows, kth=kth)
        print(
            f"\n{dataset}: {X.shape[0]:,} x {X.shape[1]}, k = {K}, "
            f"{arguments.threads} thread(s), load {os.getloadavg()[0]:.1f}"
        )
        print(
            f"{'candidate':<26}{'recall':>8}{'seconds':>10}{'CPU s':>10}{'first s':>10}"
            f"{'peak MB':>10}  repeatable"
        )
        del X
        for name, (package, _) in CANDIDATES.items():
            if arguments.only and name not in arguments.only:
                continue
            if not arguments.only and (dataset, name) in SLOW:
                continue
            try:
                version = importlib.metadata.version(package)
            except importlib.metadata.PackageNotFoundError:
                if package != "poise":
                    print(f"{name:<26}skipped: {package} is not installed")
                    continue
                version = ""
            command = [sys.executable, __file__, "--one", dataset, name, str(truth_file)]
            environment = os.environ | dict.fromkeys(THREADS, str(arguments.threads))
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, env=environment
            )
            if done.returncode:
                print(f"{name:<26}failed: {done.stderr.strip().splitlines()[-1]}")
                continue
            row = json.loads(done.stdout.splitlines()[-1])
            title = name if name == package else f"{name} {version}"
            print(
                f"{title:<26}{row['recall']:>8.4f}{row['wall']:>10.2f}{row['busy']:>10.2f}"
                f"{row['first']:>10.2f}{row['peak']:>10.0f}  {row['same']}",
                flush=True,
            )
        truth_file.unlink()


if __name__ == "__main__":
    main()
