"""Write files whole, and check them by size and SHA-256 when they are read."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from poise.errors import DataError, GraphError
from poise.files import write_whole


@dataclass(frozen=True)
class FileSum:
    """Size in bytes and SHA-256 of a file."""

    bytes: int
    sha256: str


def sum_of(path: Path) -> FileSum:
    """Size and checksum of a file."""
    with path.open("rb") as file:
        return FileSum(path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest())


def write_array(path: Path, array: npt.NDArray[Any], *, durably: bool = True) -> FileSum:
    """Write a .npy file whole or not at all; `durably`: it is on disk when this returns.

    With many small files, waiting for the disk takes most of the time. Files that are checked
    before they are used, and can be created again, need not wait.
    """
    _write(path, lambda file: np.lib.format.write_array(file, array, allow_pickle=False), durably)
    return sum_of(path)


def write_bytes(path: Path, content: bytes, *, durably: bool = True) -> None:
    """Write a file in the same way."""
    _write(path, lambda file: file.write(content), durably)


def check_files(folder: Path, files: dict[str, FileSum], name: str) -> None:
    """Compare the files in a folder, called `name` in messages, with their checksums."""
    remedy = "copy it again, or build the graph again"
    for file, expected in files.items():
        path = folder / file
        try:
            size = path.stat().st_size
        except OSError as error:
            reason = error.strerror or "it cannot be read"
            raise GraphError(f"{name}/{file} cannot be found ({reason}): {remedy}") from None
        if size != expected.bytes:
            raise GraphError(
                f"{name}/{file} has {size:,} bytes and the manifest says {expected.bytes:,}, so it "
                f"is truncated or of another graph: {remedy}"
            )
        if sum_of(path) != expected:
            raise GraphError(
                f"{name}/{file} has another checksum than the manifest says, so it is damaged or "
                f"of another graph: {remedy}"
            )


def _write(path: Path, write: Callable[[BinaryIO], object], durably: bool) -> None:
    try:
        write_whole(path, write, durably=durably)
    except OSError as error:
        raise DataError(f"cannot write {path} ({error.strerror}): free some space") from None
