"""Write files so that a reader sees the old file or the new one, never a part of either."""

import os
import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import BinaryIO


def write_whole(path: Path, write: Callable[[BinaryIO], object], *, durably: bool = True) -> None:
    """Write a file whole or not at all; a missing folder is created.

    A failed or interrupted write leaves no trace.

    Parameters
    ----------
    write : callable
        Called with the open file.
    durably : bool
        The file is on disk when this returns. With many small files, waiting for the disk takes
        most of the time; files that can be created again need not wait.

    Raises
    ------
    OSError
        With the name of this file, which the error of a full disk lacks.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = _part(path)
    with _errors_name(path):
        try:
            _fill(part, write, durably)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)


def write_bytes(path: Path, content: bytes, *, durably: bool = True) -> None:
    """Write bytes as `write_whole` does."""
    write_whole(path, lambda file: file.write(content), durably=durably)


def write_folder(path: Path, fill: Callable[[Path], object]) -> None:
    """Make a folder with all that `fill` writes into it, or none; an existing one is replaced.

    Parameters
    ----------
    fill : callable
        Called with a new folder beside `path`, which then takes its place.
    """
    part, old = _part(path), _part(path)
    with _errors_name(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        part.mkdir()
    try:
        fill(part)
        if path.exists():
            path.replace(old)
        try:
            part.replace(path)
        except OSError:
            if old.exists():
                old.replace(path)
            raise
    finally:
        for left in (part, old):
            shutil.rmtree(left, ignore_errors=True)


def write_together(folder: Path, texts: Mapping[str, str]) -> None:
    """Write texts by their names within `folder`, in order; each file appears whole or not at all.

    Existing files are replaced when all new ones are on disk, and left alone if anything fails
    before. Pass a page last, so that the files it links to exist.
    """
    parts = {folder / name: _part(folder / name) for name in texts}
    try:
        for path, text in zip(parts, texts.values(), strict=True):
            path.parent.mkdir(parents=True, exist_ok=True)
            with _errors_name(path):
                _fill(parts[path], partial(_encode, text), True)
        for path, part in parts.items():
            part.replace(path)
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)


def _encode(text: str, file: BinaryIO) -> None:
    file.write(text.encode())


def _part(path: Path) -> Path:
    """A name that no other process or thread writes to at the same time."""
    return path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")


def _fill(part: Path, write: Callable[[BinaryIO], object], durably: bool) -> None:
    with part.open("xb") as file:
        write(file)
        if durably:
            file.flush()
            os.fsync(file.fileno())


@contextmanager
def _errors_name(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno is None:  # raised by hand, with a message of its own
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error
