"""What is kept of image files between runs, so that each is read once."""

import json
import stat
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.lib.npyio import NpzFile

from poise.data.images import Pixels
from poise.files import write_whole

#: Side of the small grey copy of every image, in pixels.
SIDE = 64
#: Changes when what is kept of an image does.
FORMAT = "poise items 1"
#: What reading a damaged file of NumPy's can raise.
DAMAGED = (OSError, ValueError, TypeError, LookupError, EOFError, BadZipFile, zlib.error)


@dataclass(frozen=True)
class File:
    """An image file as it was when it was read.

    Attributes
    ----------
    name : its path below the root, with slashes
    size, changed : bytes, and when it was written, in nanoseconds
    hash : of its bytes
    id : of the item; empty if it is new
    """

    name: str
    size: int
    changed: int
    hash: str
    id: str = ""


@dataclass(frozen=True, eq=False)
class ImageCache:
    """Image files as an earlier run found them: a file that did not change is not read again.

    Attributes
    ----------
    files : as they were
    pixels : (n, SIDE, SIDE) grey copies; none if the files were embedded as they were read
    """

    files: tuple[File, ...] = ()
    pixels: Pixels = field(default_factory=lambda: np.empty((0, SIDE, SIDE), dtype=np.uint8))

    @cached_property
    def rows(self) -> dict[str, int]:
        """Name of a file -> its row."""
        return {file.name: row for row, file in enumerate(self.files)}

    def unchanged(self, root: Path, name: str) -> File | None:
        """The file, if it is still as it was."""
        if name not in self.rows:
            return None
        file = self.files[self.rows[name]]
        try:
            status = (root / name).stat()
        except OSError:
            return None
        same = (status.st_size, status.st_mtime_ns) == (file.size, file.changed)
        return file if same and stat.S_ISREG(status.st_mode) else None

    def id_of(self, name: str, content: str) -> str:
        """The id that a file had when its content had the same hash; else empty."""
        file = self.files[self.rows[name]] if name in self.rows else None
        return file.id if file is not None and file.hash == content else ""

    @classmethod
    def load(cls, path: Path | None) -> "ImageCache":
        """What `save` wrote; empty if there is no such file, or it is damaged."""
        if path is None or not path.is_file():
            return cls()
        try:
            with path.open("rb") as handle, NpzFile(handle, allow_pickle=False) as stored:
                if str(stored["format"]) != FORMAT:
                    return cls()
                rows = json.loads(stored["files"].tobytes())
                pixels = np.asarray(stored["pixels"])
            files = tuple(File(*row) for row in rows)
            kinds = {tuple(map(type, row)) for row in rows}
            whole = kinds <= {(str, int, int, str, str)} and pixels.dtype == np.uint8
        except (*DAMAGED, MemoryError):
            return cls()
        fits = pixels.shape[1:] == (SIDE, SIDE) and len(pixels) in (0, len(files))
        return cls(files, pixels) if whole and fits else cls()

    def save(self, path: Path, files: Sequence[File], pixels: Pixels | None) -> None:
        """Write what the next run need not read, unless this cache holds it already."""
        if pixels is None:
            pixels = np.empty((0, SIDE, SIDE), dtype=np.uint8)
        if tuple(files) == self.files and len(pixels) <= len(self.pixels):
            return
        # As JSON, which can hold names that are not UTF-8.
        rows = [(file.name, file.size, file.changed, file.hash, file.id) for file in files]
        encoded = np.frombuffer(json.dumps(rows).encode(), dtype=np.uint8)
        arrays: dict[str, Any] = {"format": np.array(FORMAT), "files": encoded, "pixels": pixels}
        write_whole(path, lambda file: np.savez(file, **arrays))
