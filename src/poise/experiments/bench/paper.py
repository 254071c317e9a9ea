"""Time of the paper's experiment on MNIST modulo 3, compared with the authors' scripts.

Per question, the scripts choose, refit the choosing model and predict. Then, for the accuracy in
PWLL, they refit PWLL to the labels so far and predict. (They refit a third time for the accuracy in
PWLL-tau of every method. That time is not counted here, nor is the time for eigenvectors.)
"""

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numba
import numpy as np
from threadpoolctl import threadpool_limits

from poise import Dataset, knn_graph
from poise.active.schedules import Schedule
from poise.arrays import Ints
from poise.experiments.bench.data import one_per_class
from poise.experiments.bench.peer import Peer
from poise.experiments.bench.row import Row
from poise.experiments.experiment import Experiment, Method
from poise.experiments.paper.experiments import EXPERIMENTS, PAPER, POLICIES
from poise.experiments.worker import Unit, work_on
from poise.graph import Graph
from poise.linalg.spectrum import smallest_eigenpairs
from poise.models.components import laplacian
from poise.progress import Progress

QUESTIONS = 6
THEIR_QUESTIONS = 3
GOAL = 8.0
#: Method -> graphlearning's acquisition and its parameters; "C" and "V" are filled in. The other
#: methods choose at random, or by a policy whose cost is negligible compared with the refits.
THEIRS: dict[str, tuple[str, dict[str, Any]]] = {
    "sm": ("unc_sampling", {"unc_method": "smallest_margin"}),
    "vopt-truncated": ("var_opt", {}),
    "sigmaopt-truncated": ("sigma_opt", {}),
    "mcvopt-truncated": ("model_change_var_opt", {}),
}


def paper(progress: Progress) -> Iterator[Row]:
    """Seconds per question and trial of every method, then the hours of the whole experiment.

    Both run in one thread, because both run methods in parallel processes.
    """
    experiment = EXPERIMENTS["mnist"]
    methods = [m for m in experiment.methods if m.group in (PAPER, POLICIES)]
    data = experiment.load()
    graph = knn_graph(data.X, k=experiment.k)
    initial = one_per_class(data.classes, np.random.default_rng(0))
    ours_in_all = theirs_in_all = 0.0
    threads = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        with threadpool_limits(1):
            for number, method in enumerate(methods):
                once, ours = _ours(experiment, method, graph, data)
                theirs = _theirs(graph, initial, data.classes, method)
                trials, budget = len(experiment.seeds), experiment.budget
                ours_in_all += trials * (once + budget * ours)
                theirs_in_all += trials * budget * theirs
                progress(number + 1, len(methods))
                what = f"{method.title}: seconds per question and trial, {trials} in lockstep"
                yield Row(what, ours, theirs, theirs / ours)
    finally:
        numba.set_num_threads(threads)
    yield Row(
        f"MNIST mod 3, {len(methods)} methods, {experiment.budget} questions, "
        f"{len(experiment.seeds)} trials: hours in one thread, extrapolated",
        ours_in_all / 3600,
        theirs_in_all / 3600,
        theirs_in_all / ours_in_all,
        GOAL,
    )


def _ours(
    experiment: Experiment, method: Method, graph: Graph, data: Dataset
) -> tuple[float, float]:
    """Seconds per trial before the first question, and per question."""
    clock = [time.perf_counter()]
    unit = Unit(replace(experiment, budget=QUESTIONS), method, experiment.seeds, "")
    work_on(unit, graph, data, lambda n: clock.append(time.perf_counter()))
    steps = np.diff(clock) / len(experiment.seeds)
    each = float(np.median(steps[1:]))
    return max(0.0, float(steps[0]) - each), each


def _theirs(graph: Graph, initial: Ints, codes: Ints, method: Method) -> float:
    """Seconds per question with graphlearning: choose, refit, and refit PWLL for accuracy."""
    acquisition, parameters = THEIRS.get(method.name, ("unc_sampling", {}))
    if parameters == {} and method.name in THEIRS:
        values, V = smallest_eigenpairs(laplacian(graph), method.acquisition.m, "normalised")
        parameters = {"C": np.diag(1.0 / (values + 1e-11)), "V": np.asarray(V)}
    tau: Schedule = method.tau
    peer = Peer(graph, initial, codes, tau, acquisition, **parameters)
    seconds = []
    for _ in range(THEIR_QUESTIONS):
        before = time.perf_counter()
        peer.query()
        peer.accuracy(0.0)
        seconds.append(time.perf_counter() - before)
    return float(np.median(seconds))
