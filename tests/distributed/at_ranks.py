"""The program that tests run at each rank: ``mpiexec -n 2 python at_ranks.py WHAT FOLDER OUT``."""

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from poise.distributed.columns import poisson_weights
from poise.distributed.learner import DistributedLearner, run
from poise.distributed.median import median
from poise.distributed.partition import load
from poise.distributed.ranks import Ranks
from poise.distributed.solve import solve


def session(
    folder: str, output: Path, acquisition: str, tau: str, labels: str, budget: str
) -> None:
    """Ask and tell from known classes; keep the questions, and the scores at the end."""
    y = np.load(labels)

    def main(learner: DistributedLearner) -> dict[str, Any]:
        queries = []
        for _ in range(int(budget)):
            (node,) = learner.ask().tolist()
            learner.tell(node, int(y[node]))
            queries.append(node)
        return {
            "queries": np.array(queries),
            "scores": learner.scores,
            "norms": learner.norms,
            "predictions": learner.predictions,
        }

    first = {int(np.flatnonzero(y == c)[0]): int(c) for c in np.unique(y)[:2]}
    settings = {"acquisition": acquisition, "tau": float(tau) if tau else None}
    result = run(main, folder, timeout=60, labels=first, predictor="pwll", **settings)
    if result is not None:
        np.savez(output, **result)


def changes(folder: str, output: Path) -> None:
    """Everything that a person may want to take back, and a session that goes on from its text."""

    def main(learner: DistributedLearner) -> dict[str, Any]:
        i, j, k = learner.ask(3).tolist()
        learner.tell([i, j], ["a", "b"])
        learner.skip(k)
        learner.undo()
        learner.relabel(j, "c")
        learner.undo()
        learner.exclude(k)
        text = learner.to_json()
        (after,) = learner.ask().tolist()
        errors = []
        for wrong in (lambda: learner.tell(i, "b"), lambda: learner.ask(0)):
            try:
                wrong()
            except ValueError as error:
                errors.append(str(error))
        return {
            "text": text,
            "after": after,
            "asked": [i, j, k],
            "classes": learner.classes,
            "errors": errors,
        }

    result = run(main, folder, timeout=60, acquisition="norm", tau=1e-3)
    text = None if result is None else result["text"]

    def again(learner: DistributedLearner) -> int:
        return int(learner.ask()[0])

    after = run(again, folder, timeout=60, resume=text)
    if result is not None:
        np.savez(output, resumed=after, **{k: np.array(v) for k, v in result.items()})


def matrices(folder: str, output: Path) -> None:
    """Solves with several operators, Poisson weights, components and a median."""
    ranks = Ranks(timeout=60)
    partition = load(ranks, folder)
    items = partition.nodes
    n = partition.n_nodes
    rng = np.random.default_rng(0)
    B, Q, F = rng.normal(size=(n, 11)), rng.random((n, 3)), rng.random((n, 3)) < 0.9
    which = np.arange(11) % 3
    some = solve(partition, B[items], diagonals=Q[items], free=F[items], operator=which, rtol=1e-12)
    zero = solve(partition, np.zeros((len(items), 2)), diagonals=Q[items, :1])
    gamma = poisson_weights(partition, [3, 50, 77], rtol=1e-12)
    few = solve(partition, B[items], diagonals=Q[items, :1], max_steps=2)
    result = {
        "solution": partition.in_order(some.value),
        "gamma": partition.in_order(gamma),
        "components": partition.in_order(partition.components),
        "product": partition.in_order(partition.product(B[items])),
    }
    middle = [median(ranks, B[items, 0] ** 2), median(ranks, B[items[items < 50], 0] ** 2)]
    if ranks.rank == 0:
        np.savez(
            output,
            status=some.status,
            zero_steps=zero.steps,
            few=few.status,
            median=middle,
            **{name: values for name, values in result.items() if values is not None},
        )
    ranks.close()


def killed(folder: str, output: Path) -> None:
    """Rank 1 dies in the middle of a solve."""
    _lose(folder, output, signal.SIGKILL)


def stopped(folder: str, output: Path) -> None:
    """Rank 1 stops answering in the middle of a solve."""
    _lose(folder, output, signal.SIGSTOP)


def _lose(folder: str, output: Path, how: signal.Signals) -> None:
    ranks = Ranks(timeout=30 if how == signal.SIGKILL else 10)
    partition = load(ranks, folder)
    ranks.watchdog.doing("solving")
    ranks.watchdog.safe(str(output))
    for step in range(1000):
        if step == 3 and ranks.rank == 1:
            os.kill(os.getpid(), how)
        solve(partition, np.ones(partition.n_rows), diagonals=1e-3)
        time.sleep(0.01)


def broken(folder: str, output: Path) -> None:
    """Something unforeseen goes wrong at rank 1 while rank 0 waits."""

    def main(learner: DistributedLearner) -> None:
        learner._together("break")

    from poise.distributed import learner as module

    def fail(replica: Any) -> None:
        if replica.partition.ranks.rank == 1:
            raise ZeroDivisionError("a fault of the test")
        replica.partition.ranks.total(np.zeros(1))

    module.OVER_ROWS["break"] = fail
    run(main, folder, timeout=20, acquisition="norm")


if __name__ == "__main__":
    globals()[sys.argv[1]](sys.argv[2], Path(sys.argv[3]), *sys.argv[4:])
