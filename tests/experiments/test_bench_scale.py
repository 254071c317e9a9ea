"""``poise bench scale``: points that can be made again, recall, records that are kept."""

import json

import numpy as np
import pytest

from poise.cli.main import main
from poise.experiments.bench.scale import clusters, run
from poise.experiments.bench.scale.recall import recall, true_distances
from poise.experiments.bench.scale.tables import exponents
from poise.graph import knn_graph


@pytest.fixture
def poise(capsys):
    """Run a command: its exit code, stdout and stderr."""

    def command(*arguments):
        with pytest.raises(SystemExit) as ended:
            main(["bench", "scale", *arguments])
        return ended.value.code or 0, *capsys.readouterr()

    return command


def test_points_depend_on_the_seed_and_more_points_begin_with_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(clusters, "BLOCK", 512)
    few, _ = clusters.clustered_points(tmp_path / "a", 700)
    many, classes = clusters.clustered_points(tmp_path / "b", 1_500)
    X, y = np.load(many), np.load(classes)
    assert (X.dtype, X.shape) == (np.float32, (1_500, 64))
    np.testing.assert_array_equal(np.load(few), X[:700])
    assert set(y.tolist()) == set(range(10))
    other, _ = clusters.clustered_points(tmp_path / "c", 700, seed=1)
    assert not np.array_equal(np.load(other), X[:700])


def test_ten_neighbours_give_a_connected_graph(tmp_path):
    points, _ = clusters.clustered_points(tmp_path, 5_000)
    assert knn_graph(np.load(points), 10).n_components == 1


def test_recall_is_the_share_of_true_neighbours(tmp_path, monkeypatch):
    points, _ = clusters.clustered_points(tmp_path, 3_000)
    monkeypatch.setattr("poise.experiments.bench.scale.recall.BLOCK", 1_000)
    rows, kth = true_distances(points, 10)
    lists = knn_graph(np.load(points), 10, keep_neighbours=True).neighbours.indices[rows].copy()
    assert recall(points, lists, rows, kth, 10) == 1
    with_self = np.hstack([rows[:, None], lists])  # as graphlearning lists them
    assert recall(points, with_self, rows, kth, 10) == 1
    lists[:, :5] = rows[:, None]
    assert recall(points, lists, rows, kth, 10) == 0.5


def test_measured_sizes_are_kept_and_not_measured_again(poise, tmp_path, monkeypatch):
    asked = ["--sizes", "1500", "--questions", "2", "--no-peer", "-o", str(tmp_path)]
    code, out, err = poise(*asked)
    assert code == 0, err
    assert err.startswith("1500: about ")
    for figure in ("recall", "norm: first question", "auto: a further question", "peak memory"):
        assert figure in out
    record = json.loads((tmp_path / "1500.json").read_text())
    assert record["graph"]["recall"] == 1
    assert record["graph"]["components"] == 1
    assert len(record["questions"]["auto"]["all"]) == 3

    def never(*given):
        raise AssertionError("it is on record")

    monkeypatch.setattr(run, "measure", never)
    code, out, err = poise(*asked, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out) == [record]


def test_a_size_that_does_not_fit_is_refused(poise, tmp_path, monkeypatch):
    monkeypatch.setattr("poise.machine.available_memory", lambda: 10**9)
    code, _, err = poise("--sizes", "4_000_000", "-o", str(tmp_path))
    assert code == 1
    assert "the size 4000000 needs about" in err
    assert "1.0 GB are free" in err
    assert not list(tmp_path.glob("*.json"))


def test_an_unknown_data_set_is_refused(poise, tmp_path):
    code, _, err = poise("--sizes", "nmist", "-o", str(tmp_path))
    assert code == 2
    assert "did you mean mnist" in err


@pytest.mark.parametrize("power", [1.0, 1.5])
def test_powers_are_fitted(power):
    def record(n):
        found = {"first": 3e-6 * n**power, "later": 1e-6 * n**power, "whole_peak": 1e-3 * n}
        return {
            "name": str(n),
            "n": n,
            "graph": {"search": 1e-5 * n, "recall": 1.0, "weights": 1e-6 * n, "peak": 1e-3 * n},
            "set_up": {"seconds": 1e-7 * n, "peak": 1e-3 * n},
            "questions": {"auto": found},
        }

    found = {what: ours for what, ours, _ in exponents([record(10**4), record(10**6)])}
    assert found["auto: a further question, s"] == pytest.approx(power)
    assert found["neighbour search, s"] == pytest.approx(1)
    assert "recall" not in found
