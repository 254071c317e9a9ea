"""The graph built cell by cell, compared with the one of a single process."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from tests.distributed.serial import build_here, clusters

import poise
from poise.distributed.recall import lists_of
from poise.distributed.shards import read_manifest, read_rows, whole
from poise.distributed.tasks import attempts, folder_of
from poise.errors import GraphError, InputError


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
@pytest.mark.parametrize(("n", "d", "cells"), [(400, 3, 5), (600, 15, 9), (300, 2, 1)])
def test_exact_cells_give_the_graph_of_one_process(
    tmp_path: Path, n: int, d: int, cells: int, metric: str
) -> None:
    X = clusters(n, d)
    manifest = build_here(X, tmp_path, cells=cells, reach=cells, metric=metric)
    expected = poise.knn_graph(X, 5, metric=metric, backend="exact")
    assert poise.Graph.from_weights(whole(tmp_path)).fingerprint == expected.fingerprint
    assert manifest.report["recall"] == 1.0
    assert manifest.report["covered"] == 1.0
    assert manifest.report["n_components"] == expected.n_components
    assert manifest.report["largest_components"] == expected.component_sizes[:10].tolist()
    assert manifest.report["neighbours"]["largest"] == expected.report().neighbours[2]
    assert manifest.report["degrees"]["largest"] == pytest.approx(expected.degrees.max())


@pytest.mark.parametrize("kernel", ["symmetric", "uniform", "distance", "singular"])
@pytest.mark.parametrize("symmetrise", ["auto", "mean", "max", "min"])
def test_every_kernel_and_symmetry(tmp_path: Path, kernel: str, symmetrise: Any) -> None:
    X = clusters(300, 3).astype(np.float64)
    build_here(X, tmp_path, cells=4, reach=4, kernel=kernel, symmetrise=symmetrise)
    expected = poise.knn_graph(X, 5, kernel=kernel, symmetrise=symmetrise, backend="exact")
    assert poise.Graph.from_weights(whole(tmp_path)).fingerprint == expected.fingerprint


def test_coinciding_points(tmp_path: Path) -> None:
    X = clusters(300, 4)
    X = np.concatenate([X[:150], np.repeat(X[7:8], 3, axis=0), X[150:]])
    build_here(X, tmp_path, reach=7)
    expected = poise.knn_graph(X, 5, backend="exact")
    assert poise.Graph.from_weights(whole(tmp_path)).fingerprint == expected.fingerprint


@pytest.mark.parametrize("kernel", ["gaussian", "symmetric"])
def test_points_without_a_scale_get_one_from_other_cells(tmp_path: Path, kernel: str) -> None:
    # Ten equal points list each other only; one point beside them, in another cell, lists eight.
    far = clusters(40, 2) + 100
    X = np.concatenate([np.zeros((10, 2)), far, [[1.0, 0.0]]]).astype(np.float32)
    manifest = build_here(X, tmp_path, k=8, reach=7, kernel=kernel)
    expected = poise.knn_graph(X, 8, kernel=kernel, backend="exact")
    assert poise.Graph.from_weights(whole(tmp_path)).fingerprint == expected.fingerprint
    assert manifest.report["coinciding"] == 10


def test_a_large_group_of_coinciding_points(tmp_path: Path) -> None:
    X = clusters(300, 4)
    X = np.concatenate([X[:150], np.repeat(X[7:8], 1200, axis=0), X[150:]])
    report = build_here(X, tmp_path, reach=7, checked=0).report
    expected = poise.knn_graph(X, 5, backend="exact", keep_neighbours=True).neighbours
    assert expected is not None
    nodes = read_rows(tmp_path, 0, len(X)).nodes
    # Which of 1201 equal points another one lists is open; how far away it lies is not.
    for distances, node in zip(lists_of(tmp_path, np.arange(len(X))), nodes, strict=True):
        assert np.array_equal(np.sort(distances), expected.distances[node])
    assert report["coinciding"] == 1201
    assert report["neighbours"]["median"] <= 10  # in a circle, not all to the first ones


def test_cells_smaller_than_k(tmp_path: Path) -> None:
    X = clusters(60, 3)
    build_here(X, tmp_path, k=20, cells=20, reach=20)
    expected = poise.knn_graph(X, 20, backend="exact")
    assert poise.Graph.from_weights(whole(tmp_path)).fingerprint == expected.fingerprint


def test_a_short_reach_finds_most_and_says_how_many(tmp_path: Path) -> None:
    X = clusters(3_000, 8)
    manifest = build_here(X, tmp_path, k=10, cells=10, reach=4, checked=3_000)
    exact = poise.knn_graph(X, 10, backend="exact", keep_neighbours=True).neighbours
    assert exact is not None
    W = whole(tmp_path)
    rows = np.repeat(np.arange(3_000), 10)
    joined = np.asarray(sparse.csr_array(W)[rows, exact.indices.ravel()]) > 0
    report = manifest.report
    # A true neighbour may be joined from its side alone, so as many are joined as found, or more.
    assert 0.95 <= report["recall"] <= joined.mean() < 1.0
    assert report["covered"] < 1.0
    assert report["visits_per_point"] <= 3
    # A point is covered where its list is proved, so no more lists than those can be exact.
    assert report["covered"] <= report["recall"]


def test_a_reach_of_one_searches_the_own_cell_only(tmp_path: Path) -> None:
    report = build_here(clusters(600, 8), tmp_path, cells=10, reach=1, checked=600).report
    assert report["visits_per_point"] == 0
    assert report["recall"] < 0.9
    assert any("use a reach above 1" in sentence for sentence in report["advice"])


def test_the_same_seed_makes_the_same_graph(tmp_path: Path) -> None:
    X = clusters(900, 5)
    again = [build_here(X, tmp_path / str(i), seed=s).fingerprint for i, s in enumerate((1, 1, 2))]
    assert again[0] == again[1] != again[2]


def hub_points() -> Any:
    """A point amid a sphere: in many dimensions it is the nearest neighbour of all others."""
    rng = np.random.default_rng(0)
    sphere = rng.normal(size=(500, 40))
    sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
    return np.concatenate([np.zeros((1, 40)), sphere])


def test_hubs_are_capped_and_no_point_loses_all_edges(tmp_path: Path) -> None:
    X = hub_points()
    free = build_here(X, tmp_path / "free", reach=7)
    capped = build_here(X, tmp_path / "capped", reach=7, most_incoming=20)
    assert free.report["hubs"] == {
        "listed_by_most": 500, "limit": None, "capped": 0, "edges_dropped": 0,
    }  # fmt: skip
    assert free.report["neighbours"]["largest"] == 500
    assert any("such hubs" in sentence for sentence in free.report["advice"])
    W, full = whole(tmp_path / "capped"), whole(tmp_path / "free")
    assert abs(W - W.T).max() == 0
    assert capped.report["hubs"]["capped"] >= 1
    assert capped.report["hubs"]["edges_dropped"] >= 480
    assert capped.report["neighbours"]["largest"] < 60
    assert capped.report["isolated"] == 0
    assert (full < W).nnz == 0  # an edge is as it was, has lost a direction, or is gone
    assert any("edges were dropped" in sentence for sentence in capped.report["advice"])


def test_points_that_know_only_a_hub_keep_it(tmp_path: Path) -> None:
    # With k = 1 the point amid the sphere is all that the others list.
    free = build_here(hub_points(), tmp_path / "free", k=1, reach=7)
    capped = build_here(hub_points(), tmp_path / "capped", k=1, reach=7, most_incoming=5)
    assert capped.report["hubs"]["capped"] == 1
    assert capped.report["hubs"]["edges_dropped"] == 0
    assert capped.fingerprint == free.fingerprint


def test_mutual_neighbours_have_no_hubs(tmp_path: Path) -> None:
    report = build_here(hub_points(), tmp_path, reach=7, symmetrise="min").report
    assert report["neighbours"]["largest"] <= 5


def test_components_across_shards(tmp_path: Path) -> None:
    X = np.concatenate([clusters(300, 3), clusters(200, 3) + 100, clusters(100, 3) + 200])
    report = build_here(X, tmp_path, cells=9, reach=9).report
    assert report["n_components"] == 3
    assert report["largest_components"] == [300, 200, 100]
    assert any("3 components" in sentence for sentence in report["advice"])


def test_rows_are_numbered_by_cell(tmp_path: Path) -> None:
    manifest = build_here(clusters(2_000, 4), tmp_path, cells=8)
    assert len(manifest.shards) == 8
    assert manifest.report["entries_within_shards"] > 0.6  # 1/8 by chance


def test_a_second_run_does_nothing_again(tmp_path: Path) -> None:
    X = clusters(500, 4)
    first = build_here(X, tmp_path)
    second = build_here(tmp_path / "X.npy", tmp_path)
    assert first == second
    assert all(attempts("home", tmp_path, cell) == 1 for cell in range(7))
    assert first.report["tasks_repeated"] == 0


@pytest.mark.parametrize("stage", ["home", "visits", "edges", "rows", "centres", "blocks"])
def test_a_damaged_file_of_unfinished_work_is_made_again(tmp_path: Path, stage: str) -> None:
    X = clusters(500, 4)
    first = build_here(X, tmp_path)
    task_folder = folder_of(stage, tmp_path, 0)
    file = max(task_folder.glob("*.npy"), key=lambda path: path.stat().st_size)
    file.write_bytes(file.read_bytes()[:-8])
    second = build_here(tmp_path / "X.npy", tmp_path)
    assert second.fingerprint == first.fingerprint
    assert attempts(stage, tmp_path, 0) == 2
    assert attempts("received", tmp_path, 0) == 1


def test_a_damaged_shard_of_the_graph_is_refused_by_name(tmp_path: Path) -> None:
    build_here(clusters(500, 4), tmp_path)
    file = tmp_path / "part-00003" / "data.npy"
    file.write_bytes(file.read_bytes()[:-8])
    with pytest.raises(GraphError, match=r"part-00003/data\.npy has .* truncated"):
        whole(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [({"k": 6}, "k: 5 and 6"), ({"reach": 2}, "reach: 4 and 2"), ({"seed": 3}, "seed: 0 and 3")],
)
def test_unfinished_work_of_other_settings_is_refused(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    build_here(clusters(500, 4), tmp_path)
    with pytest.raises(InputError, match=message):
        build_here(tmp_path / "X.npy", tmp_path, **change)


def test_work_on_files_that_changed_is_refused(tmp_path: Path) -> None:
    build_here(clusters(500, 4), tmp_path)
    with pytest.raises(InputError, match="the files as they were and the files as they are now"):
        build_here(clusters(501, 4), tmp_path)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"k": 500}, "k is 500 and there are 500 points"),
        ({"metric": "jaccard"}, "no metric for several machines is called 'jaccard'"),
        ({"kernel": "bell"}, "bell"),
        ({"kernel": np.exp}, "expected a name"),
        ({"reach": 0}, "reach is 0"),
        ({"cells": 0}, "cells is 0"),
        ({"most_incoming": 0}, "most_incoming is 0"),
        ({"backend": "gpu"}, "gpu"),
        ({"symmetrise": "sum"}, "symmetrise is 'sum'"),
    ],
)
def test_wrong_settings_are_refused(tmp_path: Path, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        build_here(clusters(500, 4), tmp_path, **settings)


def test_infinite_values_are_refused_with_their_file(tmp_path: Path) -> None:
    X = clusters(500, 4)
    X[123, 2] = np.nan
    with pytest.raises(InputError, match=r"X\.npy, from row 0: the part contains NaN.* row 123"):
        build_here(X, tmp_path)


def test_the_manifest_is_written_last(tmp_path: Path) -> None:
    X = clusters(500, 4)
    X[123, 2] = np.nan
    with pytest.raises(InputError):
        build_here(X, tmp_path)
    with pytest.raises(GraphError, match=r"no manifest\.json"):
        read_manifest(tmp_path)
