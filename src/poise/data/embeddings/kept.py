"""Rows of items, kept by the items' contents: an item is embedded once, wherever it turns up.

One file for each encoder: a header, then records of a fixed size that are only ever appended.
A record is an item's key (the SHA-256 of its content), its row of float32 and a checksum, so a
record left half-written by a killed process or a full disk is recognised and never used.
"""

import hashlib
import os
import threading
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from poise.checks import whole_number
from poise.errors import DataError, InputError

try:
    import fcntl
except ImportError:  # not on Windows, where two processes must not share a cache folder
    fcntl = None  # type: ignore[assignment]

Rows = npt.NDArray[np.float32]

#: Changes when the layout of the file does.
FORMAT = b"poise kept rows 1\n"
#: Bytes of a key, a SHA-256 digest.
KEY_BYTES = 32
#: Bytes read at a time.
CHUNK_BYTES = 1 << 24


class Kept:
    """Rows of items by the hash of their content, in one append-only file.

    Threads may share one object, and processes one file.

    Parameters
    ----------
    path : Path
        Created if it does not exist. A file of another encoder, or one whose header is damaged,
        is emptied.
    dimensions : int
        Numbers in a row.
    fingerprint : str
        Hash of everything besides the item that a row depends on: weights, decoding, versions.

    Raises
    ------
    DataError
        If the file cannot be read or written; it is then as it was before.
    """

    def __init__(self, path: Path, dimensions: int, fingerprint: str) -> None:
        self.path = path
        self.dimensions = whole_number(dimensions, "dimensions", 1)
        about = f"{self.dimensions} {fingerprint}".encode()
        self._header = FORMAT + hashlib.sha256(about).digest()
        self._seed = zlib.crc32(self._header)
        self._record = np.dtype(
            [("key", f"V{KEY_BYTES}"), ("row", "<f4", (self.dimensions,)), ("check", "<u4")]
        )
        self._numbers: dict[bytes, int] = {}  # key -> number of its record
        self._known = 0  # records that were checked
        self._lock = threading.Lock()
        with self._opened() as file:
            self._catch_up(file)

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, key: object) -> bool:
        return key in self._numbers

    def get(self, keys: Sequence[bytes]) -> tuple[npt.NDArray[np.bool_], Rows]:
        """Which of the items are known, and their rows.

        Parameters
        ----------
        keys : sequence of bytes
            SHA-256 digests of the items' contents.

        Returns
        -------
        mask : (n,) bool
        rows : (n, dimensions) float32
            Zeros where `mask` is False, to be filled in.
        """
        wanted = np.array([self._numbers.get(key, -1) for key in keys], dtype=np.int64)
        mask = wanted >= 0
        rows = np.zeros((len(keys), self.dimensions), dtype=np.float32)
        with self._opened() as file:
            # In the order of the file, a run of consecutive records at a time.
            order = np.flatnonzero(mask)[np.argsort(wanted[mask], kind="stable")]
            gaps = np.flatnonzero(np.diff(wanted[order]) != 1) + 1
            for run in np.split(order, gaps):
                for part in np.split(run, range(self._chunk, len(run), self._chunk)):
                    if len(part):
                        records = self._read(file, int(wanted[part[0]]), len(part))
                        sound = np.zeros(len(part), dtype=bool)
                        sound[: len(records)] = self._sound(records)
                        rows[part[sound]] = records["row"][sound[: len(records)]]
                        mask[part] = sound
        return mask, rows

    def add(self, keys: Sequence[bytes], rows: npt.ArrayLike) -> None:
        """Keep the rows of some items: all of them or, if the disk is full, none.

        Parameters
        ----------
        keys : sequence of bytes
        rows : (len(keys), dimensions) array
        """
        values = np.asarray(rows, dtype=np.float32)
        if values.shape != (len(keys), self.dimensions) or any(
            len(key) != KEY_BYTES for key in keys
        ):
            raise InputError(
                f"{len(keys)} keys came with rows of shape {values.shape}: expected a digest of "
                f"{KEY_BYTES} bytes and {self.dimensions} numbers for each item"
            )
        with self._opened() as file:
            self._catch_up(file)  # what another process appended meanwhile
            new = {key: i for i, key in enumerate(keys) if key not in self._numbers}
            records = np.zeros(len(new), dtype=self._record)
            records["key"] = np.array(list(new), dtype=f"V{KEY_BYTES}")
            records["row"] = values[list(new.values())]
            records["check"] = self._checks(records)
            end = self._offset(self._known)
            try:
                file.seek(end)
                _write_all(file, records.tobytes())
            except BaseException:  # a full disk or an interruption: as if nothing had been written
                file.truncate(end)
                raise
            self._numbers.update(zip(new, range(self._known, self._known + len(new)), strict=True))
            self._known += len(new)

    @contextmanager
    def _opened(self) -> Iterator[BinaryIO]:
        """The file, for one thread of one process at a time."""
        try:
            with self._lock:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
                with os.fdopen(os.open(self.path, flags, 0o666), "r+b", buffering=0) as file:
                    if fcntl is not None:
                        fcntl.flock(file, fcntl.LOCK_EX)  # released when the file is closed
                    yield file
        except OSError as error:
            raise DataError(
                f"cannot use {self.path} ({error.strerror}): free some space, or set POISE_CACHE "
                "to another folder"
            ) from None

    def _catch_up(self, file: BinaryIO) -> None:
        """Check the records that are new in the file; cut off one that is incomplete."""
        if _read_all(file, 0, len(self._header)) != self._header:
            self._numbers.clear()
            self._known = 0
            file.truncate(0)
            file.seek(0)
            _write_all(file, self._header)
            return
        size = file.seek(0, 2)
        whole = (size - len(self._header)) // self._record.itemsize
        if whole < self._known:  # another process emptied the file
            self._numbers.clear()
            self._known = 0
        while self._known < whole:
            records = self._read(file, self._known, min(self._chunk, whole - self._known))
            for i in np.flatnonzero(self._sound(records)):
                self._numbers[records["key"][i].tobytes()] = self._known + int(i)
            self._known += len(records)
        if size != self._offset(whole):
            file.truncate(self._offset(whole))

    @property
    def _chunk(self) -> int:
        """Number of records that are read at a time."""
        return max(1, CHUNK_BYTES // self._record.itemsize)

    def _offset(self, number: int) -> int:
        return len(self._header) + number * self._record.itemsize

    def _read(self, file: BinaryIO, number: int, count: int) -> npt.NDArray[np.void]:
        content = _read_all(file, self._offset(number), count * self._record.itemsize)
        whole = len(content) // self._record.itemsize
        return np.frombuffer(content, dtype=self._record, count=whole)

    def _checks(self, records: npt.NDArray[np.void]) -> npt.NDArray[np.uint32]:
        """Checksums of keys and rows, and of the header, so that no other file's record passes."""
        length = self._record.itemsize - 4
        content = memoryview(records.tobytes())
        starts = range(0, len(content), self._record.itemsize)
        sums = [zlib.crc32(content[start : start + length], self._seed) for start in starts]
        return np.array(sums, dtype=np.uint32)

    def _sound(self, records: npt.NDArray[np.void]) -> npt.NDArray[np.bool_]:
        return np.asarray(records["check"] == self._checks(records))


def _read_all(file: BinaryIO, start: int, length: int) -> bytes:
    """`length` bytes, or fewer where the file ends."""
    file.seek(start)
    parts = []
    while length and (part := file.read(length)):
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def _write_all(file: BinaryIO, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[file.write(rest) :]
