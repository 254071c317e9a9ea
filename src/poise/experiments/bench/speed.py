"""Time per query of one learner and of ten trials in lockstep, alternating with the peer's."""

import time
from collections.abc import Iterator

import numpy as np

from poise.active.learner import Learner
from poise.active.schedules import Constant
from poise.active.simulate import simulate_many
from poise.experiments.bench.data import imbalanced_mnist, one_per_class
from poise.experiments.bench.peer import Peer
from poise.experiments.bench.row import Row
from poise.progress import Progress

QUERIES = 30
TRIALS = 10


def speed(progress: Progress) -> Iterator[Row]:
    """Seconds per query on mnist_imb_vae: choose, answer, refit, predict in the same model."""
    graph, codes = imbalanced_mnist()
    initial = one_per_class(codes, np.random.default_rng(0))
    labels = {int(node): int(codes[node]) for node in initial}
    total, done = 4 * QUERIES, 0
    # Compilation at the very first solve is not part of a query.
    Learner(graph, labels, acquisition="norm").ask(2)
    for acquisition, tau, goal in (("norm", 1e-3, 9.0), ("norm", 0.0, 5.0), ("auto", None, 20.0)):
        before = time.perf_counter()
        learner = Learner(graph, labels, acquisition=acquisition, tau=tau, predict_tau=None)
        learner.prepare()
        set_up = time.perf_counter() - before
        peer = Peer(graph, initial, codes, Constant(1e-3 if tau is None else tau))
        ours, theirs = [], []
        for _ in range(QUERIES):
            before = time.perf_counter()
            node = int(learner.ask()[0])
            learner.tell(node, int(codes[node]))
            _ = learner.predictions
            middle = time.perf_counter()
            peer.query()
            ours.append(middle - before)
            theirs.append(time.perf_counter() - middle)
            done += 1
            progress(done, total)
        name = acquisition if tau is None else f"{acquisition}, tau = {tau:g}"
        yield _row(f"one learner, {name}: seconds per query", ours, theirs, goal)
        yield Row(f"one learner, {name}: seconds before the first query", set_up)
    peer = Peer(graph, initial, codes, Constant(1e-3))
    steps: list[float] = []
    theirs = []
    clock = [time.perf_counter()]

    def after_step(query: int, _: int) -> None:
        steps.append((time.perf_counter() - clock[0]) / TRIALS)
        before = time.perf_counter()
        peer.query()
        theirs.append(time.perf_counter() - before)
        progress(3 * QUERIES + query, total)
        clock[0] = time.perf_counter()

    simulate_many(
        graph,
        codes,
        acquisition="norm",
        seeds=range(TRIALS),
        budget=QUERIES,
        predict_tau=None,
        progress=after_step,
    )
    yield _row(f"{TRIALS} trials in lockstep, per query and trial", steps[1:], theirs, 20.0)


def _row(what: str, ours: list[float], theirs: list[float], goal: float) -> Row:
    mine, others = float(np.median(ours)), float(np.median(theirs))
    return Row(what, mine, others, others / mine, goal)
