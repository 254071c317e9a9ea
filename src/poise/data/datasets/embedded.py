"""Points as they are published, or an embedding of them, read from a file or computed once."""

from collections.abc import Callable

import numpy as np

from poise.data import folders
from poise.data.datasets.dataset import Dataset
from poise.data.datasets.files import Pair, stored
from poise.data.embeddings.registry import embed, embeddings
from poise.errors import UnknownNameError
from poise.progress import Progress, without_note


def kept(file: str, make: Callable[[], Pair]) -> Pair:
    """The points of FILE.npz if there is one; else they are made and kept in the cache."""
    pair = stored(file)
    if pair is None:
        X, y = pair = make()
        path = folders.cache() / f"{file}.npz"
        folders.keep(path, lambda opened: np.savez_compressed(opened, X=X, y=y))
    return pair


def stored_embedding(file: str, embedding: str) -> Pair | None:
    """The points of FILE_EMBEDDING.npz; None if there is no such file, but the name is known.

    Raises
    ------
    UnknownNameError
        If there is neither such a file nor a registered embedding: an unknown name costs no work.
    """
    pair = stored(f"{file}_{embedding}")
    if pair is None:
        try:
            embeddings.factory(embedding)
        except UnknownNameError as error:
            raise UnknownNameError(
                f"{error}; a file {file}_{embedding}.npz in the folder named by POISE_DATA would "
                "be used, but there is none"
            ) from None
    return pair


def published(
    name: str,
    points: Callable[[], Pair],
    embedding: str,
    origin: tuple[str, str],
    *,
    shape: tuple[int, ...] | None = None,
    progress: Progress | None = None,
    file: str | None = None,
) -> Dataset:
    """The points themselves, or their embedding: from FILE_EMBEDDING.npz if there is one.

    Parameters
    ----------
    name : what the data set is called
    points : reads, or fetches, the points and their clusters
    embedding : "raw" for the points themselves
    origin : where the points come from, and their licence
    shape : of a point, if points are images
    progress : called with (done, total)
    file : beginning of the names of its files, if that is not `name`
    """
    if embedding == "raw":
        X, y = points()
        return Dataset(name, X, y, y, *origin, shape)
    pair = stored_embedding(file or name, embedding)
    if pair is None:
        X, y = points()
        # Only the shape says that there are colours: a row of 3,072 numbers is no square image.
        images = X.reshape(len(X), *shape) if shape and len(shape) == 3 else X
        pair = embed(images, embedding, progress=without_note(progress)), y
    X, y = pair
    return Dataset(name, X, y, y, *origin, None, f"embedded with {embedding}")
