"""Estimates of disk and memory, and errors with the numbers if something does not fit."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.distributed.serial import build_here, clusters

from poise.distributed import estimate as estimating
from poise.distributed.build import make_plan
from poise.distributed.estimate import check_room, estimate, size
from poise.distributed.plan import Plan
from poise.distributed.sources import Source, SourceFile
from poise.errors import InputError


def plan_of(n: int, **settings: Any) -> Plan:
    source = Source((SourceFile("X.npy", n, 128 * n, 0),), 32, "float32")
    chosen = {
        "k": 10, "metric": "euclidean", "kernel": "gaussian", "symmetrise": "auto",
        "backend": "auto", "cells": None, "reach": 4, "most_incoming": "auto", "checked": 0,
        "seed": 0,
    } | settings  # fmt: skip
    return make_plan(source, **chosen)


def test_the_files_take_no_more_than_estimated(tmp_path: Path) -> None:
    X = clusters(20_000, 32)
    build_here(X, tmp_path, k=10, cells=8, reach=4, backend="auto", checked=0)
    (tmp_path / "X.npy").unlink()
    taken = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    needed = estimate(plan_of(20_000, cells=8)).disk
    assert 0.3 * needed < taken < needed


def test_the_estimate_grows_with_the_points_and_not_the_memory() -> None:
    small, large = estimate(plan_of(10**6)), estimate(plan_of(10**8))
    assert large.disk == 100 * small.disk
    assert large.memory == small.memory


def test_too_little_disk_is_refused_with_the_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of(10**8)
    needs = estimate(plan)
    monkeypatch.setattr(
        estimating.shutil, "disk_usage", lambda folder: type("Usage", (), {"free": needs.disk - 1})
    )
    with pytest.raises(InputError, match=r"100,000,000 points needs up to 1\d\d GB .* free"):
        check_room(plan, needs, tmp_path, None)
    (tmp_path / "work").mkdir()
    np.save(tmp_path / "work" / "done.npy", np.zeros(10))  # what is there need not be written
    check_room(plan, needs, tmp_path, None)


def test_too_little_memory_is_refused_with_the_numbers(tmp_path: Path) -> None:
    plan = plan_of(10**6)
    needs = estimate(plan)
    check_room(plan, needs, tmp_path, int(needs.memory / 0.8) + 1)
    with pytest.raises(InputError, match=r"each worker needs up to \d+ MB .* than 20, or fewer"):
        check_room(plan, needs, tmp_path, int(0.9 * needs.memory))
    assert estimate(plan_of(10**6, cells=100)).memory < needs.memory


@pytest.mark.parametrize(
    ("count", "words"), [(1, "0.001 kB"), (2.5e6, "2.5 MB"), (10**9, "1 GB"), (3e12, "3 TB")]
)
def test_sizes_in_words(count: float, words: str) -> None:
    assert size(int(count)) == words
