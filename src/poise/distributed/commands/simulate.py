"""``python -m poise.distributed simulate``: simulated labelling at several ranks."""

import json
import time
from pathlib import Path
from typing import Any

import click
import numpy as np

from poise.active.simulate import initial_nodes
from poise.distributed.commands.settings import distributed_settings, tau_of
from poise.distributed.learner import DistributedLearner, run
from poise.errors import DataError
from poise.models.labels import as_label
from poise.models.targets import read_classes


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--labels",
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The true classes: a .npy file with one per item, -1 where unknown.",
)
@click.option("--budget", default=100, show_default=True, help="Number of questions.")
@click.option(
    "--every",
    default=10,
    show_default=True,
    help="Number of questions between measurements of accuracy.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write the trace as JSON.")
@distributed_settings
def simulate(
    folder: Path,
    labels: Path,
    budget: int,
    every: int,
    output: Path | None,
    acquisition: str,
    tau: str | None,
    seed: int,
    timeout: float,
) -> None:
    r"""Simulate labelling of a partitioned graph with known classes.

    Starts with one random label per class. Run it with an MPI launcher; all machines need the
    folder.

    \b
    Example:
      mpiexec -n 2 python -m poise.distributed simulate big.graph --labels y.npy --budget 20
    """

    def main(learner: DistributedLearner) -> dict[str, Any]:
        return simulated(learner, labels, budget, every, seed)

    trace = run(
        main,
        folder,
        timeout=timeout,
        acquisition=acquisition,
        tau=tau_of(tau),
        predictor="pwll",
        seed=seed,
        anticipate=False,
    )
    if trace is None:
        return
    for count, share in trace["accuracy"].items():
        click.echo(f"{count:>6} answers  accuracy {share:.4f}")
    seconds = trace["seconds"]
    if seconds:
        click.echo(
            f"{np.median(seconds):.3f} s per question (median), {seconds[0]:.3f} s for the first"
        )
    if output is not None:
        output.write_text(json.dumps(trace, indent=1) + "\n", encoding="utf-8")


def simulated(
    learner: DistributedLearner, path: Path, budget: int, every: int, seed: int
) -> dict[str, Any]:
    """Queries, answers, accuracies by number of answers, and seconds of each question."""
    try:
        y = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        raise DataError(f"{path} cannot be read ({error}): expected a .npy file") from None
    codes, names = read_classes(y, learner.partition.n_nodes, str(path))
    classes = [as_label(name) for name in names]
    initial = initial_nodes("one-per-class", codes, seed)
    learner.start({int(i): classes[codes[i]] for i in initial})
    unknown = np.flatnonzero(codes < 0)
    if unknown.size:
        learner.exclude(unknown)
    accuracy = {0: learner.share_right(path)}
    queries: list[int] = []
    seconds: list[float] = []
    for count in range(1, budget + 1):
        begin = time.perf_counter()
        (node,) = learner.ask().tolist()
        seconds.append(time.perf_counter() - begin)
        learner.tell(node, classes[codes[node]])
        queries.append(node)
        if count % every == 0 or count == budget:
            accuracy[count] = learner.share_right(path)
    return {
        "initial": initial.tolist(),
        "queries": queries,
        "answers": [classes[codes[node]] for node in queries],
        "accuracy": accuracy,
        "seconds": seconds,
    }
