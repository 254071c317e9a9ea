"""A learner at one rank, without MPI and PETSc: the same code over SciPy's products."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import poise
from poise.distributed.app.lines import numbered_items
from poise.distributed.app.project import OpenAtRanks, open_project
from poise.distributed.learner import DistributedLearner
from poise.distributed.partition import Partition
from poise.distributed.replica import Replica


class Alone:
    """A single rank."""

    rank, size, timeout = 0, 1, 600.0

    def __init__(self) -> None:
        self.watchdog = SimpleNamespace(
            **dict.fromkeys(("beat", "doing", "safe", "serving"), lambda *_: None)
        )

    def total(self, values: Any) -> Any:
        return np.asarray(values)

    least = largest = union = joined = at_first = total

    def from_first(self, data: bytes) -> bytes:
        return data

    def agree(self, error: BaseException | None) -> None:
        if error is not None:
            raise error


class Product:
    """``W x``, as `poise.distributed.product.Product`."""

    def __init__(self, W: Any) -> None:
        self.W = W
        self.kept: dict[int, Any] = {}

    def buffers(self, n_columns: int) -> Any:
        return self.kept.setdefault(n_columns, np.zeros((2, n_columns, self.W.shape[0])))

    def run(self, n_columns: int) -> None:
        operand, result = self.kept[n_columns]
        result[:] = (self.W @ operand.T).T

    def __call__(self, columns: Any) -> Any:
        return self.W @ columns


def partition(graph: poise.Graph) -> Partition:
    """All rows of a graph at one rank, in an order of their own."""
    nodes = np.random.default_rng(1).permutation(graph.n_nodes)
    W = graph.weights[nodes][:, nodes].tocsr()
    ranks: Any = Alone()
    manifest: Any = SimpleNamespace(n_nodes=graph.n_nodes, fingerprint=graph.fingerprint)
    return Partition(
        ranks=ranks,
        manifest=manifest,
        first=0,
        nodes=nodes,
        degrees=np.asarray(W.sum(axis=1)).ravel(),
        components=graph.components[nodes],
        component_sizes=graph.component_sizes,
        product=Product(W),  # type: ignore[arg-type]
        n_fetched=0,
        need=None,  # type: ignore[arg-type]
    )


def learner_alone(graph: poise.Graph, **settings: Any) -> DistributedLearner:
    """A learner at this one rank."""
    return DistributedLearner(Replica(partition(graph), **settings))


def opened_alone(graph: poise.Graph, folder: Path, items: Path | None = None) -> OpenAtRanks:
    """The app's project at this one rank."""
    learner = learner_alone(graph)
    return open_project(folder, numbered_items("small", items, graph.n_nodes), learner, "auto")
