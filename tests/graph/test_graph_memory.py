"""Peak memory of building a graph of 70,000 points."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
from pathlib import Path
import numpy as np
from poise.graph import knn_graph

def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024

rng = np.random.default_rng(0)
X = rng.normal(size=(70_000, 20)).astype(np.float32) + 4 * rng.integers(5, size=(70_000, 1))
X = X.astype(np.float32)
knn_graph(X[:6_000], 20, backend=sys.argv[1])  # imports are not part of the price
Path("/proc/self/clear_refs").write_text("5")
before = peak()
graph = knn_graph(X, 20, backend=sys.argv[1])
graph.report(), graph.fingerprint, graph.laplacian()
print(peak() - before)
"""


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["exact", "faiss-ivf"])
def test_a_graph_of_70_000_points_takes_little_memory(backend):
    """600 MB is the budget of the whole engine: the graph must leave most of it."""
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("peak memory is read from /proc, which only Linux has")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, backend], capture_output=True, text=True, check=True
    )
    assert float(done.stdout) < 350
