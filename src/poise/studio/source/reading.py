"""Image files: found, read once, remembered and shown. A bad one is left out, with the reason."""

import hashlib
import io
import json
import os
import stat
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt
from numpy.lib.npyio import NpzFile

from poise.data.images import LARGEST, decode, quiet, square, stretched
from poise.data.images import Pixels as Pixels
from poise.data.images import UnreadableError as UnreadableError
from poise.data.other_pictures import picture_endings, why_not_read
from poise.errors import DataError
from poise.extras import needed
from poise.files import write_whole
from poise.machine import cores
from poise.progress import Progress, paced

#: Letters of a hash: enough that two of a million items never share them by chance.
ID_LETTERS = 20
#: Side of the grey square that is kept of every image.
SIDE = 64
#: Images with shorter sides are shown in their own size.
SMALL = 64
#: Images with longer sides, and nothing transparent, are taken for photographs: sent as JPEG.
PHOTOGRAPH = 256
#: Changes when what is kept of an image does.
FORMAT = "poise items 1"

#: What reading a damaged file of NumPy's can raise.
DAMAGED = (OSError, ValueError, TypeError, LookupError, EOFError, BadZipFile, zlib.error)

#: Is given the bytes of every image file that is read, by any thread.
Seen = Callable[[bytes], None]
#: Embeds a few image files by their bytes, and says why each cannot be read, or nothing.
Encode = Callable[[Sequence[bytes]], list[str]]
#: Image files that are embedded at once: a batch of the encoder's.
AT_ONCE = 8


@dataclass(frozen=True)
class File:
    """An image file as it was when it was read.

    Attributes
    ----------
    name : its path below the root, with slashes
    size, changed : bytes, and when it was written, in nanoseconds
    hash : of its bytes
    id : of the item; empty if it was not seen before
    """

    name: str
    size: int
    changed: int
    hash: str
    id: str = ""


def clean(text: str) -> str:
    """Text that can be written as UTF-8: a file's name need not be."""
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text


def content_id(content: bytes | memoryview) -> str:
    """What an item is known by: the hash of its bytes."""
    return hashlib.sha256(content).hexdigest()[:ID_LETTERS]


@contextmanager
def said(path: Path) -> Iterator[None]:
    """What keeps a file of the project from being written, as what to do about it."""
    try:
        yield
    except OSError as error:
        raise DataError(
            f"Could not write {path}: {error.strerror or error}. Free some space, or choose "
            "another folder with --project."
        ) from None


def keep_whole(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file of the project, whole or not at all."""
    with said(path):
        write_whole(path, write)


# Finding ------------------------------------------------------------------------------------------


def find_images(root: Path) -> tuple[list[str], list[tuple[str, str]]]:
    """Names of all images below a folder, in the order of their paths; and what is not read, why.

    Links to folders are not followed: what they hold is read where it lies, or lies outside.
    """
    names: list[str] = []
    refused: list[tuple[str, str]] = []
    pictures = picture_endings()

    def unlisted(error: OSError) -> None:
        name = Path(error.filename).relative_to(root).as_posix()
        refused.append((name, f"it may not be listed ({error.strerror})"))

    for place, folders, files in os.walk(root, onerror=unlisted):
        folders[:] = [name for name in folders if not name.startswith(".")]
        here = Path(place)
        below = here.relative_to(root).as_posix()
        prefix = "" if below == "." else f"{below}/"
        for name in folders:
            if (here / name).is_symlink():
                _refuse_outside(root, prefix + name, refused)
        for name in files:
            ending = Path(name).suffix.lower()
            if name.startswith("."):
                continue
            if ending not in pictures:
                if why := why_not_read(ending):
                    refused.append((prefix + name, why))
                continue
            if not (here / name).is_symlink() or not _refuse_outside(root, prefix + name, refused):
                names.append(prefix + name)
    names.sort(key=lambda name: name.split("/"))
    return names, sorted(refused)


def _refuse_outside(root: Path, name: str, refused: list[tuple[str, str]]) -> bool:
    try:
        located(root, name)
    except UnreadableError as error:
        refused.append((name, str(error)))
        return True
    return False


def located(root: Path, name: str) -> Path:
    """The file itself, links followed, if it lies below `root`, which is itself without links."""
    try:
        place = (root / name).resolve(strict=True)
    except (OSError, RuntimeError, ValueError):  # links in a circle; a name with a zero in it
        raise UnreadableError("there is no such file") from None
    if not place.is_relative_to(root):
        raise UnreadableError("it leads out of the folder")
    return place


def load_file(root: Path, name: str) -> tuple[bytes, int]:
    """The bytes of a file below `root`, and when they were written."""
    # Between looking where a link leads and opening it, another may take its place; and a pipe
    # would keep whoever opens it waiting.
    flags = ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY", "O_CLOEXEC")
    how = os.O_RDONLY | sum(getattr(os, flag, 0) for flag in flags)
    place = located(root, name)
    try:
        with os.fdopen(os.open(place, how), "rb") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise UnreadableError("it is no file")
            if about.st_size > LARGEST:
                raise UnreadableError(f"it has {about.st_size / 1e9:.1f} GB")
            return file.read(), about.st_mtime_ns
    except OSError as error:
        raise UnreadableError(f"it may not be read ({error.strerror or error})") from None


# Reading ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Memory:
    """What an earlier run kept, so that a file that did not change is not read again.

    Attributes
    ----------
    files : as they were
    pixels : (n, SIDE, SIDE) of these; none if they were embedded as they were read
    """

    files: tuple[File, ...] = ()
    pixels: Pixels = field(default_factory=lambda: np.empty((0, SIDE, SIDE), dtype=np.uint8))

    @cached_property
    def rows(self) -> dict[str, int]:
        """Name of a file -> its place."""
        return {file.name: row for row, file in enumerate(self.files)}

    def unchanged(self, root: Path, name: str) -> File | None:
        """The file, if it is still as it was."""
        if name not in self.rows:
            return None
        file = self.files[self.rows[name]]
        try:
            about = (root / name).stat()
        except OSError:
            return None
        same = (about.st_size, about.st_mtime_ns) == (file.size, file.changed)
        return file if same and stat.S_ISREG(about.st_mode) else None

    def id_of(self, name: str, content: str) -> str:
        """The id that a file had when it held the same."""
        file = self.files[self.rows[name]] if name in self.rows else None
        return file.id if file is not None and file.hash == content else ""

    @classmethod
    def recall(cls, path: Path | None) -> "Memory":
        """What `keep` wrote; nothing if there is no such file, or it is damaged."""
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

    def keep(self, path: Path, files: Sequence[File], pixels: Pixels | None) -> None:
        """Write what the next run need not read, unless it is there already."""
        if pixels is None:
            pixels = np.empty((0, SIDE, SIDE), dtype=np.uint8)
        if tuple(files) == self.files and len(pixels) <= len(self.pixels):
            return
        # As JSON, which holds names that are no UTF-8 too.
        rows = [(file.name, file.size, file.changed, file.hash, file.id) for file in files]
        encoded = np.frombuffer(json.dumps(rows).encode(), dtype=np.uint8)
        arrays: dict[str, Any] = {"format": np.array(FORMAT), "files": encoded, "pixels": pixels}
        keep_whole(path, lambda file: np.savez(file, **arrays))


def read_images(
    root: Path,
    names: Sequence[str],
    memory: Memory,
    progress: Progress,
    seen: Seen,
    encode: Encode | None = None,
) -> tuple[list[File], Pixels | None, list[tuple[str, str]]]:
    """Every file once: its hash and a small grey copy.

    With `encode` a file is decoded by that alone, and there are no grey copies.

    Returns
    -------
    files : those that are images, in the order of `names`
    pixels : (n, SIDE, SIDE) of these, or None
    refused : names of the others, and why
    """
    needed("PIL.Image", "app", "reading images")
    advance = paced(progress, len(names))
    is_known = encode is not None or len(memory.pixels) == len(memory.files)
    found: list[File | str | None] = [
        memory.unchanged(root, name) if is_known else None for name in names
    ]
    if memory.files and tuple(found) == memory.files:
        advance(len(names))
        return list(memory.files), memory.pixels if encode is None else None, []
    pixels = np.empty((len(names) if encode is None else 0, SIDE, SIDE), dtype=np.uint8)
    unknown = []
    for i, file in enumerate(found):
        if not isinstance(file, File):
            unknown.append(i)
        elif encode is None:
            pixels[i] = memory.pixels[memory.rows[file.name]]

    def read(batch: Sequence[int]) -> list[File | str]:
        """A few files, or why they cannot be read."""
        read: list[File | str] = []
        contents = []
        for i in batch:
            try:
                content, changed = load_file(root, names[i])
                if encode is None:
                    pixels[i] = square(content, SIDE)
            except UnreadableError as error:
                read.append(str(error))
                continue
            digest = content_id(content)
            before = memory.id_of(names[i], digest)
            read.append(File(names[i], len(content), changed, digest, before))
            contents.append(content)
        reasons = encode(contents) if encode is not None and contents else [""] * len(contents)
        places = [place for place, file in enumerate(read) if isinstance(file, File)]
        for place, content, why in zip(places, contents, reasons, strict=True):
            if why:
                read[place] = why
            else:
                seen(content)
        return read

    done = len(names) - len(unknown)
    advance(done)
    size, threads = (1, cores() + 1) if encode is None else (AT_ONCE, cores())
    with quiet, ThreadPoolExecutor(min(8, threads)) as pool:
        # In parts, so that a million files are no million tasks and an interruption ends it soon.
        for start in range(0, len(unknown), 512):
            part = unknown[start : start + 512]
            batches = [part[i : i + size] for i in range(0, len(part), size)]
            for batch, outcomes in zip(batches, pool.map(read, batches), strict=True):
                for i, outcome in zip(batch, outcomes, strict=True):
                    found[i] = outcome
                done += len(batch)
                advance(done)
    files = [file for file in found if isinstance(file, File)]
    refused = [(names[i], why) for i, why in enumerate(found) if isinstance(why, str)]
    if encode is not None:
        return files, None, refused
    if refused:
        pixels = pixels[[isinstance(file, File) for file in found]]
    return files, pixels, refused


# Showing ------------------------------------------------------------------------------------------


def shown_file(content: bytes, size: int) -> tuple[str, bytes]:
    """Media type and bytes of a picture of an image file, at most `size` pixels a side."""
    return decode(content, ("RGB", size), lambda picture, side: _encoded(picture, side, size))


def shown_numbers(values: npt.NDArray[Any], size: int) -> tuple[str, bytes]:
    """The same of numbers: (height, width), (height, width, 1) or (height, width, 3)."""
    pillow = needed("PIL.Image", "app", "showing images")
    values = values[..., 0] if values.ndim == 3 and values.shape[2] == 1 else values
    return _encoded(pillow.fromarray(stretched(values)), max(values.shape[:2]), size)


def _encoded(picture: Any, side: int, size: int) -> tuple[str, bytes]:
    """Of an image that had this longest side before it was shrunk."""
    if side >= SMALL:
        picture.thumbnail((size, size))
    if picture.mode == "RGBA" and picture.getextrema()[3] == (255, 255):
        picture = picture.convert("RGB")
    buffer = io.BytesIO()
    if picture.mode == "RGBA" or side <= PHOTOGRAPH:
        picture.save(buffer, format="PNG", compress_level=1)
        return "image/png", buffer.getvalue()
    picture.save(buffer, format="JPEG", quality=90)
    return "image/jpeg", buffer.getvalue()
