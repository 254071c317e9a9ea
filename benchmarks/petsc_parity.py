"""Two ranks and one process on mnist_imb_vae: whether questions agree, how far scores differ.

    POISE_DATA=folder python benchmarks/petsc_parity.py local FOLDER      # writes the graph there
    mpiexec -n 2 python benchmarks/petsc_parity.py ranks FOLDER [ACQUISITION ...]
    python benchmarks/petsc_parity.py compare FOLDER

For docs/decisions/distributed-solves.md. Labels at the start: one per class, seed 0.
"""

import argparse
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

import poise
from poise.active.simulate import initial_nodes
from poise.distributed.learner import DistributedLearner, run
from poise.distributed.shards import from_graph
from poise.linalg import simultaneous

BUDGET = 30
SETTINGS = {"norm": {"tau": 1e-3}, "margin": {"tau": 0.0}, "coverage": {}, "auto": {}}


def session(learner: Any, y: "np.ndarray[Any, Any]") -> dict[str, Any]:
    """Questions, scores at the end, and seconds of each question."""
    queries, seconds = [], []
    for _ in range(BUDGET):
        begin = time.perf_counter()
        (node,) = learner.ask().tolist()
        seconds.append(time.perf_counter() - begin)
        learner.tell(node, int(y[node]))
        queries.append(node)
    return {"queries": queries, "scores": learner.scores, "seconds": seconds}


def labels_of(y: "np.ndarray[Any, Any]") -> dict[int, int]:
    return {int(i): int(y[i]) for i in initial_nodes("one-per-class", y, 0)}


def local(folder: Path, *_: str) -> None:
    archive = np.load(Path(os.environ["POISE_DATA"]) / "mnist_imb_vae.npz")
    y = archive["y"].astype(np.int64)
    # From its weights: at several ranks no features are looked at.
    graph = poise.Graph.from_weights(poise.knn_graph(archive["X"], k=20).weights)
    from_graph(graph, folder / "graph", shards=2)
    np.save(folder / "y.npy", y)
    for name, settings in SETTINGS.items():
        learner = poise.Learner(graph, labels_of(y), acquisition=name, **settings)
        np.savez(folder / f"local-{name}.npz", **session(learner, y))
    # The same with tighter solves, for the same constrained nodes: how exact one process is.
    simultaneous.RTOL = 1e-11
    for name, settings in SETTINGS.items():
        learner = poise.Learner(graph, labels_of(y), acquisition=name, **settings)
        queries = np.load(folder / f"local-{name}.npz")["queries"].tolist()
        for node in queries:
            learner.tell(node, int(y[node]))
        np.savez(folder / f"exact-{name}.npz", scores=learner.scores)


def ranks(folder: Path, *names: str) -> None:
    y = np.load(folder / "y.npy")
    for name in names or SETTINGS:

        def main(learner: DistributedLearner) -> dict[str, Any]:
            return session(learner, y)

        found = run(main, folder / "graph", acquisition=name, labels=labels_of(y), **SETTINGS[name])
        if found is not None:
            np.savez(folder / f"ranks-{name}.npz", **found)


def compare(folder: Path, *_: str) -> None:
    for name in SETTINGS:
        here, there, exact = (
            np.load(folder / f"{which}-{name}.npz") for which in ("local", "ranks", "exact")
        )
        same = int((here["queries"] == there["queries"]).sum())
        apart = np.abs(here["scores"] - there["scores"]).max()
        error, error_here = (np.abs(f["scores"] - exact["scores"]).max() for f in (there, here))
        print(
            f"{name:9} {same} of {BUDGET} questions the same; largest difference of scores "
            f"{apart:.1e}; from exact ones {error:.1e} at the ranks, {error_here:.1e} in one "
            f"process; median s {np.median(there['seconds']):.3f} and "
            f"{np.median(here['seconds']):.3f}"
        )


def main() -> None:
    parts = {"local": local, "ranks": ranks, "compare": compare}
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=parts)
    parser.add_argument("folder", type=Path)
    parser.add_argument("acquisitions", nargs="*", metavar="ACQUISITION")
    options = parser.parse_args()
    parts[options.part](options.folder, *options.acquisitions)


if __name__ == "__main__":
    main()
