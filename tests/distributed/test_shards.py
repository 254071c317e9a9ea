"""The partitioned graph on disk: round trips, and errors that name the damaged file."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import poise
from poise.distributed.shards import (
    Rows,
    check_shard,
    from_graph,
    read_manifest,
    read_rows,
    whole,
    write_manifest,
    write_shard,
)
from poise.errors import GraphError


@pytest.fixture(scope="module")
def graph() -> poise.Graph:
    return poise.knn_graph(np.random.default_rng(0).normal(size=(101, 3)), k=5)


@pytest.fixture
def folder(graph: poise.Graph, tmp_path: Path) -> Path:
    from_graph(graph, tmp_path / "graph", shards=3)
    return tmp_path / "graph"


def test_a_graph_comes_back_in_the_order_of_the_items(graph: poise.Graph, folder: Path) -> None:
    assert poise.Graph.from_weights(whole(folder)).fingerprint == graph.fingerprint


def test_the_manifest_says_how_the_graph_was_made(graph: poise.Graph, folder: Path) -> None:
    manifest = read_manifest(folder)
    assert (manifest.n_nodes, manifest.n_entries) == (101, graph.weights.nnz)
    assert (manifest.k, manifest.metric, manifest.kernel) == (5, "euclidean", "gaussian")
    assert manifest.symmetrise == "mean"
    assert manifest.poise == poise.__version__
    assert [shard.name for shard in manifest.shards] == ["part-00000", "part-00001", "part-00002"]
    assert sum(shard.n_entries for shard in manifest.shards) == manifest.n_entries


@pytest.mark.parametrize("bounds", [(0, 101), (0, 1), (30, 40), (20, 80), (33, 67), (50, 50)])
def test_any_range_of_rows_can_be_read(
    graph: poise.Graph, folder: Path, bounds: tuple[int, int]
) -> None:
    everything = read_rows(folder, 0, 101)
    rows = read_rows(folder, *bounds)
    nodes = everything.nodes
    assert np.array_equal(rows.nodes, nodes[slice(*bounds)])
    assert rows.indptr[0] == 0
    assert rows.indptr.size == rows.nodes.size + 1
    for i, node in enumerate(rows.nodes):
        near = slice(rows.indptr[i], rows.indptr[i + 1])
        dense = np.zeros(101)
        dense[nodes[rows.indices[near]]] = rows.data[near]
        assert np.array_equal(dense, graph.weights[[node]].toarray()[0])


def test_rows_of_one_shard_are_mapped_and_64_bits_wide(folder: Path) -> None:
    rows = read_rows(folder, 2, 9)
    assert isinstance(rows.data, np.memmap)
    assert {rows.indptr.dtype, rows.indices.dtype, rows.nodes.dtype} == {np.dtype(np.int64)}


def test_the_order_keeps_neighbours_together(graph: poise.Graph, folder: Path) -> None:
    rows = read_rows(folder, 0, 101)
    places = np.repeat(np.arange(101), np.diff(rows.indptr))
    i, j = graph.weights.nonzero()
    assert np.abs(places - rows.indices).mean() < 0.5 * np.abs(i - j).mean()


def test_the_same_graph_has_the_same_fingerprint(
    graph: poise.Graph, folder: Path, tmp_path: Path
) -> None:
    again = from_graph(graph, tmp_path / "again", shards=3)
    other = from_graph(graph, tmp_path / "other", shards=2)
    assert again == read_manifest(folder)
    assert other.fingerprint != again.fingerprint


def test_rows_that_are_not_there_are_refused(folder: Path) -> None:
    with pytest.raises(GraphError, match="no rows 90 to 102 in a graph of 101 nodes"):
        read_rows(folder, 90, 102)


def test_a_folder_without_a_manifest_is_not_finished(folder: Path) -> None:
    (folder / "manifest.json").unlink()
    with pytest.raises(GraphError, match=r"there is no manifest\.json"):
        read_manifest(folder)


def test_shards_must_follow_each_other(tmp_path: Path) -> None:
    rows = Rows(np.zeros(3, np.int64), np.empty(0, np.int64), np.empty(0), np.arange(2))
    with pytest.raises(GraphError, match=r"part-00001 holds rows 3 to 5: expected .* row 2"):
        write_manifest(
            tmp_path, [write_shard(tmp_path, 0, 0, rows), write_shard(tmp_path, 1, 3, rows)],
            k=1, metric=None, kernel=None, symmetrise=None,
        )  # fmt: skip
    assert not (tmp_path / "manifest.json").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "has format 2 and this poise reads format 1"),
        ({"shards": None}, "is damaged"),
        ({"n_nodes": 102}, "hold 101 rows and the manifest says 102"),
        ({"fingerprint": "0" * 64}, "do not add up to its fingerprint"),
        ({"colour": "red"}, "is damaged"),
    ],
)
def test_a_changed_manifest_is_refused(
    folder: Path, change: dict[str, object], message: str
) -> None:
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(GraphError, match=message):
        read_manifest(folder)


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b"{"])
def test_a_file_that_is_not_a_manifest_is_refused(folder: Path, content: bytes) -> None:
    (folder / "manifest.json").write_bytes(content)
    with pytest.raises(GraphError, match="manifest"):
        read_manifest(folder)


def damage_by_removal(path: Path) -> None:
    path.unlink()


def damage_by_truncation(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-8])


def damage_by_a_flipped_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("file", ["indptr.npy", "indices.npy", "data.npy", "nodes.npy"])
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (damage_by_removal, "cannot be found"),
        (damage_by_truncation, "truncated"),
        (damage_by_a_flipped_bit, "another checksum"),
    ],
)
def test_a_damaged_file_is_named(folder: Path, file: str, damage: object, message: str) -> None:
    assert callable(damage)
    damage(folder / "part-00001" / file)
    shards = read_manifest(folder).shards
    check_shard(folder, shards[0])
    with pytest.raises(GraphError, match=re.escape(f"part-00001/{file}") + f".*{message}"):
        check_shard(folder, shards[1])
    with pytest.raises(GraphError, match=re.escape(f"part-00001/{file}")):
        read_rows(folder, 0, 101)
    assert read_rows(folder, 0, 5).nodes.size == 5  # another shard's damage does not matter here


def test_a_shard_of_another_graph_is_refused(folder: Path, tmp_path: Path) -> None:
    other = poise.knn_graph(np.random.default_rng(1).normal(size=(101, 3)), k=5)
    from_graph(other, tmp_path / "other", shards=3)
    for path in (tmp_path / "other" / "part-00002").iterdir():
        path.replace(folder / "part-00002" / path.name)
    with pytest.raises(GraphError, match=r"part-00002/.* of another graph"):
        whole(folder)
