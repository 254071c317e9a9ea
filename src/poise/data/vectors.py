"""Vectors that people bring themselves: a column of a table, or an array in a file."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from poise.data.array_files import read_arrays
from poise.data.columns import no_column
from poise.data.image_kinds import HEIF, PICTURES
from poise.data.tables import open_parquet
from poise.data.text import parse_json
from poise.errors import DataError, InputError
from poise.extras import needed

#: Largest magnitude allowed: sums of squares of such values are finite in single precision.
LARGEST_VALUE = 1e18
#: Rows that are checked at a time: a mask of everything would be large.
BATCH_ROWS = 65_536


@dataclass(frozen=True, eq=False)
class Vectors:
    """A vector per row of a source.

    Attributes
    ----------
    values : (n, d); rows in `lacking` are meaningless
    origin : what messages call them
    lacking : row -> why it has no vector, as the end of a sentence
    """

    values: npt.NDArray[Any]
    origin: str
    lacking: dict[int, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.values)

    def unusable(self) -> dict[int, str]:
        """Row -> why its vector cannot be compared with others."""
        reasons: dict[int, str] = {}
        for start in range(0, len(self), BATCH_ROWS):
            part = self.values[start : start + BATCH_ROWS]
            small = np.isfinite(part)
            if part.dtype.itemsize > 2:  # half precision ends at 65,504
                small &= np.abs(part) <= LARGEST_VALUE
            finite = small.all(axis=1)
            for row in np.flatnonzero(~finite).tolist():
                reasons[start + row] = "its vector holds NaN, infinity or a number beyond 1e18"
            for row in np.flatnonzero(finite & ~part.any(axis=1)).tolist():
                reasons[start + row] = "its vector is all zeros"
        return reasons | self.lacking


def read_array(path: Path) -> Vectors:
    """The rows of a .npy file, mapped into memory, or of the array `X` of a .npz file."""
    if path.suffix.lower() not in (".npy", ".npz"):
        raise InputError(
            f"{path} must end in .npy or .npz: it should hold an array, a row per item"
        )
    (X,) = read_arrays(path, *(["X"] if path.suffix.lower() == ".npz" else []))
    if X.dtype.kind not in "buif":
        raise InputError(f"{path} holds {X.dtype}: expected numbers, a row per item")
    if X.ndim != 2 or not X.size:
        raise InputError(f"{path} has shape {X.shape}: expected two dimensions, a row per item")
    return Vectors(X, str(path))


def read_names(path: Path) -> list[str]:
    """Names of images from the first column of a .csv file, which may have a header."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            names = [row[0].strip() for row in csv.reader(file) if row and row[0].strip()]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path} cannot be read: {error}") from None
    if names and not names[0].lower().endswith((*PICTURES, *HEIF)):
        names = names[1:]
    if not names:
        raise InputError(f"{path} names no images: expected a file's name per row, first column")
    return names


# Columns ------------------------------------------------------------------------------------------


def parse_vector(value: Any) -> npt.NDArray[np.float32] | str | None:
    """A field, a list or JSON, as a vector; None if it is empty, its text if it is no vector.

    Called while the table is read: numbers in Python's lists take eight times the memory.
    """
    if isinstance(value, str):
        text = value.strip()
        if not text:
            return None
        try:
            value = parse_json(text)
        except ValueError:
            return text[:40]
    if value is None or value == []:
        return None
    numbers = isinstance(value, list) and all(type(number) in (int, float) for number in value)
    if not numbers:
        return str(value)[:40]
    with np.errstate(over="ignore"):  # infinite, and refused as such
        try:
            return np.array(value, dtype=np.float64).astype(np.float32)
        except OverflowError:
            return np.full(len(value), np.inf, dtype=np.float32)


def stack(
    parsed: Sequence[npt.NDArray[np.float32] | str | None], path: Path, column: str
) -> Vectors:
    """A column of values from `parse_vector` as one array."""
    origin = f"the column {column!r} of {path}"
    for row, vector in enumerate(parsed):
        if isinstance(vector, str):
            raise InputError(
                f"row {row + 1} of {path} has {vector!r} in the column {column!r}: expected a list "
                "of numbers such as [0.1, 0.2]"
            )
    vectors = {row: vector for row, vector in enumerate(parsed) if isinstance(vector, np.ndarray)}
    width = _width(origin, {row: len(vector) for row, vector in vectors.items()})
    values = np.zeros((len(parsed), width), dtype=np.float32)
    for row, vector in vectors.items():
        values[row] = vector
    return Vectors(values, origin, _missing(set(range(len(parsed))) - vectors.keys()))


def read_parquet_vectors(path: Path, column: str) -> Vectors:
    """A column of lists, of fixed size or not; not copied if it is in one piece and complete."""
    origin = f"the column {column!r} of {path}"
    with open_parquet(path) as file:
        names = file.schema_arrow.names
        if column not in names:
            raise no_column(path, column, names)
        n = file.metadata.num_rows
        groups = (
            file.read_row_group(group, columns=[column]).column(0).chunks
            for group in range(file.num_row_groups)
        )
        return _filled(n, (chunk for group in groups for chunk in group), origin)


def _filled(n: int, chunks: Iterable[Any], origin: str) -> Vectors:
    """Copy the chunks of a column one at a time, so that only one of them is in memory twice."""
    values: npt.NDArray[Any] | None = None
    lengths: dict[int, int] = {}
    start = 0
    for chunk in chunks:
        chunk = getattr(chunk, "storage", chunk)  # of a tensor, the list that it is made of
        numbers, counts = _numbers(chunk, origin)
        present = np.flatnonzero(counts > 0)
        if present.size:
            # One row of each length is enough to tell that they differ.
            some = present[np.unique(counts[present], return_index=True)[1]]
            lengths |= {start + row: int(counts[row]) for row in some.tolist()}
            width = _width(origin, lengths)
            part = numbers.reshape(present.size, width)
            if len(part) == n:
                return Vectors(part, origin)
            if values is None:
                values = np.zeros((n, width), dtype=np.float32)
                is_present = np.zeros(n, dtype=bool)
            with np.errstate(over="ignore"):  # infinite, and left out as such
                values[start + present] = part
            is_present[start + present] = True
        start += len(chunk)
    _width(origin, lengths)
    assert values is not None
    return Vectors(values, origin, _missing(np.flatnonzero(~is_present).tolist()))


def _numbers(chunk: Any, origin: str) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """All numbers of an Arrow array of lists, and how many each row has: 0 if it is null."""
    types = needed("pyarrow.types", "parquet", f"reading {origin}")
    compute = needed("pyarrow.compute", "parquet", f"reading {origin}")
    kind = chunk.type
    lists = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    if not lists or not (types.is_floating(kind.value_type) or types.is_integer(kind.value_type)):
        raise InputError(f"{origin} holds {kind}: expected lists of numbers")
    counts = compute.fill_null(compute.list_value_length(chunk), 0)
    numbers = chunk.flatten().to_numpy(zero_copy_only=False)  # a copy only if some are null
    return numbers, np.asarray(counts.to_numpy(zero_copy_only=False), dtype=np.int64)


def _width(origin: str, lengths: dict[int, int]) -> int:
    """The length that all vectors share; an error if they differ."""
    if not lengths:
        raise InputError(f"{origin} is empty: expected a list of numbers in each row")
    first, width = next(iter(lengths.items()))
    for row, length in lengths.items():
        if length != width:
            raise InputError(
                f"{origin} has {width} numbers in row {first + 1} and {length} in row {row + 1}: "
                "expected vectors of one length"
            )
    return width


def _missing(rows: Iterable[int]) -> dict[int, str]:
    return dict.fromkeys(sorted(rows), "it has no vector")
