"""The process that measures graphlearning: its search, and its refit per question on our graph."""

import sys
import time
from pathlib import Path

import numpy as np

from poise.active.schedules import Constant
from poise.experiments.bench.data import one_per_class
from poise.experiments.bench.memory import megabytes, reset_peak
from poise.experiments.bench.peer import Peer, graphlearning
from poise.experiments.bench.scale.child import Figures, answer_steps
from poise.graph import Graph

TAU = 1e-3


class Theirs:
    """graphlearning on one data set."""

    def __init__(self, points: Path, classes: Path, graph: Path, k: int) -> None:
        self.points, self.y = points, np.load(classes)
        self.path, self.k = graph, k
        self.peer: Peer | None = None

    def do(self, step: str) -> Figures:
        """Do a step, the name of a method."""
        reset_peak()
        figures: Figures = getattr(self, step)()
        return figures | {"peak": megabytes("VmHWM")}

    def search(self) -> Figures:
        """Its neighbour search (annoy), as ``weightmatrix.knn`` calls it."""
        gl, X = graphlearning(), np.load(self.points)
        began, busy = time.perf_counter(), time.process_time()
        indices, _ = gl.weightmatrix.knnsearch(X, self.k + 1, similarity="euclidean")
        figures = {"seconds": time.perf_counter() - began, "busy": time.process_time() - busy}
        np.save(self.path.with_suffix(".theirs.npy"), indices.astype(np.int32))
        return figures

    def question(self) -> Figures:
        """One question: choose, answer, refit, predict."""
        began = time.perf_counter()
        if self.peer is None:
            first = one_per_class(self.y, np.random.default_rng(0))
            graph = Graph.load(self.path)
            began = time.perf_counter()
            self.peer = Peer(graph, first, self.y, Constant(TAU))
        node = self.peer.query()
        return {"node": node, "seconds": time.perf_counter() - began}


if __name__ == "__main__":
    points, classes, graph, k = sys.argv[1:]
    answer_steps(Theirs(Path(points), Path(classes), Path(graph), int(k)).do)
