"""The process that measures poise: neighbour search and graph, set-up, questions."""

import sys
import time
from pathlib import Path

import numpy as np

from poise.active.learner import Learner
from poise.active.warm_up import warm_up
from poise.experiments.bench.data import one_per_class
from poise.experiments.bench.memory import megabytes, reset_peak
from poise.experiments.bench.scale.child import Figures, answer_steps
from poise.graph import Graph, knn_graph
from poise.graph.storage import write_graph
from poise.linalg.simultaneous import is_stiff
from poise.models.components import laplacian


class Ours:
    """One data set: points mapped from their file, their graph, and a learner per acquisition."""

    def __init__(self, points: Path, classes: Path, graph: Path, k: int) -> None:
        self.X, self.y = np.load(points, mmap_mode="r"), np.load(classes)
        self.path, self.k = graph, k
        self.graph: Graph | None = None
        self.learners: dict[str, Learner] = {}
        self._peak = 0.0

    def do(self, step: str) -> Figures:
        """Do a step: the name of a method, then its arguments."""
        name, *arguments = step.split()
        reset_peak()
        figures: Figures = getattr(self, name)(*arguments)
        self._peak = max(self._peak, megabytes("VmHWM"))
        return figures | {"peak": megabytes("VmHWM"), "whole_peak": self._peak}

    def search(self) -> Figures:
        """Search for neighbours and build the graph, which is kept in a file."""
        moments, busy = [time.perf_counter()], [time.process_time()]
        searched = [0.0]

        def progress(done: int, total: int) -> None:
            if done == total:
                moments.append(time.perf_counter())
                busy.append(time.process_time())
                searched.append(megabytes("VmHWM"))

        self.graph = knn_graph(self.X, self.k, keep_neighbours=True, progress=progress)
        moments.append(time.perf_counter())
        graph, lists = self.graph, self.graph.neighbours
        write_graph(
            self.path,
            graph.fingerprint,
            graph.weights,
            None,  # the points have their own file
            lists,
            graph.construction,
            graph.spacing,
            graph.components,
        )
        return self._size() | {
            "search": moments[1] - moments[0],
            "search_busy": busy[1] - busy[0],
            "search_peak": searched[1],
            "weights": moments[-1] - moments[1],
        }

    def load(self) -> Figures:
        """Load the graph of an earlier run."""
        began = time.perf_counter()
        self.graph = Graph.load(self.path, features=self.X)
        return {"load": time.perf_counter() - began} | self._size()

    def _size(self) -> Figures:
        graph = self._graph
        return {
            "entries": int(graph.weights.nnz),
            "components": graph.n_components,
        }

    @property
    def _graph(self) -> Graph:
        assert self.graph is not None, "search or load comes first"
        return self.graph

    def set_up(self, *acquisitions: str) -> Figures:
        """Prepare what is prepared once per graph: the solver, the memory of acquisitions."""
        warm_up()  # compilation belongs to the installation
        _ = self._graph.degrees, self._graph.components
        first = one_per_class(self.y, np.random.default_rng(0))
        labels = {int(node): int(self.y[node]) for node in first}
        began = time.perf_counter()
        is_stiff(laplacian(self._graph))  # found once per graph, by trying
        for name in acquisitions:
            learner = Learner(self._graph, labels, acquisition=name, predict_tau=None)
            _ = learner.snapshot().memory
            self.learners[name] = learner
        return {"seconds": time.perf_counter() - began}

    def question(self, acquisition: str) -> Figures:
        """One question: choose, answer, predict in the model that chooses."""
        learner = self.learners[acquisition]
        moments = [time.perf_counter()]
        node = int(learner.ask()[0])
        moments.append(time.perf_counter())
        learner.tell(node, int(self.y[node]))
        predictions = learner.predictions
        moments.append(time.perf_counter())
        return {
            "node": node,
            "seconds": moments[-1] - moments[0],
            "ask": moments[1] - moments[0],
            "right": float(np.mean(predictions == self.y)),
        }


if __name__ == "__main__":
    points, classes, graph, k = sys.argv[1:]
    answer_steps(Ours(Path(points), Path(classes), Path(graph), int(k)).do)
