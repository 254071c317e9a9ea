"""Helpers of the tests with a real Dask cluster."""

import os
import signal
import uuid
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from poise.graph.backend import Backend, Brute, Searcher
from poise.graph.features import Features


def need_dask() -> None:
    """Skip the module's tests where Dask is not installed; fail where it has to be."""
    missing = [name for name in ("dask", "distributed", "pyarrow") if find_spec(name) is None]
    if missing and os.environ.get("POISE_REQUIRE_DISTRIBUTED"):
        pytest.fail(f"{' and '.join(missing)} must be installed here: run make test-distributed")
    if missing:
        pytest.skip("needs the extra dask: make test-distributed", allow_module_level=True)


@dataclass(frozen=True)
class DiesOnce(Backend):
    """A search during which the worker is killed, the third time that one begins."""

    marks: Path

    def prepare(self, points: Features, metric: str, seed: int) -> Searcher:
        (self.marks / uuid.uuid4().hex).touch()
        killed = self.marks / "killed"
        if len(list(self.marks.iterdir())) >= 3 and not killed.exists():
            killed.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return Brute().prepare(points, metric, seed)


@dataclass(frozen=True)
class AlwaysDies(Backend):
    """A search that kills every worker, as one does that needs too much memory."""

    def prepare(self, points: Features, metric: str, seed: int) -> Searcher:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("unreachable")


@dataclass(frozen=True)
class Fails(Backend):
    """A search with a fault."""

    def prepare(self, points: Features, metric: str, seed: int) -> Searcher:
        raise ZeroDivisionError("no such search")
