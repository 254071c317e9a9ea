"""Units of an experiment, which are methods with their seeds, and the processes that run them."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from poise import Dataset, Graph, simulate_many
from poise.active.acquisition import traits_of
from poise.errors import PoiseError
from poise.experiments.experiment import CHOOSING, Experiment, Method
from poise.experiments.records import Row, rows_of
from poise.machine import cores
from poise.own_files import load_files, loaded_files

#: Least time between two messages about progress.
PROGRESS_INTERVAL_SECONDS = 0.2


@dataclass(frozen=True)
class Unit:
    """The work that a worker does at once."""

    experiment: Experiment
    method: Method
    seeds: tuple[int, ...]
    graph: str

    @property
    def eigenpairs(self) -> bool:
        """Whether its method needs eigenpairs, which are stored with the graph."""
        return traits_of(self.method.acquisition).needs.startswith("eigenpairs")


def work_on(unit: Unit, graph: Graph, data: Dataset, done: Callable[[int], None]) -> list[Row]:
    """The lines of a unit; `done` is called with the number of questions asked per trial."""
    experiment, method = unit.experiment, unit.method
    traces = simulate_many(
        graph,
        data.classes,
        clusters=data.clusters,
        acquisition=method.acquisition,
        policy=method.policy,
        tau=method.tau,
        model=method.model,
        predict_tau=None,  # the model that chooses is one of those it is measured in
        also=[model for model in experiment.evaluate if model != CHOOSING],
        budget=experiment.budget,
        seeds=unit.seeds,
        initial=experiment.initial,  # type: ignore[arg-type]
        progress=lambda n, _: done(n),
    )
    return [
        row
        for seed, trace in zip(unit.seeds, traces, strict=True)
        for row in rows_of(method.name, seed, trace, data)
    ]


class Worker:
    """A process that does units one after another."""

    def __init__(self, threads: int, data: Dataset) -> None:
        self.threads, self.data = threads, data
        self.unit: Unit | None = None
        self.attempt = 0
        self.has_eigenpairs = False
        self._start()

    def _start(self) -> None:
        context = get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process: BaseProcess = context.Process(
            target=_serve,
            args=(theirs, self.threads, self.data, loaded_files()),
            daemon=True,
        )
        self.process.start()
        theirs.close()  # so that the connection ends if the process dies

    def give(self, unit: Unit, attempt: int) -> None:
        self.unit, self.attempt = unit, attempt
        self.has_eigenpairs |= unit.eigenpairs
        self.connection.send(unit)

    def restart(self) -> int | None:
        self.process.join()
        code = self.process.exitcode
        self.connection.close()
        self.unit, self.has_eigenpairs = None, False
        self._start()
        return code

    def stop(self) -> None:
        self.connection.close()
        self.process.terminate()
        self.process.join()


@contextmanager
def started(jobs: int, data: Dataset) -> Iterator[list[Worker]]:
    """Start processes that share the cores; they end with the context."""
    threads = max(1, cores() // jobs)
    workers: list[Worker] = []
    try:
        for _ in range(jobs):
            workers.append(Worker(threads, data))
        yield workers
    finally:
        for worker in workers:
            worker.stop()


def _serve(
    connection: Connection, threads: int, data: Dataset, own_files: tuple[Path, ...]
) -> None:
    """Main loop of a worker: receives units, sends lines."""
    import signal

    import numba
    from threadpoolctl import threadpool_limits

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # only the parent handles Ctrl-C
    numba.set_num_threads(min(threads, numba.get_num_threads()))
    threadpool_limits(threads)  # BLAS threads spin, and workers would slow each other
    load_files(own_files)  # a unit may hold an object of a class that is defined there
    graphs: dict[str, Graph] = {}
    while True:
        try:
            unit: Unit = connection.recv()
        except EOFError:
            return
        last = [0.0]

        def done(n: int, last: list[float] = last) -> None:
            if time.monotonic() - last[0] > PROGRESS_INTERVAL_SECONDS:
                last[0] = time.monotonic()
                connection.send(("done", n))

        try:
            if unit.graph not in graphs:
                graphs = {unit.graph: Graph.load(unit.graph)}
            message: tuple[str, Any] = ("rows", work_on(unit, graphs[unit.graph], data, done))
        except PoiseError as error:
            message = ("failed", str(error))
        except Exception as error:
            message = ("failed", f"{type(error).__name__}: {error}")
        connection.send(message)
