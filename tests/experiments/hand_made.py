"""Records made by hand, whose every number is known."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from poise.experiments.experiment import Experiment
from poise.experiments.paper.experiments import EXPERIMENTS
from poise.experiments.records import Records, Row

WIGGLE = (0.0, 0.002, -0.002, 0.001, -0.001, 0.003, -0.003, 0.0, 0.001, -0.001)


def of_paper(name: str, *methods: str, trials: int = 4, budget: int = 10) -> Experiment:
    """An experiment of the paper, smaller."""
    small = replace(EXPERIMENTS[name].with_trials(trials), budget=budget)
    return small.only(*methods) if methods else small


def hand_made(
    experiment: Experiment,
    levels: Mapping[str, float],
    *,
    explored: Mapping[str, float] | None = None,
    one_cluster: Mapping[str, float] | None = None,
    noise: Mapping[str, float] | None = None,
    unfinished: tuple[tuple[str, int], ...] = (),
    note: str = "",
    clusters: int = 10,
) -> Records:
    """Records in which a method's accuracy is its level throughout, 0.5 by default.

    Parameters
    ----------
    explored : share of the clusters that a method has seen after every question, 1 by default
    one_cluster : share of a method's questions in one cluster; the others take turns by default
    noise : how many times `WIGGLE`, of mean zero, is added to the trials' levels, 1 by default
    unfinished : trials (method, seed) that are left out
    """
    trials: dict[tuple[str, int], list[Row]] = {}
    for method in experiment.methods:
        name = method.name
        # Turned from method to method, or paired differences would have no spread.
        wiggle = np.roll(WIGGLE, len(name))[: len(experiment.seeds)]
        wiggle = (noise or {}).get(name, 1.0) * (wiggle - wiggle.mean())
        for place, seed in enumerate(experiment.seeds):
            if (name, seed) in unfinished:
                continue
            level = min(levels.get(name, 0.5) + float(wiggle[place]), 1.0)
            mine = round((one_cluster or {}).get(name, 0.0) * experiment.budget)
            seen = round((explored or {}).get(name, 1.0) * clusters)
            rows: list[Row] = []
            for q in range(experiment.budget + 1):
                row: Row = {"method": name, "seed": seed, "query": q, "clusters_seen": seen}
                row["accuracy"] = dict.fromkeys(experiment.evaluate, level)
                row["balanced"] = dict.fromkeys(experiment.evaluate, level - 0.05)
                if q == 0:
                    row["initial"] = [0, 1]
                else:
                    cluster = 0 if q <= mine else q % clusters
                    row |= {"node": q + 1, "label": 0, "cluster": cluster, "seconds": 0.25}
                rows.append(row)
            trials[name, seed] = rows
    about = {
        "points": 1000,
        "features": 20,
        "clusters": clusters,
        "classes": 2,
        "source": "made by hand",
        "licence": "none needed",
        "note": note,
        "runs": [
            {
                "when": "2024-05-01T12:00:00+00:00",
                "jobs": 1,
                "cores": 2,
                "machine": "x86_64",
                "versions": {"python": "3.11.0"},
                "seconds": 75.0,
            }
        ],
    }
    return Records(experiment, trials, about)


def with_curve(records: Records, method: str, curve: np.ndarray) -> Records:
    """The same records with another accuracy curve in every trial of a method."""
    for seed in records.seeds(method):
        for row, value in zip(records.trials[method, seed], curve, strict=True):
            row["accuracy"] = dict.fromkeys(row["accuracy"], float(value))
    return records
