"""Time and memory as the number of points grows, each size in a process of its own."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator

import numpy as np

from poise.errors import PoiseError
from poise.experiments.bench.row import Row

SIZES = (5_000, 10_000, 20_000, 40_000, 70_000)

# Runs in a fresh process: memory is counted from the state after `import poise` and loading X.
CHILD = """
import json, sys, time
import poise
from poise.experiments.bench.data import load
from poise.experiments.bench.memory import megabytes, reset_peak

n = int(sys.argv[1])
X, y = load("mnist_vae")
X, y = X[:n].copy(), y[:n] % 3
reset_peak()
start = megabytes("VmRSS")
before = time.perf_counter()
graph = poise.knn_graph(X, k=20)
built = time.perf_counter()
first = {int((y == c).argmax()): int(c) for c in range(3)}
learner = poise.Learner(graph, first, acquisition="norm", predict_tau=None)
learner.prepare()
seconds = []
for _ in range(10):
    then = time.perf_counter()
    (i,) = learner.ask()
    learner.tell(i, int(y[i]))
    learner.predictions
    seconds.append(time.perf_counter() - then)
print(json.dumps({
    "n": n,
    "nnz": int(graph.weights.nnz),
    "graph": built - before,
    "query": sorted(seconds)[len(seconds) // 2],
    "megabytes": megabytes("VmHWM") - start,
}))
"""


def scaling(report: Callable[[int, int], None]) -> Iterator[Row]:
    """Peak memory and growth of time and memory on mnist_vae, 5,000 to 70,000 points, k = 20."""
    measured = []
    for done, n in enumerate(SIZES, start=1):
        child = subprocess.run(
            [sys.executable, "-c", CHILD, str(n)], capture_output=True, text=True, check=False
        )
        if child.returncode:
            raise PoiseError(f"the run with {n} points failed: {child.stderr.strip()[-300:]}")
        measured.append(json.loads(child.stdout))
        report(done, len(SIZES))
    for size in measured:
        yield Row(f"{size['n']:,} points: graph, seconds", size["graph"])
        yield Row(f"{size['n']:,} points: query, seconds", size["query"])
        last = size["n"] == SIZES[-1]
        yield Row(
            f"{size['n']:,} points: peak memory, MB",
            size["megabytes"],
            goal=600 if last else None,
            at_most=True,
        )
    points = np.array([size["n"] for size in measured], dtype=float)
    entries = np.array([size["nnz"] for size in measured], dtype=float)
    bound = points * np.log(points) + entries
    for name in ("graph", "query", "megabytes"):
        cost = np.array([size[name] for size in measured])
        exponent = float(np.polyfit(np.log(bound), np.log(cost), 1)[0])
        yield Row(f"{name}: exponent against n log n + nnz", exponent, goal=1.15, at_most=True)
