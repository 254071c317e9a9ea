"""Other libraries in the benchmark of label efficiency, on trials small enough to check by eye."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from poise import knn_graph
from poise.experiments.efficiency import peer_curves, peers
from poise.experiments.efficiency.peer_curves import (
    PEER_POINTS,
    Need,
    candidates,
    checkpoints,
    features,
    share_right,
)
from poise.experiments.efficiency.peers import (
    PEERS,
    PeerUnit,
    missing_peer_units,
    peer_lines,
    run_peer_unit,
)
from poise.experiments.efficiency.sets import Pool
from poise.experiments.efficiency.trials import BUDGETS, Trial

CENTRES = np.array([[0.0, 0, 0], [6, 0, 0], [0, 6, 0]])
NEEDS = {"activeml": "skactiveml", "modal": "modAL"}


def make_trial(name="tiny", number=0, classes=(0, 1, 2), n=80):
    """Three distant groups of points, with a class for each group."""
    rng = np.random.default_rng([number, n])
    groups = np.arange(n) % 3
    X = (CENTRES[groups] + 0.5 * rng.normal(size=(n, 3)) + 1).astype(np.float32)
    codes = np.asarray(classes)[groups]
    return Trial(Pool(name), number, knn_graph(X, 8), {0: codes})


@pytest.fixture(params=PEERS)
def peer(request):
    library = request.param.split("-")[0]
    if library in NEEDS:
        pytest.importorskip(NEEDS[library], reason="needs the extra bench")
    return PEERS[request.param]


@pytest.fixture
def tiny(monkeypatch):
    """The tiny trial in place of all pools."""
    monkeypatch.setattr(peers, "make_trial", make_trial)
    monkeypatch.setitem(peers.POOLS, "tiny", Pool("tiny"))


def test_the_peers_by_name():
    asks = {name.split("-")[1] for name in PEERS if name.startswith("activeml-")}
    assert asks == {"typiclust", "probcover", "maxherding", "dropquery", "badge"}
    assert set(PEERS) > {"modal-margin", "sklearn-label-spreading", "sklearn-self-training"}


def test_a_peer_learns_groups_far_apart(peer):
    """After 30 labels of 80 points in three groups, the rest is known."""
    trial = make_trial()
    accuracy = peer.run(trial, trial.classes[0], 30)
    assert len(accuracy) == len([b for b in BUDGETS if b <= 30])
    assert all(0 <= value <= 1 for value in accuracy)
    assert accuracy[-1] > 0.95


def test_a_peer_is_deterministic(peer):
    first, again = (make_trial(number=3) for _ in range(2))
    assert peer.run(first, first.classes[0], 15) == peer.run(again, again.classes[0], 15)


def test_a_peer_asks_until_one_point_is_left(peer):
    trial = make_trial(n=16)
    assert len(peer.run(trial, trial.classes[0], 100)) == len([5, 10, 15])


def test_a_peer_starts_with_one_class(peer):
    """An unseen second class is not an error, and a single class is predicted correctly."""
    trial = make_trial(classes=(0, 0, 0))
    assert peer.run(trial, trial.classes[0], 10) == [1.0, 1.0]


def test_warnings_are_shown_again_after_a_peer(peer):
    trial = make_trial()
    peer.run(trial, trial.classes[0], 5)
    with pytest.warns(UserWarning, match="heard"):
        warnings.warn("heard", stacklevel=1)


def test_share_right_leaves_labelled_points_out():
    assert share_right([0, 1, 1, 0], np.array([0, 1, 0, 1]), np.array([0])) == pytest.approx(1 / 3)


def test_checkpoints():
    trial = make_trial(n=20)
    assert checkpoints(trial, 100) == [5, 10, 15]
    assert checkpoints(trial, 12) == [5, 10]
    assert checkpoints(trial, 4) == []


def test_candidates_are_a_part_of_the_trial():
    trial, other = make_trial(), make_trial(number=1)
    assert candidates(trial, 100).tolist() == list(range(80))
    part = candidates(trial, 30)
    assert len(np.unique(part)) == 30
    assert (part == candidates(trial, 30)).all()
    assert not np.array_equal(part, candidates(other, 30))


def test_features_are_scaled_by_one_number():
    trial = make_trial()
    X = features(trial)
    assert X.dtype == np.float64
    assert X.var(axis=0).mean() == pytest.approx(1)
    ratio = X / trial.X
    np.testing.assert_allclose(ratio, ratio[0, 0], rtol=1e-6)


def test_constant_features():
    trial = make_trial()
    same = np.ones((80, 3), dtype=np.float32)
    constant = Trial(trial.pool, 0, replace(trial.graph, features=same), trial.classes)
    assert (features(constant) == 1).all()


@pytest.mark.parametrize(
    ("need", "n_candidates", "reason"),
    [
        (Need("", 10**6, 10, 100), 10**6, ""),
        (Need("n x n", 6_000, 10, 100), 6_000, ""),
        (Need("n x n", 20_000, 10, 100), PEER_POINTS,
         "needs n x n arrays: 3.2 GB at 20,000 points"),
        (Need("n x C x d", 20_000, 47, 20), 20_000, ""),
        (Need("n x C x d", 20_000, 1_000, 2_000), 0,
         "needs n x C x d arrays: 80.0 GB at 5,000 points"),
    ],
)  # fmt: skip
def test_memory(need, n_candidates, reason):
    assert need.n_candidates == n_candidates
    assert need.reason == reason


def test_a_peer_without_memory_chooses_from_a_part(tiny, monkeypatch):
    pytest.importorskip("skactiveml", reason="needs the extra bench")
    monkeypatch.setattr(peer_curves, "MAX_ARRAY_BYTES", 8 * 40**2)
    monkeypatch.setattr(peer_curves, "PEER_POINTS", 40)
    (row,) = run_peer_unit(PeerUnit("tiny", 0, "activeml-maxherding-logistic", (0,), 20))
    assert (row["points"], row["candidates"]) == (80, 40)
    assert row["limit"] == "needs n x n arrays: 0.0 GB at 80 points"
    assert row["labels"] == [5, 10, 15, 20]
    # Accuracy is that of all points that are not labelled, not of the 40.
    assert all((np.array(row["accuracy"]) * (80 - np.array(row["labels"]))).round(3) % 1 < 0.01)


def test_a_skipped_peer_says_why_and_is_not_tried_again(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(peer_curves, "MAX_ARRAY_BYTES", 0)
    lines = peer_lines(tmp_path)
    names = ["activeml-badge-logistic", "sklearn-label-spreading"]
    for unit in list(missing_peer_units(lines, ["tiny"], names, trials=1, budget=10)):
        lines.add(run_peer_unit(unit))
    assert peer_lines(tmp_path).rows[("tiny", 0, "activeml-badge-logistic")] == {
        "set": "tiny",
        "trial": 0,
        "method": "activeml-badge-logistic",
        "points": 80,
        "skipped": "needs n x C x d arrays: 0.0 GB at 80 points",
    }
    assert list(missing_peer_units(peer_lines(tmp_path), ["tiny"], names, 1, 10)) == []


def test_measuring_resumes(tiny, tmp_path):
    name = "sklearn-self-training"
    lines = peer_lines(tmp_path)
    (unit,) = missing_peer_units(lines, ["tiny"], [name], trials=1, budget=10)
    assert unit == PeerUnit("tiny", 0, name, (0,), 10)
    lines.add(run_peer_unit(unit))
    row = lines.rows[("tiny", 0, name)]
    assert row["labels"] == [5, 10]
    assert len(row["accuracy"]) == 2
    assert row["note"] == "random labels"
    assert "limit" not in row
    again = peer_lines(tmp_path)
    assert list(missing_peer_units(again, ["tiny"], [name], trials=1, budget=10)) == []
    assert len(list(missing_peer_units(again, ["tiny"], [name], trials=2, budget=10))) == 1
    assert len(list(missing_peer_units(again, ["tiny"], [name], trials=1, budget=20))) == 1
