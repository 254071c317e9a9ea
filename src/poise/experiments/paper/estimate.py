"""Estimates how long experiments will take.

The estimate combines a table of measured times, ``costs.json``, with a probe of this machine's
current speed. The table has one entry per method of each of the paper's experiments.
``python -m poise.experiments.paper.estimate REPORT`` updates it from the records of a report.
"""

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from poise import knn_graph, simulate_many
from poise.experiments.experiment import Experiment
from poise.experiments.records import Records

#: Time to load a data set, build its graph and start a worker; small compared with the rest.
OVERHEAD_SECONDS = 15.0


def known_costs() -> dict[str, Any]:
    """``{"probe": seconds, "costs": {experiment: {method: [seconds once, per question]}}}``.

    Both numbers are per trial, in a process with one thread, while another such process runs.
    """
    table = files("poise.experiments.paper").joinpath("costs.json").read_text(encoding="utf-8")
    costs: dict[str, Any] = json.loads(table)
    return costs


def estimate(
    experiments: Sequence[Experiment],
    jobs: int,
    *,
    kept: Mapping[str, Records] | None = None,
    speed: float = 1.0,
) -> float:
    """Seconds that the missing trials of `experiments` will take.

    Parameters
    ----------
    kept : experiment -> existing records
    speed : how many times slower this machine is than the one that made the table

    A method that is not in the table counts as the mean of the others.
    """
    total = 0.0
    for experiment in experiments:
        records = (kept or {}).get(experiment.name)
        left = 0.0
        for method, seconds in trial_seconds(experiment).items():
            done = len(records.seeds(method)) if records else 0
            left += (len(experiment.seeds) - done) * seconds
        total += OVERHEAD_SECONDS * (left > 0) + left / min(jobs, len(experiment.methods))
    return speed * total


def trial_seconds(experiment: Experiment) -> dict[str, float]:
    """Method -> seconds of a trial; all 0 if the experiment is not in the table."""
    costs = known_costs()["costs"]
    known = costs.get(experiment.name, {})
    typical = np.mean(list(known.values()), axis=0) if known else np.zeros(2)
    return {
        method.name: float(np.dot(known.get(method.name, typical), (1, experiment.budget)))
        for method in experiment.methods
    }


def probe() -> float:
    """Seconds that a small piece of typical work takes at present, the best of three."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4_000, 10))
    graph = knn_graph(X, k=20)
    y = (X[:, 0] > 0).astype(np.int64)
    simulate_many(graph, y, acquisition="norm", budget=1)
    times = []
    for _ in range(3):
        before = time.perf_counter()
        simulate_many(graph, y, acquisition="norm", budget=10, seeds=(0, 1, 2))
        times.append(time.perf_counter() - before)
    return min(times)


def costs_of(records: Sequence[Records]) -> dict[str, dict[str, list[float]]]:
    """Experiment -> method -> seconds once and per question, per trial."""
    costs: dict[str, dict[str, list[float]]] = {}
    for run in records:
        for method in run.methods:
            seconds = run.seconds(method.name)
            each = float(np.median(seconds))
            once = max(0.0, float((seconds.sum(axis=1) - seconds.shape[1] * each).mean()))
            entry = [float(f"{once:.2g}"), float(f"{each:.2g}")]
            costs.setdefault(run.experiment.name, {})[method.name] = entry
    return costs


def main(report: Path) -> None:
    """Update the table from a report's records."""
    from poise.experiments.paper.reproduce import kept

    table = known_costs()
    table["probe"] = round(probe(), 3)
    table["costs"] |= costs_of(list(kept(report).values()))
    target = Path(str(files("poise.experiments.paper").joinpath("costs.json")))
    target.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Update costs.json from a report's records.")
    parser.add_argument("report", type=Path, help="folder of the report")
    main(parser.parse_args().report)
