"""The search on two worker processes: the same graph, and what happens when one of them dies."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.distributed.dask_cluster import AlwaysDies, DiesOnce, Fails, need_dask
from tests.distributed.serial import clusters

import poise
from poise.distributed import cluster, neighbour_graph
from poise.distributed.cluster import check_workers, local_client, worker_memory
from poise.distributed.shards import read_manifest, whole
from poise.distributed.tasks import attempts, finished
from poise.errors import InputError, RunError

need_dask()
pytestmark = pytest.mark.distributed

CELLS = 12


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with local_client(2) as active:
        yield active


@pytest.fixture(scope="module")
def points(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("points") / "X.npy"
    np.save(path, clusters(1_500, 6))
    return path


@pytest.fixture(scope="module")
def expected(points: Path) -> str:
    return poise.knn_graph(np.load(points), 8, backend="exact").fingerprint


def graph_of(folder: Path) -> str:
    return poise.Graph.from_weights(whole(folder)).fingerprint


def test_two_processes_make_the_graph_of_one(
    client: Any, points: Path, expected: str, tmp_path: Path
) -> None:
    seen = []
    manifest = neighbour_graph(
        points, tmp_path / "graph", 8, backend="exact", cells=CELLS, reach=CELLS, client=client,
        progress=lambda stage, done, total: seen.append((stage, done, total)),
    )  # fmt: skip
    assert graph_of(tmp_path / "graph") == expected
    assert manifest == read_manifest(tmp_path / "graph")
    assert ("home", CELLS, CELLS) in seen
    assert not (tmp_path / "graph" / "work").exists()
    again = neighbour_graph(
        points, tmp_path / "graph", 8, backend="exact", cells=CELLS, reach=CELLS, client=client
    )
    assert again == manifest
    with pytest.raises(InputError, match="a finished graph of other settings"):
        neighbour_graph(points, tmp_path / "graph", 9, client=client)


def test_a_killed_worker_loses_nothing(points: Path, expected: str, tmp_path: Path) -> None:
    (tmp_path / "marks").mkdir()
    folder = tmp_path / "graph"
    with local_client(2) as active:
        manifest = neighbour_graph(
            points, folder, 8, backend=DiesOnce(tmp_path / "marks"), cells=CELLS, reach=CELLS,
            client=active, keep_work=True,
        )  # fmt: skip
    assert (tmp_path / "marks" / "killed").exists()
    assert graph_of(folder) == expected
    begun = [attempts("home", folder, cell) for cell in range(CELLS)]
    # The cell that the worker was at was begun again, and no other one.
    assert sorted(begun) == [1] * (CELLS - 1) + [2]
    assert manifest.report["tasks_repeated"] == 1
    for stage in ("blocks", "visits", "edges", "received", "rows", "joins", "checks"):
        numbers = range(1 if stage == "blocks" else CELLS)
        assert all(attempts(stage, folder, number) == 1 for number in numbers)


def test_a_killed_run_is_resumed(points: Path, expected: str, tmp_path: Path) -> None:
    folder = tmp_path / "graph"
    command = [
        sys.executable, "-m", "poise.distributed", "graph", str(points), "-o", str(folder),
        "-k", "8", "--backend", "exact", "--cells", str(CELLS), "--reach", str(CELLS),
        "--keep-work", "--json",
    ]  # fmt: skip
    with (tmp_path / "log").open("w") as log:
        run = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        try:
            while run.poll() is None and count_finished(folder) < 3:
                time.sleep(0.005)
        finally:
            os.killpg(run.pid, signal.SIGKILL)  # its workers too
            run.wait()
    done = [cell for cell in range(CELLS) if finished("home", folder, cell)]
    assert len(done) >= 3, (tmp_path / "log").read_text()
    assert not (folder / "manifest.json").exists()
    second = subprocess.run(command, capture_output=True, text=True, check=False)
    assert second.returncode == 0, second.stderr
    assert json.loads(second.stdout)["n_nodes"] == 1_500
    assert graph_of(folder) == expected
    assert all(attempts("home", folder, cell) == 1 for cell in done)


def count_finished(folder: Path) -> int:
    return len(list((folder / "work" / "home").glob("*/record.json")))


def test_repeated_deaths_of_workers_end_the_run(points: Path, tmp_path: Path) -> None:
    with local_client(2) as active, pytest.raises(RunError, match=r"in the stage home .* memory"):
        neighbour_graph(points, tmp_path / "g", 8, backend=AlwaysDies(), cells=1, client=active)


def test_a_fault_in_a_worker_is_named(client: Any, points: Path, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="stage home failed: ZeroDivisionError: no such search"):
        neighbour_graph(points, tmp_path / "g", 8, backend=Fails(), client=client)


def test_a_mistake_of_the_caller_that_a_worker_finds_is_an_input_error(
    client: Any, tmp_path: Path
) -> None:
    X = clusters(500, 3)
    X[77] = np.inf
    np.save(tmp_path / "X.npy", X)
    with pytest.raises(InputError, match=r"X\.npy, from row 0: .* infinity"):
        neighbour_graph(tmp_path / "X.npy", tmp_path / "graph", 8, client=client)


def test_other_versions_are_refused(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert check_workers(client, tmp_path) == 2
    here = cluster.versions()
    monkeypatch.setattr(cluster, "versions", lambda: here | {"poise": "99"})
    with pytest.raises(InputError, match=r"the worker tcp://127.* has other versions .*and 99"):
        check_workers(client, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_memory_of_a_worker_that_is_too_small(client: Any, tmp_path: Path) -> None:
    limit = worker_memory(client)
    assert limit is not None
    assert limit > 0
    shape = (10**9, 64)  # a file with holes: it takes no space
    np.lib.format.open_memmap(tmp_path / "X.npy", mode="w+", dtype=np.float32, shape=shape)
    with pytest.raises(InputError, match=r"1,000,000,000 points needs up to .* of disk"):
        neighbour_graph(tmp_path / "X.npy", tmp_path / "graph", 10, client=client)
    assert not (tmp_path / "graph" / "work").exists()
