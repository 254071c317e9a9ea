"""The demonstration: scikit-learn's digits labelled by simulation, by default and at random."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from poise import Trace, knn_graph, simulate_many
from poise.errors import InputError
from poise.experiments.summary import Band, mean_band
from poise.experiments.versions import versions
from poise.progress import Begin, no_steps

# Acquisition -> name in charts and tables, in this order.
METHODS = {"auto": "poise", "random": "Random"}
CHECKPOINTS = (1, 5, 10, 20, 50, 100, 200, 500, 1000)


@dataclass(frozen=True)
class Settings:
    """Settings of the demonstration. Trial t draws its first label with seed ``seed + t``."""

    trials: int = 5
    budget: int = 100
    seed: int = 0
    k: int = 10


@dataclass(frozen=True, eq=False)
class Demo:
    """A finished demonstration.

    `images` has shape (n, 8, 8) with ink from 0 to 1, `digits` (n,); `traces` holds one trace per
    trial for each method.
    """

    settings: Settings
    images: NDArray[np.float64]
    digits: NDArray[np.int64]
    traces: dict[str, list[Trace]]

    @property
    def labels(self) -> NDArray[np.int64]:
        """Number of labels at each step of a trace: 1, 2, ..., budget + 1."""
        return np.arange(self.settings.budget + 1) + 1

    def accuracy(self, method: str) -> NDArray[np.float64]:
        """Share of the unlabelled images that are right, of shape (trials, budget + 1)."""
        return np.stack([trace.accuracy for trace in self.traces[method]])

    def explored(self, method: str) -> NDArray[np.float64]:
        """Share of the ten digits among the labelled images, of shape (trials, budget + 1)."""
        return np.stack([trace.clusters_seen / trace.n_clusters for trace in self.traces[method]])


@dataclass(frozen=True)
class Row:
    """Accuracy with a number of labels: for each method the mean over trials and its interval."""

    labels: int
    accuracy: dict[str, tuple[float, float, float]]


def run_demo(settings: Settings, begin: Begin = no_steps) -> Demo:
    """Label the digits by simulation, once per trial and method, from one label each."""
    begin("Building the graph")
    data = load_digits()
    digits = np.asarray(data.target, dtype=np.int64)
    if settings.budget >= len(digits):
        raise InputError(
            f"a budget of {settings.budget:,} is more than there are images to ask for: "
            f"choose at most {len(digits) - 1:,}"
        )
    features = np.asarray(data.data, dtype=np.float64) / 16
    graph = knn_graph(features, k=settings.k)
    seeds = range(settings.seed, settings.seed + settings.trials)
    traces = {
        method: simulate_many(
            graph,
            digits,
            acquisition=method,
            budget=settings.budget,
            seeds=seeds,
            initial=1,
            clusters=digits,
            progress=begin(f"Labelling, {name.lower()}"),
        )
        for method, name in METHODS.items()
    }
    return Demo(settings, features.reshape(-1, 8, 8), digits, traces)


def checkpoints(budget: int) -> list[int]:
    """Numbers of labels with a row in the table; the last one only if no other is close to it."""
    last = budget + 1
    chosen = [labels for labels in CHECKPOINTS if labels <= last]
    return chosen if chosen[-1] >= 0.8 * last else [*chosen, last]


def accuracy_rows(demo: Demo) -> list[Row]:
    """The rows of the table: accuracy by number of labels."""
    bands: dict[str, Band] = {method: mean_band(demo.accuracy(method)) for method in demo.traces}

    def entry(band: Band, step: int) -> tuple[float, float, float]:
        return float(band.mean[step]), float(band.low[step]), float(band.high[step])

    return [
        Row(labels, {method: entry(band, labels - 1) for method, band in bands.items()})
        for labels in checkpoints(demo.settings.budget)
    ]


def report(demo: Demo) -> dict[str, Any]:
    """The result as JSON types."""
    rows: Sequence[Row] = accuracy_rows(demo)
    return {
        "settings": asdict(demo.settings),
        "versions": versions(),
        "images": len(demo.digits),
        "accuracy": [
            {"labels": row.labels}
            | {
                method: dict(zip(("mean", "low", "high"), values, strict=True))
                for method, values in row.accuracy.items()
            }
            for row in rows
        ],
    }
