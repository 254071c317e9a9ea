"""What items are known by: hashes of their contents, with a number for copies."""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from poise.progress import Progress, paced

#: Characters of a hash: enough that two of a million items never share them by chance.
ID_CHARACTERS = 20
#: Rows that are hashed between two calls of a progress callback.
BATCH_ROWS = 10_000


def content_id(content: bytes | memoryview) -> str:
    """What an item is known by: the hash of its bytes."""
    return hashlib.sha256(content).hexdigest()[:ID_CHARACTERS]


def text_id(text: str) -> str:
    """What a text is known by."""
    return content_id(text.encode("utf-8", "surrogatepass"))


def row_ids(X: npt.NDArray[Any], progress: Progress) -> list[str]:
    """What the rows of a contiguous array are known by."""
    n, width = len(X), X.nbytes // len(X)
    content = X.reshape(-1).view(np.uint8).data
    advance = paced(progress, n)
    ids: list[str] = []
    for start in range(0, n, BATCH_ROWS):
        stop = min(start + BATCH_ROWS, n)
        ids += [content_id(content[i * width : (i + 1) * width]) for i in range(start, stop)]
        advance(stop)
    return ids


def distinct_ids(hashes: Sequence[str], before: Sequence[str] | None = None) -> tuple[str, ...]:
    """Ids of items from the hashes of their contents; copies are told apart by a number.

    A copy keeps the id that it had `before`, so nothing shifts when another copy comes or goes.
    The others take the lowest free numbers in their order; a renamed copy gets its own id again.
    Where no earlier run is remembered (rows of a table or an array), the number of a copy that goes
    passes to the next one, which holds the very same.
    """
    if before is None:
        if len(set(hashes)) == len(hashes):
            return tuple(hashes)
        before = [""] * len(hashes)
    taken: set[str] = set()
    ids: list[str] = []
    for content, old in zip(hashes, before, strict=True):
        keeps = (old == content or old.startswith(f"{content}-")) and old not in taken
        ids.append(old if keeps else "")
        if keeps:
            taken.add(old)
    following: dict[str, int] = {}
    for i, content in enumerate(hashes):
        while not ids[i]:
            number = following[content] = following.get(content, 0) + 1
            new = content if number == 1 else f"{content}-{number}"
            if new not in taken:
                ids[i] = new
    return tuple(ids)
