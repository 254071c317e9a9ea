"""The items of a project: what they are called, what they look like, what is known of them."""

import hashlib
import io
import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from poise.data.datasets import datasets, load_dataset
from poise.data.embeddings.items import Images, Items, extra
from poise.data.sources import read_items
from poise.errors import InputError

#: Letters of an id: enough of a hash that two of a million items never share it by chance.
ID_LETTERS = 20
#: Longest side of an image as it is shown.
SHOWN = 1200

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Catalogue:
    """Items in the order of their source.

    Attributes
    ----------
    name : of the source
    kind : "image", "text" or "vector"
    ids : stable, by content: (n,) distinct
    items : what is embedded
    known : id -> class that the source itself gives
    """

    name: str
    kind: str
    ids: tuple[str, ...]
    items: Items
    known: dict[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    def content(self, index: int) -> tuple[str, bytes]:
        """Media type and bytes of one item, made here: nothing of a file is passed on as it is."""
        if isinstance(self.items, Images):
            (picture,) = Images((self.items.paths[index],), colour=True).pictures()
            picture.thumbnail((SHOWN, SHOWN))
            return "image/png", _png(picture)
        item: Any = self.items[index]
        if self.kind == "text":
            return "text/plain; charset=utf-8", str(item).encode("utf-8", "replace")
        if self.kind == "image":
            pillow = extra("PIL.Image", "app", "showing images")
            return "image/png", _png(pillow.fromarray(_bytes(np.asarray(item)), mode="L"))
        values = [float(value) for value in np.asarray(item, dtype=np.float64).ravel()]
        return "application/json", json.dumps(values).encode()


def read_catalogue(
    source: str, *, column: str | None = None, progress: Progress = lambda done, total: None
) -> Catalogue:
    """The items of a source: a folder of images, a table, an array, or a data set's name."""
    path = Path(source)
    name = path.resolve().name if path.exists() else source
    if not path.exists() and source in datasets:
        data = load_dataset(source)
        X = np.ascontiguousarray(data.X)
        kind = "image" if _square(X) else "vector"
        return Catalogue(name, kind, _of_rows(X, progress), X)
    items = read_items(source, column)
    if isinstance(items, Images):
        known = {}
        ids = _distinct([_of_file(p, i, len(items), progress) for i, p in enumerate(items.paths)])
        for one, file in zip(ids, items.paths, strict=True):
            folder = file.parent.relative_to(path)
            if folder.parts:
                known[one] = folder.parts[0]
        return Catalogue(name, "image", ids, items, known)
    if isinstance(items, np.ndarray):
        kind = "image" if _square(items) else "vector"
        return Catalogue(name, kind, _of_rows(items, progress), items)
    ids = _distinct([_hash(text.encode("utf-8", "surrogatepass")) for text in items])
    return Catalogue(name, "text", ids, items)


def _square(X: npt.NDArray[Any]) -> bool:
    """Whether rows look like square pictures: numbers of one sign, 64 or more, a square of them."""
    if X.ndim == 3:
        return True
    d = X.shape[1] if X.ndim == 2 else 0
    return d >= 64 and math.isqrt(d) ** 2 == d and bool(X[:200].min() >= 0)


def _of_rows(X: npt.NDArray[Any], progress: Progress) -> tuple[str, ...]:
    found = []
    for i, row in enumerate(X):
        if i % 1_000 == 0:
            progress(i, len(X))
        found.append(_hash(np.ascontiguousarray(row).tobytes()))
    return _distinct(found)


def _of_file(path: Path, place: int, total: int, progress: Progress) -> str:
    if place % 100 == 0:
        progress(place, total)
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:ID_LETTERS]
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}): leave it out") from None


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:ID_LETTERS]


def _distinct(hashes: Sequence[str]) -> tuple[str, ...]:
    """Copies of an item are told apart by a number: the first keeps the plain id."""
    seen: Counter[str] = Counter()
    found = []
    for one in hashes:
        seen[one] += 1
        found.append(one if seen[one] == 1 else f"{one}-{seen[one]}")
    return tuple(found)


def _bytes(values: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """Numbers as a picture: the least black, the largest white."""
    if values.ndim == 1:
        side = math.isqrt(len(values))
        values = values.reshape(side, side)
    if values.dtype == np.uint8:
        return np.ascontiguousarray(values)
    numbers = values.astype(np.float64)
    low, high = float(numbers.min()), float(numbers.max())
    share = (numbers - low) / (high - low) if high > low else np.zeros_like(numbers)
    return np.rint(255 * share).astype(np.uint8)


def _png(picture: Any) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, format="PNG", compress_level=1)
    return buffer.getvalue()
