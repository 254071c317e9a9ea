"""Points from .npy, Parquet and Arrow files, one or many."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.distributed.serial import build_here, clusters

import poise
from poise.distributed.shards import whole
from poise.distributed.sources import open_source
from poise.errors import InputError

arrow = pytest.importorskip("pyarrow", reason="needs the extra dask")
parquet = pytest.importorskip("pyarrow.parquet", reason="needs the extra dask")


@pytest.fixture(scope="module")
def X() -> Any:
    return clusters(500, 4)


def write_npy(folder: Path, parts: list[Any]) -> None:
    for i, part in enumerate(parts):
        np.save(folder / f"{i}.npy", part)


def table_of_lists(part: Any) -> Any:
    flat = arrow.array(part.ravel())
    lists = arrow.FixedSizeListArray.from_arrays(flat, part.shape[1])
    return arrow.table({"id": np.arange(len(part)), "vector": lists})


def write_parquet(folder: Path, parts: list[Any]) -> None:
    for i, part in enumerate(parts):
        parquet.write_table(table_of_lists(part), folder / f"{i}.parquet", row_group_size=37)


def write_numbers(folder: Path, parts: list[Any]) -> None:
    for i, part in enumerate(parts):
        columns = {f"x{j}": part[:, j] for j in range(part.shape[1])}
        parquet.write_table(arrow.table(columns), folder / f"{i}.parquet", row_group_size=64)


def write_arrow(folder: Path, parts: list[Any]) -> None:
    for i, part in enumerate(parts):
        table = table_of_lists(part)
        name = str(folder / f"{i}.arrow")
        with arrow.OSFile(name, "wb") as file, arrow.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=29)


WRITERS = [write_npy, write_parquet, write_numbers, write_arrow]


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("cuts", [[], [100], [100, 100, 301]])
def test_every_kind_of_file_gives_the_same_points(
    X: Any, tmp_path: Path, write: Any, cuts: list[int]
) -> None:
    write(tmp_path, np.split(X, cuts))
    source = open_source(tmp_path)
    assert (source.n, source.dimensions, source.dtype) == (500, 4, "float32")
    assert np.array_equal(source.read(0, 500), X)
    for first, stop in ((0, 1), (36, 38), (90, 305), (499, 500), (120, 121)):
        assert np.array_equal(source.read(first, stop), X[first:stop])


@pytest.mark.parametrize("write", WRITERS)
def test_the_graph_does_not_depend_on_the_files(X: Any, tmp_path: Path, write: Any) -> None:
    (tmp_path / "points").mkdir()
    write(tmp_path / "points", np.split(X, [200]))
    build_here(tmp_path / "points", tmp_path / "graph", reach=7)
    expected = poise.knn_graph(X, 5, backend="exact")
    assert poise.Graph.from_weights(whole(tmp_path / "graph")).fingerprint == expected.fingerprint


def test_files_are_taken_in_the_order_given(X: Any, tmp_path: Path) -> None:
    write_npy(tmp_path, [X[:100], X[100:]])
    source = open_source([tmp_path / "1.npy", tmp_path / "0.npy"])
    assert np.array_equal(source.read(0, 500), np.concatenate([X[100:], X[:100]]))


def test_numbers_are_converted_as_for_one_process(tmp_path: Path) -> None:
    for dtype, expected in (("int8", "float32"), ("float16", "float32"), ("int64", "float64")):
        np.save(tmp_path / f"{dtype}.npy", np.arange(12).reshape(4, 3).astype(dtype))
        assert open_source(tmp_path / f"{dtype}.npy").dtype == expected


def refused(tmp_path: Path, message: str, source: Any = None, **settings: Any) -> None:
    with pytest.raises(InputError, match=message):
        open_source(source or tmp_path, **settings).read(0, 2)


def test_invalid_sources_are_refused(X: Any, tmp_path: Path) -> None:
    refused(tmp_path, "there are no files ending in")
    refused(tmp_path, "there is no file", tmp_path / "X.npy")
    (tmp_path / "X.txt").write_text("1 2 3")
    refused(tmp_path, "does not end in", tmp_path / "X.txt")
    np.save(tmp_path / "flat.npy", np.arange(5.0))
    refused(tmp_path, r"has shape \(5,\): expected one row per point", tmp_path / "flat.npy")
    for name in ("broken.npy", "broken.parquet", "broken.arrow"):
        (tmp_path / name).write_bytes(b"nothing of the kind")
        refused(tmp_path, "cannot be read as", tmp_path / name)
    refused(tmp_path, "files of several kinds")


def test_points_of_other_dimensions_are_refused(X: Any, tmp_path: Path) -> None:
    write_npy(tmp_path, [X[:1], X[:, :3]])
    refused(tmp_path, r"1\.npy holds 3 numbers per point and .*0\.npy 4")


def test_a_table_with_two_columns_of_lists_needs_a_name(X: Any, tmp_path: Path) -> None:
    vectors = table_of_lists(X)["vector"]
    table = arrow.table({"a": vectors, "b": vectors})
    parquet.write_table(table, tmp_path / "X.parquet")
    refused(tmp_path, r"several columns of lists \(a, b\)")
    assert np.array_equal(open_source(tmp_path, column="b").read(0, 500), X)
    refused(tmp_path, "has no column 'c'", column="c")
