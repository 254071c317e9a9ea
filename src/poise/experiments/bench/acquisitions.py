"""The cost of every acquisition function at 70,000 points, each in its own process."""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from poise.active.acquisition.registry import acquisitions
from poise.active.learner import Learner
from poise.errors import PoiseError
from poise.experiments.bench.data import load, one_per_class
from poise.experiments.bench.memory import megabytes
from poise.graph import Graph, knn_graph
from poise.progress import Progress

QUERIES = 5


@dataclass(frozen=True)
class Cost:
    """The cost of one acquisition function.

    Attributes
    ----------
    set_up : seconds before the first question, without the set-up of the graph
    query : median seconds per question: choosing and answering, without predictions
    peak : peak memory of the whole process in MB, including graph and imports
    """

    name: str
    set_up: float
    query: float
    peak: float

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def costs(names: tuple[str, ...], progress: Progress) -> Iterator[Cost]:
    """Costs on mnist_vae (70,000 points, 20 neighbours) of the named acquisition functions."""
    X, y = load("mnist_vae")
    names = names or tuple(acquisitions)
    for name in names:
        acquisitions.factory(name)  # refuses an unknown name before anything is measured
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.npz"
        knn_graph(X, k=20).save(path)
        np.save(Path(folder) / "codes.npy", y % 3)
        for done, name in enumerate(names, start=1):
            command = [sys.executable, "-m", __name__, name, folder]
            outcome = subprocess.run(command, capture_output=True, text=True, check=False)
            if outcome.returncode:
                reason = outcome.stderr.strip().splitlines()
                raise PoiseError(f"measuring {name} failed: {reason[-1] if reason else 'killed'}")
            yield Cost(**json.loads(outcome.stdout))
            progress(done, len(names))


def measure(name: str, folder: Path) -> Cost:
    """The cost of one acquisition function; runs in its own process."""
    graph = Graph.load(folder / "graph.npz")
    codes = np.load(folder / "codes.npy")
    nodes = one_per_class(codes, np.random.default_rng(0))
    labels = {int(node): int(codes[node]) for node in nodes}
    # Compilation and set-up at the very first solve belong to the graph.
    Learner(graph, labels, acquisition="norm", anticipate=False).ask()
    learner = Learner(graph, labels, acquisition=name, anticipate=False)
    before = time.perf_counter()
    _ = learner.snapshot().memory
    set_up = time.perf_counter() - before
    seconds = []
    for _ in range(QUERIES):
        before = time.perf_counter()
        node = int(learner.ask()[0])
        learner.tell(node, int(codes[node]))
        seconds.append(time.perf_counter() - before)
    return Cost(name, set_up, float(np.median(seconds)), megabytes("VmHWM"))


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure(sys.argv[1], Path(sys.argv[2])).to_dict()))
