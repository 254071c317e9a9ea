"""Photographs: the test set of CIFAR-10."""

import os
import re
import tarfile
from pathlib import Path

import numpy as np
import numpy.typing as npt

from poise.data import folders
from poise.data.datasets.dataset import Dataset
from poise.data.datasets.embedded import kept, published
from poise.data.datasets.files import Pair
from poise.data.datasets.registry import datasets
from poise.data.download import fetch
from poise.data.images import UnreadableError, decode, pillow
from poise.errors import DataError
from poise.progress import Progress

#: The binary version: unlike the one for Python, reading it runs no code.
CIFAR = "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz"
CIFAR_MD5 = "c32a1d4ab5d03f1284b67883e8d87530"
CIFAR_TEST = "cifar-10-batches-bin/test_batch.bin"
#: The user's own folder may hold the photos as JPEG files in this archive, test/CLASS/NUMBER.jpg.
CIFAR_JPEG = "cifar10_test.tar"
CIFAR_CLASSES = (
    "airplane",
    "automobile",
    "bird",
    "cat",
    "deer",
    "dog",
    "frog",
    "horse",
    "ship",
    "truck",
)
CIFAR_ORIGIN = (
    "A. Krizhevsky, Learning Multiple Layers of Features from Tiny Images, 2009",
    "none stated; a public research set",
)
N_TEST = 10_000
SIDE = 32
_member = re.compile(r"test/(?P<kind>[^/]+)/(?P<number>\d+)\.jpg")


@datasets.register("cifar10")
def cifar10(embedding: str = "raw", progress: Progress | None = None) -> Dataset:
    """The 10,000 test photos of CIFAR-10, 32 x 32 pixels in colour, ten kinds of things.

    Sorted by class. The download is an archive of 170 MB, of which the test photos are kept.
    """
    jpeg = _own_archive()

    def photos() -> Pair:
        if jpeg is not None:
            return read_jpeg(jpeg)
        return kept("cifar10", lambda: _test_batch(progress))

    shape = (SIDE, SIDE, 3)
    dataset = published("cifar10", photos, embedding, CIFAR_ORIGIN, shape=shape, progress=progress)
    if dataset.n_points != N_TEST:
        return dataset.noted(f"{dataset.n_points:,} of the {N_TEST:,} test photos")
    return dataset if jpeg is None else dataset.noted("made from JPEG copies")


def read_jpeg(path: Path) -> Pair:
    """Pixels, (n, 3072) bytes, and classes of an archive of files test/CLASS/NUMBER.jpg."""
    pillow(f"reading {path}")
    photos: list[tuple[int, str, npt.NDArray[np.uint8]]] = []
    try:
        _check_end(path)
        with tarfile.open(path, "r:") as archive:
            for member in archive:
                named = _member.fullmatch(member.name)
                content = archive.extractfile(member) if named and member.isreg() else None
                if named is None or content is None:
                    continue
                pixels = decode(
                    content.read(), ("RGB", SIDE), lambda photo, _: np.asarray(photo.convert("RGB"))
                )
                if pixels.shape != (SIDE, SIDE, 3) or named["kind"] not in CIFAR_CLASSES:
                    raise DataError(
                        f"{path} holds {member.name} of {pixels.shape[0]} x {pixels.shape[1]} "
                        f"pixels: expected {SIDE} x {SIDE}, in folders {', '.join(CIFAR_CLASSES)}"
                    )
                photos.append((CIFAR_CLASSES.index(named["kind"]), named["number"], pixels))
    except (OSError, ValueError, tarfile.TarError, UnreadableError) as error:
        raise DataError(
            f"{path} cannot be read ({type(error).__name__}): it should hold test/CLASS/NUMBER.jpg;"
            " delete it, or replace it"
        ) from None
    if not photos:
        raise DataError(f"{path} holds no photos: expected files test/CLASS/NUMBER.jpg")
    photos.sort(key=lambda photo: photo[:2])
    X = np.stack([pixels for _, _, pixels in photos]).reshape(len(photos), -1)
    return X, np.array([kind for kind, _, _ in photos], dtype=np.int64)


def _check_end(path: Path) -> None:
    """Refuse an archive that was cut off, which tarfile takes for a shorter one."""
    with path.open("rb") as file:
        file.seek(-2 * tarfile.BLOCKSIZE, os.SEEK_END)
        if any(file.read()):
            raise tarfile.ReadError("the two empty blocks at the end are missing")


def _own_archive() -> Path | None:
    folder = folders.own_files()
    path = None if folder is None else folder / CIFAR_JPEG
    return path if path is not None and path.is_file() else None


def _test_batch(progress: Progress | None) -> Pair:
    """The original archive: for each photo its class, then red, green and blue, a byte each."""
    archive = folders.cache() / "downloads" / "cifar10" / "cifar-10-binary.tar.gz"
    with tarfile.open(fetch(CIFAR, archive, CIFAR_MD5, progress), "r:gz") as files:
        content = files.extractfile(CIFAR_TEST)
        if content is None:  # never, as the checksum was right: for the type checker
            raise DataError(f"{archive} holds no {CIFAR_TEST}: delete it")
        rows = np.frombuffer(content.read(), dtype=np.uint8).reshape(-1, 1 + 3 * SIDE * SIDE)
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    images = rows[:, 1:].reshape(-1, 3, SIDE, SIDE).transpose(0, 2, 3, 1)
    return np.ascontiguousarray(images).reshape(len(rows), -1), rows[:, 0].astype(np.int64)
