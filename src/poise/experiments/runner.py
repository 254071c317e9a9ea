"""Run an experiment: methods in parallel processes, the trials of each in lockstep, resumable.

The unit of work is a method with the seeds that advance together. One process writes, and appends
the lines of a unit when it is finished. However a run ends, the folder therefore holds complete
trials, and the next run does the missing units. A unit depends only on its method and seeds, so
that a resumed run gives the same numbers as an uninterrupted one.
"""

import platform
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import numpy as np

from poise import Dataset, Graph, knn_graph, simulate_many
from poise.active.acquisition import traits_of
from poise.errors import PoiseError, RunError
from poise.experiments.experiment import CHOOSING, Experiment, Method
from poise.experiments.records import Records, Row, Store, missing, rows_of
from poise.experiments.versions import commit, versions
from poise.machine import cores
from poise.own_files import load_files, loaded_files
from poise.progress import Begin, no_steps

#: Maximal number of trials that advance together.
LOCKSTEP = 10
#: A unit whose worker died is tried again: the system may have killed it for lack of memory.
ATTEMPTS = 2
#: Least time between two messages about progress.
PROGRESS_INTERVAL_SECONDS = 0.2

#: Called with a method, its finished trial-questions, and all of its trial-questions.
MethodProgress = Callable[[Method, int, int], None]


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


def run(
    experiment: Experiment,
    folder: Path,
    *,
    jobs: int = 1,
    seconds: Mapping[str, float] | None = None,
    progress: MethodProgress | None = None,
    begin: Begin = no_steps,
) -> Records:
    """Run the missing trials of an experiment, and return all its records.

    Parameters
    ----------
    folder : the folder of its records
    jobs : processes; 1 works in this one
    seconds : expected seconds of a trial by method; with several processes the longest go first
    progress : called as units advance
    begin : called with the name of a long step; returns a function that is called with
        (done, total) during the step

    Raises
    ------
    InputError
        If the records in `folder` have other parameters, or the budget is too large.
    RunError
        If units failed; all other units are finished and kept.
    """
    store = Store(folder, experiment)
    if store.header.exists():
        done = store.read()  # other parameters are refused before anything is loaded
        if done.complete:
            return done
    began = time.perf_counter()
    data = experiment.load(begin(f"loading {experiment.name}"))
    experiment.check(data)
    records = store.open(_about(experiment, data, jobs))
    units = missing(records, LOCKSTEP)
    if not units:
        return records
    begin(f"building the graph of {experiment.name}")
    graph = knn_graph(data.X, k=experiment.k)
    counter = _Counter(records, progress)
    failed = []
    with tempfile.TemporaryDirectory(prefix="poise-") as scratch:
        path = str(Path(scratch) / "graph.npz")
        work = [Unit(experiment, method, tuple(seeds), path) for method, seeds in units]
        if jobs == 1:
            finished = _one_by_one(work, graph, data, counter)
        else:
            graph.save(path)
            # The longest first, so that no processor waits for another at the end.
            expected = seconds or {}
            work.sort(key=lambda unit: -len(unit.seeds) * expected.get(unit.method.name, 0.0))
            finished = _in_processes(work, data, min(jobs, len(work)), counter)
        for unit, rows, error in finished:
            if error:
                failed.append(f"{unit.method.name} ({error})")
                continue
            store.append(rows)
            for seed in unit.seeds:
                records.trials[unit.method.name, seed] = [r for r in rows if r["seed"] == seed]
    records.about["runs"][-1]["seconds"] = round(time.perf_counter() - began, 1)
    store.write_header(records.about)
    if failed:
        raise RunError(
            f"{experiment.name}: {len(failed)} of {len(work)} units failed, the others are "
            f"kept in {folder}: {'; '.join(failed)}; run it again to retry"
        )
    return records


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


class _Counter:
    """The progress of each method, over its units and the trials on record."""

    def __init__(self, records: Records, progress: MethodProgress | None) -> None:
        self.progress = progress
        self.budget = records.experiment.budget
        self.total = self.budget * len(records.experiment.seeds)
        self.kept = {
            m.name: self.budget * len(records.seeds(m.name)) for m in records.experiment.methods
        }
        for method in records.experiment.methods:
            self.advance(method, 0)

    def advance(self, method: Method, more: int) -> None:
        if self.progress:
            self.progress(method, self.kept[method.name] + more, self.total)

    def finish(self, unit: Unit) -> None:
        self.kept[unit.method.name] += self.budget * len(unit.seeds)
        self.advance(unit.method, 0)


Finished = Iterator[tuple[Unit, list[Row], str]]


def _one_by_one(work: list[Unit], graph: Graph, data: Dataset, counter: _Counter) -> Finished:
    for unit in work:

        def done(n: int, unit: Unit = unit) -> None:
            counter.advance(unit.method, n * len(unit.seeds))

        try:
            rows = work_on(unit, graph, data, done)
        except PoiseError as error:
            yield unit, [], str(error)
            continue
        counter.finish(unit)
        yield unit, rows, ""


def _in_processes(work: list[Unit], data: Dataset, jobs: int, counter: _Counter) -> Finished:
    """Gives units to workers as they become free; if a worker dies, its unit uses an attempt."""
    # The features are in the graph's file.
    slim = replace(data, X=np.empty((data.n_points, 0)))
    waiting = [(unit, 1) for unit in work]
    with _workers(jobs, slim) as workers:
        while waiting or any(worker.unit for worker in workers):
            for worker in workers:
                if worker.unit is None and waiting:
                    worker.give(*waiting.pop(_place_of_next(waiting, worker, workers)))
            busy = {w.connection: w for w in workers if w.unit}
            for connection in wait(list(busy)):
                worker = busy[connection]  # type: ignore[index]
                unit, attempt = worker.unit, worker.attempt
                assert unit is not None
                try:
                    kind, content = worker.connection.recv()
                except (EOFError, OSError):  # it died
                    code = worker.restart()
                    if attempt < ATTEMPTS:
                        waiting.insert(0, (unit, attempt + 1))
                    else:
                        yield unit, [], f"its process ended with code {code}, {attempt} times"
                    continue
                if kind == "done":
                    counter.advance(unit.method, content * len(unit.seeds))
                    continue
                worker.unit = None
                if kind == "rows":
                    counter.finish(unit)
                    yield unit, content, ""
                else:
                    yield unit, [], content


def _place_of_next(
    waiting: list[tuple[Unit, int]], worker: "_Worker", workers: list["_Worker"]
) -> int:
    """The first waiting unit; but only one process computes eigenpairs, which take long."""
    if not any(other.has_eigenpairs for other in workers):
        return 0
    positions = (
        i for i, (unit, _) in enumerate(waiting) if unit.eigenpairs == worker.has_eigenpairs
    )
    return next(positions, 0)


class _Worker:
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
def _workers(jobs: int, data: Dataset) -> Iterator[list[_Worker]]:
    threads = max(1, cores() // jobs)
    workers: list[_Worker] = []
    try:
        for _ in range(jobs):
            workers.append(_Worker(threads, data))
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


def _about(experiment: Experiment, data: Dataset, jobs: int) -> dict[str, Any]:
    """Facts about the data set and this run."""
    return {
        "points": data.n_points,
        "features": int(data.X.shape[1]),
        "clusters": data.n_clusters,
        "classes": data.n_classes,
        "source": data.source,
        "licence": data.licence,
        "note": data.note,
        "run": {
            "when": datetime.now(UTC).isoformat(timespec="seconds"),
            "trials": len(experiment.seeds),
            "jobs": jobs,
            "cores": cores(),
            "machine": platform.machine(),
            "versions": versions(),
            "commit": commit(),
        },
    }
