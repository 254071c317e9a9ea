"""An error at one rank ends all ranks, with a message that names it and answers on disk."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.distributed.mpi import SOURCE, at_ranks, mpiexec, need_petsc

import poise
from poise.distributed.shards import from_graph
from poise.studio.log.state import fold
from poise.studio.log.store import EventStore

need_petsc()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("faults") / "graph"
    X = np.random.default_rng(0).normal(size=(2000, 3))
    from_graph(poise.knn_graph(X, k=8), folder, shards=2)
    return folder


@pytest.fixture
def copied(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder, tmp_path / "graph"))


def label(folder: Path, project: Path, text: str, **more: str) -> tuple[int, str, str]:
    run = mpiexec("-m", "poise.distributed", "label", folder, project, text=text, **more)
    return run.returncode, run.stdout, run.stderr


@pytest.mark.parametrize("how", ["killed", "stopped"])
def test_a_rank_that_dies_or_hangs_is_named_at_every_rank(folder: Path, how: str) -> None:
    # If the others waited for ever, `at_ranks` would give up and raise.
    run = at_ranks(how, folder, "the/answers")
    assert run.returncode != 0
    for rank in (0, 1):
        messages = [line for line in run.stderr.splitlines() if f"rank {rank} of 2" in line]
        assert any(line.startswith("RankLostError") for line in messages), run.stderr
    assert "the/answers" in run.stderr


def test_an_unforeseen_error_at_one_rank_is_shown_and_ends_the_others(folder: Path) -> None:
    run = at_ranks("broken", folder, "unused")
    assert run.returncode != 0
    assert "ZeroDivisionError: rank 1 of 2" in run.stderr
    assert "RankLostError: rank 0 of 2" in run.stderr


def test_answers_are_on_disk_and_the_session_goes_on(folder: Path, tmp_path: Path) -> None:
    project = tmp_path / "answers"
    code, out, err = label(folder, project, "cat\ndog\n:undo\nbird\n:skip\n:never\n\n:what\n")
    assert code == 0, err
    assert "undone: label of item" in out
    assert ":what is not a command" in out
    store = EventStore(project / "events.db")
    state = fold(store.events())
    store.close()
    assert [answer.label for answer in state.labels.values()] == ["cat", "bird"]
    assert len(state.skipped) == len(state.unsure) == 1
    last = out.strip().splitlines()[-2]
    code, again, err = label(folder, project, ":quit\n")
    assert code == 0, err
    assert "2 labels so far" in again
    assert again.splitlines()[1] == last  # the same question waits


def test_answers_about_another_graph_are_refused(
    folder: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    project = tmp_path / "answers"
    project.mkdir()
    (project / "graph.txt").write_text("another\n")
    code, _, err = label(folder, project, "")
    assert code != 0
    assert "about another graph" in err


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda part: shutil.rmtree(part), "part-00001"),
        (lambda part: os.truncate(part / "data.npy", 2000), "is truncated or of another graph"),
        (lambda part: flip(part / "indices.npy"), "has another checksum"),
    ],
    ids=["missing", "truncated", "damaged"],
)
def test_a_bad_shard_is_refused_by_name_at_every_rank(
    copied: Path, tmp_path: Path, spoil: object, message: str
) -> None:
    spoil(copied / "part-00001")  # type: ignore[operator]
    code, _, err = label(copied, tmp_path / "answers", "")
    assert code != 0
    assert message in err
    assert "part-00001" in err
    assert "rank 1 of 2 cannot continue" in err  # rank 0 says where


def flip(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[-1] ^= 1
    path.write_bytes(raw)


def test_ranks_with_different_programs_are_refused(folder: Path, tmp_path: Path) -> None:
    other = shutil.copytree(
        SOURCE, tmp_path / "src", ignore=shutil.ignore_patterns("*.nbc", "*.nbi")
    )
    with (other / "poise" / "linalg" / "status.py").open("a") as file:
        file.write("\n# another version\n")
    script = tmp_path / "start.py"
    script.write_text(
        "import os, runpy, sys\n"
        f"if os.environ.get('PMI_RANK') == '1': sys.path.insert(0, {str(other)!r})\n"
        "runpy.run_module('poise.distributed', run_name='__main__')\n"
    )
    run = mpiexec(script, "label", folder, tmp_path / "answers")
    assert run.returncode != 0
    assert "the ranks run different versions" in run.stderr


def test_too_little_memory_is_reported_before_the_start(copied: Path, tmp_path: Path) -> None:
    path = copied / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["n_entries"] = 10**15
    path.write_text(json.dumps(manifest))
    code, _, err = label(copied, tmp_path / "answers", "")
    assert code != 0
    assert "not enough memory" in err
    assert "GB are free" in err
