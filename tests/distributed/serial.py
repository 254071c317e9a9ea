"""The search on Dask without Dask: its tasks one after the other in this process."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from poise.distributed.build import REACH, build, make_plan
from poise.distributed.plan import save_plan
from poise.distributed.shards import Manifest
from poise.distributed.sources import open_source
from poise.distributed.tasks import Facts, Task, perform


def build_here(X: Any, folder: Path, k: int = 5, **settings: Any) -> Manifest:
    """Build the graph of `X`, a matrix or the path of a source."""
    if not isinstance(X, Path):
        folder.mkdir(parents=True, exist_ok=True)
        np.save(folder / "X.npy", X)
        X = folder / "X.npy"
    chosen = {
        "metric": "euclidean",
        "kernel": "gaussian",
        "symmetrise": "auto",
        "backend": "exact",
        "cells": 7,
        "reach": REACH,
        "most_incoming": None,
        "checked": 50,
        "seed": 0,
    } | settings
    plan = make_plan(open_source(X), k, **chosen)
    save_plan(folder, plan)

    def run(stage: str, task: Task, numbers: Iterable[int]) -> dict[int, Facts]:
        return {int(number): perform(task, stage, folder, int(number)) for number in numbers}

    return build(run, folder, plan, chosen["backend"])


def clusters(n: int, d: int, seed: int = 0) -> Any:
    """Points in six clusters that touch, as float32."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(scale=2.0, size=(6, d))
    return (centres[rng.integers(6, size=n)] + rng.normal(size=(n, d))).astype(np.float32)
