"""The table of embeddings, and the cache of their results."""

import hashlib
import io
import json
from collections.abc import Callable
from dataclasses import asdict, fields
from inspect import signature
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from poise.data import folders
from poise.data.embeddings.items import Images, Items, are_texts, content_hash
from poise.data.embeddings.kept import Kept
from poise.errors import InputError
from poise.progress import NotedProgress
from poise.registry import Registry

#: ``items -> (n, d)`` float32, the same for the same items and parameters. It may also take
#: `progress`, and `checkpoint`, the path of a file with what a later call needs to continue. One
#: that computes each item by itself says ``itemwise = True``, has `dimensions` and `fingerprint()`,
#: and takes `kept`, in which it looks up and keeps rows item by item.
Embedding = Callable[..., npt.NDArray[np.float32]]
embeddings: Registry[Embedding] = Registry("embedding", "poise.embeddings")
#: Instead of a name: the embedding that suits the items.
AUTO = "auto"


def embed(
    items: Items,
    name: str = "auto",
    *,
    cached: bool = True,
    progress: NotedProgress | None = None,
    **parameters: Any,
) -> npt.NDArray[np.float32]:
    """Features of items, (n, d) float32: rows of numbers (images, flattened), texts, image files.

    The result is kept in the cache folder under the hash of the items, the name and the parameters,
    so a second call costs a read. A training that was interrupted resumes. Where each item is
    computed by itself, rows are kept item by item, and only new items are computed.

    Parameters
    ----------
    items : (n, ...) array, a sequence of str, or the result of `poise.data.sources.read_items`
    name : str
        See ``poise.embeddings()``; "auto" chooses what suits the items, as in the app.
    cached : bool
    progress : callable, optional
        Called with (done, total, note) by embeddings that take long.
    **parameters
        Parameters of the embedding, such as `dimensions`.

    Examples
    --------
    >>> import poise
    >>> texts = ["a lost card", "my card is lost", "change my address", "I have moved house"]
    >>> poise.embed(texts, "tfidf", dimensions=2, cached=False).shape
    (4, 2)
    """
    if name != AUTO:
        make(name, parameters)  # an unknown parameter costs no work
    if isinstance(items, str):
        raise InputError("items is one text: give a list of texts, or read a file with read_items")
    if not len(items):
        raise InputError("there are no items to embed")
    if not isinstance(items, (np.ndarray, Images)) and not are_texts(items):
        items = _as_array(items)
    if name == AUTO:
        from poise.data.embeddings.choosing import suited  # which imports the encoders

        name = suited(items).name
    embedding = make(name, parameters)
    offered: dict[str, Any] = {"progress": progress, "checkpoint": None, "kept": None}
    if not cached:
        return embedding(items, **_accepted(embedding, offered))
    if getattr(embedding, "itemwise", False):
        offered["kept"] = kept_rows(name, embedding)
        return embedding(items, **_accepted(embedding, offered))
    path = folders.cache() / "embeddings" / f"{name}-{_key(items, embedding)}.npy"
    if path.is_file():
        try:
            X = np.load(path, allow_pickle=False)
            if X.dtype == np.float32 and X.ndim == 2 and len(X) == len(items):
                return np.asarray(X)
        except (OSError, ValueError, EOFError):
            pass
        path.unlink()  # damaged: computed again
    offered["checkpoint"] = path.with_suffix(".checkpoint")
    X = embedding(items, **_accepted(embedding, offered))
    folders.keep(path, lambda file: write_array(file, X))
    offered["checkpoint"].unlink(missing_ok=True)
    return X


def make(name: str, parameters: dict[str, Any]) -> Embedding:
    """The embedding called `name`; a parameter that it does not have is an `InputError`."""
    known = [field.name for field in fields(embeddings.factory(name))]  # type: ignore[arg-type]
    unknown = [parameter for parameter in parameters if parameter not in known]
    if unknown:
        raise InputError(
            f"{name} does not take {', '.join(unknown)}: it takes "
            f"{', '.join(known) or 'no parameters'}"
        )
    return embeddings.make(name, **parameters)


def kept_rows(name: str, embedding: Any) -> Kept:
    """Where the cache keeps rows of an embedding that computes each item by itself."""
    fingerprint = embedding.fingerprint()
    digest = hashlib.sha256(fingerprint.encode()).hexdigest()[:32]
    path = folders.cache() / "embeddings" / f"{name}-{digest}.rows"
    return Kept(path, embedding.dimensions, fingerprint)


def write_array(file: BinaryIO, X: npt.NDArray[Any]) -> None:
    """The array in NumPy's format; a full disk is an `OSError` that says so."""
    header = io.BytesIO()
    X = np.ascontiguousarray(X)
    np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(X))
    file.write(header.getbuffer())
    file.write(X.data)


def _accepted(embedding: Embedding, offered: dict[str, Any]) -> dict[str, Any]:
    """Those of `offered` that the embedding has a parameter for."""
    taken = signature(embedding).parameters
    return {name: value for name, value in offered.items() if name in taken}


def _key(items: Items, embedding: Embedding) -> str:
    parameters = asdict(embedding)  # type: ignore[call-overload]
    if hasattr(embedding, "fingerprint"):  # hash of files that the result depends on
        parameters["fingerprint"] = embedding.fingerprint()
    return content_hash(items, json.dumps(parameters, sort_keys=True))


def _as_array(items: Any) -> npt.NDArray[Any]:
    try:
        return np.asarray(items)
    except ValueError:
        raise InputError(
            "items differ in their number of entries: give rows of equal length, or texts"
        ) from None
