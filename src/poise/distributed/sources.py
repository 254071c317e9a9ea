"""Vectors in files that may be larger than memory: .npy, Parquet or Arrow, one file or many."""

import os
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from poise.data.columns import no_column
from poise.errors import FeatureError, InputError
from poise.extras import needed
from poise.graph.features import check_features
from poise.graph.metrics import FloatArray

ENDINGS = {".npy": "npy", ".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow"}


@dataclass(frozen=True)
class SourceFile:
    """One file, and what shows whether it was changed: rows, bytes, time of the last change."""

    path: str
    rows: int
    bytes: int
    changed: int


@dataclass(frozen=True)
class Source:
    """Points as rows of files, one file after another.

    Parameters
    ----------
    files : tuple of SourceFile
    dimensions : int
    dtype : str
        Type of the points: "float32" or "float64".
    column : str, optional
        Column of a table with the points as lists; without it, all columns are numbers.
    """

    files: tuple[SourceFile, ...]
    dimensions: int
    dtype: str
    column: str | None = None

    @property
    def n(self) -> int:
        """Number of points."""
        return sum(file.rows for file in self.files)

    def read(self, first: int, stop: int) -> FloatArray:
        """Points first to stop - 1, checked as `poise.knn_graph` checks them."""
        parts = [
            check_part(read_part(file.path, begin, end, self.column), file.path, begin)
            for file, begin, end in self._parts(first, stop)
        ]
        for part, (file, _, _) in zip(parts, self._parts(first, stop), strict=True):
            if part.shape[1] != self.dimensions:
                raise FeatureError(
                    f"{file.path} holds {part.shape[1]} numbers per point and {self.files[0].path} "
                    f"{self.dimensions}: give files of the same kind of points"
                )
        points = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return np.asarray(points, dtype=self.dtype)

    def _parts(self, first: int, stop: int) -> Iterator[tuple[SourceFile, int, int]]:
        begin = 0
        for file in self.files:
            low, high = max(first, begin), min(stop, begin + file.rows)
            if low < high:
                yield file, low - begin, high - begin
            begin += file.rows


def open_source(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], column: str | None = None
) -> Source:
    """Describe files of points without reading them whole.

    Parameters
    ----------
    source : path or list of paths
        A .npy file of shape (n, d), a Parquet or an Arrow (Feather 2) file, a folder of files of
        one of these kinds, read in the order of their names, or a list of files.
    column : str, optional
        Column with the points as lists. By default the only column of lists, or all columns, which
        then hold numbers.
    """
    paths = list_files(source)
    column = point_column(paths[0], column)
    files = []
    for path in paths:
        about = path.stat()
        rows = count_rows(path)
        files.append(SourceFile(str(path.resolve()), rows, about.st_size, about.st_mtime_ns))
    if not sum(file.rows for file in files):
        raise InputError(f"{source} holds no points")
    begun = next(file for file in files if file.rows)
    sample = check_part(read_part(begun.path, 0, 1, column), begun.path, 0)
    return Source(tuple(files), sample.shape[1], sample.dtype.name, column)


def list_files(source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[Path]:
    """The files that `source` names, all of one kind."""
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if path.is_dir():
            paths = sorted(p for p in path.iterdir() if p.suffix.lower() in ENDINGS)
        else:
            paths = [path]
    else:
        paths = [Path(p) for p in source]
    if not paths:
        raise InputError(
            f"there are no files ending in {', '.join(ENDINGS)} in {source}: give a file or a "
            "folder of points"
        )
    for path in paths:
        if not path.is_file():
            raise InputError(f"there is no file {str(path)!r}: check the path")
    if len({ENDINGS.get(path.suffix.lower()) for path in paths}) > 1:
        raise InputError(f"{source} holds files of several kinds: give files of one kind")
    if paths[0].suffix.lower() not in ENDINGS:
        raise InputError(
            f"{paths[0]} does not end in {', '.join(ENDINGS)}: only such files are read"
        )
    return paths


def count_rows(path: Path) -> int:
    """Number of points in a file, from its header."""
    kind = ENDINGS[path.suffix.lower()]
    if kind == "npy":
        array = _mapped(str(path))
        if array.ndim != 2:
            raise InputError(f"{path} has shape {array.shape}: expected one row per point")
        return int(array.shape[0])
    if kind == "parquet":
        with _parquet(str(path)) as file:
            return int(file.metadata.num_rows)
    with _arrow(str(path)) as reader:
        return sum(reader.get_batch(i).num_rows for i in range(reader.num_record_batches))


def point_column(path: Path, column: str | None) -> str | None:
    """The column of a table that holds the points as lists, or None if all hold numbers."""
    kind = ENDINGS[path.suffix.lower()]
    if kind == "npy":
        return None
    if kind == "parquet":
        with _parquet(str(path)) as file:
            schema = file.schema_arrow
    else:
        with _arrow(str(path)) as reader:
            schema = reader.schema
    if column is not None:
        if column not in schema.names:
            raise no_column(path, column, schema.names)
        return column
    types = needed("pyarrow.types", "dask", f"reading {path}")
    tests = (types.is_list, types.is_large_list, types.is_fixed_size_list)
    lists = [field.name for field in schema if any(test(field.type) for test in tests)]
    if len(lists) > 1:
        raise InputError(
            f"{path} has several columns of lists ({', '.join(lists)}): say which holds the points "
            "(column=, --column)"
        )
    return lists[0] if lists else None


def read_part(path: str, first: int, stop: int, column: str | None) -> Any:
    """Rows first to stop - 1 of one file, as they are stored."""
    kind = ENDINGS[Path(path).suffix.lower()]
    if kind == "npy":
        return _mapped(path)[first:stop]
    columns = [column] if column else None
    if kind == "parquet":
        with _parquet(path) as file:
            sizes = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
            groups, skipped = _overlapping(sizes, first, stop)
            table = file.read_row_groups(groups, columns=columns)
    else:
        arrow = needed("pyarrow", "dask", f"reading {path}")
        with _arrow(path) as reader:
            batches = [reader.get_batch(i) for i in range(reader.num_record_batches)]
            groups, skipped = _overlapping([b.num_rows for b in batches], first, stop)
            table = arrow.Table.from_batches([batches[i] for i in groups], reader.schema)
            table = table.select(columns) if columns else table
    table = table.slice(first - skipped, stop - first)
    # With each column in one piece, lists of numbers are read without a copy.
    return table.column(0).combine_chunks() if column else table.combine_chunks()


def check_part(part: Any, path: str, first: int) -> FloatArray:
    """Rows of a file as float32 or float64, or an error that names the file and row."""
    try:
        checked: FloatArray = np.asarray(check_features(part, minimum=1, name="the part"))
    except FeatureError as error:
        raise FeatureError(f"{path}, from row {first}: {error}") from None
    return checked


def _overlapping(sizes: list[int], first: int, stop: int) -> tuple[list[int], int]:
    """Which pieces of these sizes hold rows first to stop - 1, and how many rows precede them."""
    starts = [0, *accumulate(sizes)]
    low = bisect_right(starts, first) - 1
    high = next((i for i in range(low, len(sizes)) if starts[i] >= stop), len(sizes))
    return list(range(low, high)), starts[low]


def _mapped(path: str) -> Any:
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read as a .npy file: {error}") from None


def _parquet(path: str) -> Any:
    parquet = needed("pyarrow.parquet", "dask", f"reading {path}")
    arrow = needed("pyarrow", "dask", f"reading {path}")
    try:
        return parquet.ParquetFile(path)
    except (OSError, arrow.ArrowException) as error:
        raise InputError(f"{path} cannot be read as a Parquet file: {error}") from None


def _arrow(path: str) -> Any:
    arrow = needed("pyarrow", "dask", f"reading {path}")
    try:
        return arrow.ipc.open_file(arrow.memory_map(path))
    except (OSError, arrow.ArrowException) as error:
        raise InputError(
            f"{path} cannot be read as an Arrow file: {error}; streams must be saved as files first"
        ) from None
