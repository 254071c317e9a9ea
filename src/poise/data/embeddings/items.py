"""What can be embedded: rows of numbers, texts, image files."""

import hashlib
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from poise.checks import whole_number
from poise.data.image_files import load_file
from poise.data.images import UnreadableError, decode, on_white, square
from poise.errors import DataError, InputError

#: Side of the square that images are resized to by default.
SIDE = 64


@dataclass(frozen=True)
class Images:
    """Image files in a fixed order: row i of what is made of them belongs to ``paths[i]``.

    Parameters
    ----------
    paths : tuple of Path
    size : int, optional
        Side of the square that every image is resized to, for embeddings that need equal sizes;
        None: `SIDE`, or what suits the embedding best.
    colour : bool
        Three numbers per pixel instead of one.
    """

    paths: tuple[Path, ...]
    size: int | None = None
    colour: bool = False

    def __post_init__(self) -> None:
        if self.size is not None and whole_number(self.size, "size", 2) > 4096:
            raise InputError(f"size is {self.size}: give at most 4096 pixels a side")
        if not isinstance(self.colour, bool):
            raise InputError(f"colour is {self.colour!r}: it must be True or False")

    def __len__(self) -> int:
        return len(self.paths)

    def pictures(self) -> Iterator[Any]:
        """Each image as a Pillow image in RGB, upright, in its own size."""
        return (_picture(path) for path in self.paths)

    def array(self) -> npt.NDArray[np.uint8]:
        """All images in one size, (n, size, size), or (n, size, size, 3) in colour."""
        side = SIDE if self.size is None else self.size
        shape = (len(self), side, side) + ((3,) if self.colour else ())
        array = np.empty(shape, dtype=np.uint8)
        for i, path in enumerate(self.paths):
            with named(path):
                array[i] = square(file_content(path), side, "RGB" if self.colour else "L")
        return array


#: Rows of numbers, texts, or image files.
Items = npt.NDArray[Any] | Sequence[str] | Images


def are_texts(items: Items) -> TypeGuard[Sequence[str]]:
    """Whether items are a sequence of str."""
    return not isinstance(items, (np.ndarray, Images)) and all(
        isinstance(item, str) for item in items
    )


def are_images(array: npt.NDArray[Any]) -> bool:
    """Whether an array holds images by its shape: grey, or with one or three colours last."""
    return array.ndim == 3 or (array.ndim == 4 and array.shape[3] in (1, 3))


def content_hash(items: Items, parameters: str) -> str:
    """Hash of items and parameters: everything that a result depends on."""
    digest = hashlib.sha256(parameters.encode())
    if isinstance(items, np.ndarray):
        digest.update(f"{items.dtype.str} {items.shape}".encode())
        digest.update(np.ascontiguousarray(items).data)
    elif isinstance(items, Images):
        digest.update(f"images 2 {items.size} {items.colour}".encode())
        for path in items.paths:
            try:
                with path.open("rb") as file:
                    digest.update(hashlib.file_digest(file, "sha256").digest())
            except OSError as error:
                raise DataError(f"{path} cannot be read ({error.strerror})") from None
    else:
        for text in items:
            encoded = text.encode("utf-8", "surrogatepass")
            digest.update(len(encoded).to_bytes(8, "little"))
            digest.update(encoded)
    return digest.hexdigest()[:32]


def rows(items: Items, name: str) -> npt.NDArray[Any]:
    """Items as rows of finite numbers, or an error that says what they are."""
    array = items.array() if isinstance(items, Images) else np.asarray(items)
    if array.dtype.kind not in "buif":
        raise InputError(
            f"{name} is for numbers, and these items are {array.dtype}: use tfidf or text-encoder"
        )
    array = array.reshape(len(array), -1)
    if not array.shape[1]:
        raise InputError("items have no numbers: expected at least one per item")
    if not np.isfinite(array).all():
        raise InputError("items have NaN or infinite entries: correct or leave out those rows")
    return array


def numbers(items: Items, name: str) -> npt.NDArray[np.float32]:
    """Items as rows of float32, as they are; bytes become 0 to 1."""
    X = rows(items, name)
    scale = np.float32(255) if X.dtype == np.uint8 else np.float32(1)
    return np.asarray(X.astype(np.float32) / scale)


def shares(X: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Numbers as shares, 0 to 1: bytes by 255, others by their least and largest if they exceed it.

    All features have one scale, so that a pixel that hardly varies is not magnified.
    """
    if X.dtype == np.uint8:
        return np.asarray(X, dtype=np.float32) / np.float32(255)
    least, most = float(X.min()), float(X.max())
    if least >= 0 and most <= 1:
        return np.asarray(X, dtype=np.float32)
    if most == least:
        return np.zeros(X.shape, dtype=np.float32)
    # In halves, because most - least may be more than a float64 can hold.
    scaled = (X / 2.0 - least / 2) / (most / 2 - least / 2)
    return np.asarray(scaled, dtype=np.float32)


def halved(pixels: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Grey images of half the side: the first components hardly differ, and cost a thirtieth."""
    sums = sum(pixels[:, i::2, j::2].astype(np.uint16) for i in (0, 1) for j in (0, 1))
    return np.asarray((sums + np.uint16(2)) >> 2, dtype=np.uint8)


def as_images(
    items: Items, name: str, height: int | None = None, width: int | None = None
) -> npt.NDArray[np.float32]:
    """Items as images with values from 0 to 1, (n, height, width) or (n, height, width, 3).

    Rows of numbers need `height` and `width` unless their length is a square.
    """
    array = items.array() if isinstance(items, Images) else np.asarray(items)
    X = shares(rows(array, name))
    n, d = X.shape
    if height is None and width is None:
        if are_images(array):
            return X.reshape(array.shape[:3] if d == math.prod(array.shape[1:3]) else array.shape)
        height = width = math.isqrt(d)
        if height * height != d:
            raise InputError(
                f"{d} numbers per item do not make a square image: give height and width, or use "
                "pca"
            )
    if height is None or width is None:
        known = height or width or 1
        height, width = height or d // known, width or d // known
    if height * width not in (d, d // 3 if d % 3 == 0 else d):
        raise InputError(f"{height} x {width} are not the {d} numbers of an item: check both")
    return X.reshape((n, height, width) if height * width == d else (n, height, width, 3))


def _picture(path: Path) -> Any:
    with named(path):
        # Without a limit to its size: encoders resize it themselves.
        return decode(file_content(path), ("RGB", 1 << 16), lambda p, _: on_white(p).convert("RGB"))


def file_content(path: Path) -> bytes:
    """The bytes of an image file."""
    with named(path):
        return load_file(path)[0]


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Turn the error of an image that cannot be read into one that names its file."""
    try:
        yield
    except UnreadableError as error:
        raise DataError(f"{path} cannot be read ({error}): repair it or leave it out") from None
