"""Running experiments: the same numbers whatever interrupts them, with real processes and kills."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import poise
from poise.errors import DataError, InputError, RunError
from poise.experiments import records as records_module
from poise.experiments.experiment import Experiment, Method
from poise.experiments.records import Store
from poise.experiments.runner import _place_of_next, run
from poise.experiments.worker import Unit


@dataclass(frozen=True)
class Deadly:
    """Ends its process: always, or only the first time if `marker` names a file."""

    marker: str = ""

    def __call__(self, snapshot: poise.Snapshot) -> np.ndarray:
        if snapshot.n_answers == 2 and not (self.marker and Path(self.marker).exists()):
            if self.marker:
                Path(self.marker).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return np.zeros(snapshot.graph.n_nodes)


@dataclass(frozen=True)
class Wrong:
    """Has a mistake in it."""

    def __call__(self, snapshot: poise.Snapshot) -> np.ndarray:
        raise ZeroDivisionError("division by zero")


@pytest.fixture
def small(tmp_path):
    """Three clouds of 30 points in a file, two classes, three methods."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 30)
    path = tmp_path / "clouds.npz"
    np.savez(path, X=rng.normal(size=(90, 2)) + 4 * np.eye(3)[y][:, :2], y=y)
    methods = (
        Method("norm", tau=poise.Geometric(K=3)),
        Method("sm", "margin", 0.0),
        Method("random", "random", 0.0),
    )
    return Experiment("small", str(path), methods, k=6, budget=8, initial=1, seeds=(2, 3, 5))


def numbers(folder: Path) -> list[tuple]:
    """Everything that a run wrote except times, in an order independent of the run."""
    rows = [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]
    for row in rows:
        row.pop("seconds", None)
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


def test_records_agree_with_simulate(small, tmp_path):
    records = run(small, tmp_path / "out")
    assert records.complete
    data = small.load()
    graph = poise.knn_graph(data.X, k=6)
    trace = poise.simulate(
        graph, data.classes, acquisition="margin", tau=0.0, budget=8, seed=3, initial=1
    )
    initial, queries = records.queries("sm", 3)
    assert initial == trace.initial.tolist()
    assert queries == trace.queries.tolist()
    np.testing.assert_allclose(records.accuracy("sm")[1], trace.accuracy, atol=1e-6)
    np.testing.assert_allclose(
        records.accuracy("sm", balanced=True)[1], trace.balanced_accuracy, atol=1e-6
    )
    np.testing.assert_allclose(records.explored("sm")[1], trace.clusters_seen / 3)
    row = records.trials["sm", 3][4]
    assert row["label"] == row["cluster"] == data.classes[row["node"]]
    assert records.seconds("sm").shape == (3, 8)
    again = Store(tmp_path / "out", small).read()
    assert again.trials == records.trials
    assert again.about["points"] == 90
    assert again.about["runs"][0]["seconds"] > 0


def test_processes_give_the_same_numbers(small, tmp_path):
    run(small, tmp_path / "one")
    calls = []
    run(small, tmp_path / "two", jobs=2, progress=lambda m, n, of: calls.append((m.name, n, of)))
    assert numbers(tmp_path / "one") == numbers(tmp_path / "two")
    assert {of for _, _, of in calls} == {24}
    for method in ("norm", "sm", "random"):
        counts = [n for name, n, _ in calls if name == method]
        assert counts == sorted(counts)
        assert counts[0] == 0
        assert counts[-1] == 24


def test_eigenpairs_are_found_by_one_process(small):
    """The process that has them does all units that need them, the others do the rest."""
    truncated = [Method(f"{a}-truncated", f"{a}-truncated", 0.0) for a in ("vopt", "mcvopt")]
    waiting = [(Unit(small, method, (2,), ""), 1) for method in (*small.methods, *truncated)]
    first, second = SimpleNamespace(has_eigenpairs=False), SimpleNamespace(has_eigenpairs=False)
    assert _place_of_next(waiting, first, [first, second]) == 0
    second.has_eigenpairs = True
    assert _place_of_next(waiting, first, [first, second]) == 0
    assert _place_of_next(waiting, second, [first, second]) == 3
    assert _place_of_next(waiting[3:], first, [first, second]) == 0, "better twice than idle"
    assert _place_of_next(waiting[:3], second, [first, second]) == 0


@pytest.mark.parametrize("cut", [0.15, 0.5, 0.97])
def test_an_incomplete_file_is_repaired(small, tmp_path, cut):
    run(small, tmp_path / "whole")
    folder = tmp_path / "torn"
    run(small, folder)
    lines = (folder / "records.jsonl").read_bytes()
    (folder / "records.jsonl").write_bytes(lines[: int(cut * len(lines))])
    assert not Store(folder, small).read().complete
    run(small, folder)
    assert numbers(folder) == numbers(tmp_path / "whole")


def test_trials_and_methods_can_be_added(small, tmp_path):
    folder = tmp_path / "out"
    run(replace(small, seeds=(2,)).only("sm"), folder)
    before = (folder / "records.jsonl").read_text()
    run(small, folder)
    assert (folder / "records.jsonl").read_text().startswith(before)
    run(small, tmp_path / "at once")
    assert numbers(folder) == numbers(tmp_path / "at once")
    header = json.loads((folder / "experiment.json").read_text())
    assert set(header["methods"]) == {"norm", "sm", "random"}
    assert len(header["about"]["runs"]) == 2
    # A finished experiment is read, not run.
    written = (folder / "experiment.json").read_bytes()
    assert run(small, folder).complete
    assert (folder / "experiment.json").read_bytes() == written


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"budget": 9}, "budget was 8 and is now 9"),
        ({"k": 7}, "k was 6 and is now 7"),
        ({"evaluate": ("choosing",)}, "evaluate was"),
        ({"methods": (Method("norm", tau=0.1),)}, "the method norm had other parameters"),
    ],
)
def test_a_folder_of_other_parameters(small, tmp_path, change, message):
    folder = tmp_path / "out"
    run(small.only("norm"), folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(InputError, match=message):
        run(replace(small, **change), folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_folder_of_something_else(small, tmp_path):
    (tmp_path / "experiment.json").write_text("[]")
    with pytest.raises(DataError, match="was not written by poise"):
        run(small, tmp_path)
    (tmp_path / "experiment.json").unlink()
    (tmp_path / "records.jsonl").write_text("precious")
    with pytest.raises(InputError, match=r"no experiment\.json beside it"):
        run(small, tmp_path)
    assert (tmp_path / "records.jsonl").read_text() == "precious"


def test_an_impossible_budget_leaves_nothing_behind(small, tmp_path):
    with pytest.raises(InputError, match="at most 88"):
        run(replace(small, budget=89), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_dead_worker_loses_its_unit(small, tmp_path):
    deadly = replace(small, methods=(*small.methods, Method("deadly", Deadly())))
    with pytest.raises(RunError, match=r"1 of 4 units failed.*deadly \(its process ended with"):
        run(deadly, tmp_path / "out", jobs=2)
    run(small, tmp_path / "alone")
    assert numbers(tmp_path / "out") == numbers(tmp_path / "alone")


def test_a_unit_is_tried_again_after_its_worker_died(small, tmp_path):
    deadly = replace(
        small, methods=(*small.methods, Method("deadly", Deadly(str(tmp_path / "died"))))
    )
    assert run(deadly, tmp_path / "out", jobs=2).complete
    assert (tmp_path / "died").exists()


def test_an_error_in_a_method_loses_its_unit(small, tmp_path):
    wrong = replace(small, methods=(Method("wrong", Wrong()), *small.methods))
    with pytest.raises(RunError, match="ZeroDivisionError: division by zero"):
        run(wrong, tmp_path / "out", jobs=2)
    assert Store(tmp_path / "out", small).read().complete


SCRIPT = """
import sys
from poise.cli.main import main
main(["run", *sys.argv[1:], "--jobs", "2"])
"""


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    """A command that takes seconds, and the numbers of an uninterrupted run."""
    folder = tmp_path_factory.mktemp("command")
    toml = folder / "digits.toml"
    toml.write_text(
        'data = "digits"\nk = 8\nbudget = 12\ntrials = 2\nevaluate = ["pwll"]\n'
        + "".join(
            f'[[methods]]\nname = "{name}"\nacquisition = "{name}"\n'
            for name in ("random", "norm", "margin", "entropy")
        )
    )
    words = [sys.executable, "-c", SCRIPT, str(toml), "-o"]
    subprocess.run([*words, str(folder)], check=True, stdout=subprocess.DEVNULL)
    return words, numbers(folder / "digits")


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_run_resumes(command, tmp_path, how):
    """The whole command, killed once the first trials are on disk."""
    words, whole = command
    process = subprocess.Popen(
        [*words, str(tmp_path)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    lines = tmp_path / "digits" / "records.jsonl"
    while process.poll() is None and not (lines.exists() and lines.stat().st_size):
        time.sleep(0.005)
    process.send_signal(how)
    _, said = process.communicate(timeout=60)
    if how == signal.SIGINT:
        assert process.returncode == 130
        assert said.decode().strip().endswith("run the same command again to resume")
    assert 0 < len(numbers(tmp_path / "digits")) < len(whole), "it was killed in the middle"
    subprocess.run([*words, str(tmp_path)], check=True, stdout=subprocess.DEVNULL)
    assert numbers(tmp_path / "digits") == whole


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk(small, tmp_path, monkeypatch):
    folder = tmp_path / "out"
    run(small.only("norm"), folder)
    before = (folder / "records.jsonl").read_bytes()
    real_open = Path.open

    def open_full(self, mode="r", *args, **kwargs):
        path = Path("/dev/full") if self.name == "records.jsonl" and "a" in mode else self
        return real_open(path, mode, *args, **kwargs)

    monkeypatch.setattr(records_module.Path, "open", open_full)
    with pytest.raises(DataError, match=r"No space left on device.*free some space"):
        run(small, folder)
    monkeypatch.undo()
    assert (folder / "records.jsonl").read_bytes() == before
    assert run(small, folder).complete
