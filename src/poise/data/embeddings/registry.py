"""The table of embeddings, and the cache of what they computed."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt

from poise.data import folders
from poise.errors import InputError
from poise.registry import Registry

#: Rows of numbers, or texts.
Items = npt.NDArray[Any] | Sequence[str]
#: ``items -> (n, d)`` float32, the same for the same items and parameters.
Embedding = Callable[[Items], npt.NDArray[np.float32]]
embeddings: Registry[Embedding] = Registry("embedding")


def embed(items: Items, name: str = "pca", *, cached: bool = True, **parameters: Any) -> Any:
    """Features of items, (n, d) float32: rows of numbers (images, flattened) or texts.

    Kept in the cache folder under the hash of the items, the name and the parameters: asking again
    costs a read.

    Parameters
    ----------
    items : (n, ...) array, or a sequence of str
    name : str
        See ``poise.embeddings()``.
    cached : bool
    **parameters
        Of the embedding, such as `dimensions`.
    """
    try:
        embedding = embeddings.make(name, **parameters)
    except TypeError:
        known = ", ".join(asdict(embeddings.make(name))) or "no parameters"  # type: ignore[call-overload]
        raise InputError(
            f"{name} does not take {', '.join(parameters)}: it takes {known}"
        ) from None
    if not len(items):
        raise InputError("there are no items to embed")
    if not isinstance(items, np.ndarray) and not all(isinstance(item, str) for item in items):
        items = np.asarray(items)
    if not cached:
        return embedding(items)
    path = folders.cache() / "embeddings" / f"{name}-{_key(items, embedding)}.npy"
    if path.is_file():
        try:
            return np.load(path, allow_pickle=False)
        except (OSError, ValueError, EOFError):
            path.unlink()  # damaged: computed again
    X = embedding(items)
    folders.keep(path, lambda file: np.save(file, X))
    return X


def _key(items: Items, embedding: Embedding) -> str:
    """Hash of everything that the result depends on."""
    digest = hashlib.sha256(json.dumps(asdict(embedding), sort_keys=True).encode())  # type: ignore[call-overload]
    if isinstance(items, np.ndarray):
        digest.update(f"{items.dtype.str} {items.shape}".encode())
        digest.update(np.ascontiguousarray(items).data)
    else:
        for text in items:
            encoded = text.encode()
            digest.update(len(encoded).to_bytes(8, "little"))
            digest.update(encoded)
    return digest.hexdigest()[:32]


def rows(items: Items, name: str) -> npt.NDArray[Any]:
    """Items as rows of finite numbers, or an error that says what they are."""
    array = np.asarray(items)
    if array.dtype.kind not in "buif":
        raise InputError(f"{name} is for numbers, and these items are {array.dtype}: use tfidf")
    array = array.reshape(len(array), -1)
    if not np.isfinite(array).all():
        raise InputError("items have NaN or infinite entries: mend or leave out those rows")
    return array
