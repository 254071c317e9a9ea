"""The table of data sets, and how they are loaded by name."""

import re
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any

import numpy.typing as npt

from poise.data.datasets.dataset import Dataset
from poise.data.datasets.files import read_images
from poise.data.embeddings.items import are_images
from poise.data.embeddings.registry import embed, embeddings
from poise.errors import InputError
from poise.progress import Progress, without_note
from poise.registry import Registry

datasets: Registry[Dataset] = Registry("data set")
_modulo = re.compile(r"(?P<name>.+)-mod(?P<k>\d+)")


def load_dataset(
    name: str, *, embedding: str = "raw", progress: Progress | None = None, **options: Any
) -> Dataset:
    """The data set called `name`, or your own in an .npz file.

    Files of a data set are looked for in the folder named by the environment variable POISE_DATA,
    then in the cache; what is missing is downloaded once. ``NAME-modK`` is any data set with its
    clusters grouped into K classes by their number modulo K, as in the paper.

    Parameters
    ----------
    name : str
        See ``poise.datasets()``; or the path of an .npz file with arrays `X` and `y`, a class for
        each row of `X`.
    embedding : str
        What replaces the points' own numbers. A file NAME_EMBEDDING.npz in the same folders is used
        if there is one, whatever the embedding is called; else it is one of
        ``poise.embeddings()``, computed once. Texts have no numbers of their own: for them "raw" is
        "tfidf".
    progress : function, optional
        Called with (done, total) during downloads, in bytes, and embedding, in steps.
    **options
        Parameters of the data set, such as `seed` for the generated ones.

    Returns
    -------
    Dataset
        Its main fields: `X`, a row of features per point; `y`, the class of each point, a whole
        number (another name of `classes`); `clusters`, a finer grouping, or the same; `texts` and
        `shape`, if points are texts or images; `name`, `source`, `licence` and `note`. See
        `poise.Dataset`.

    Raises
    ------
    UnknownNameError
        If there is no such data set; it names the nearest.
    InputError
        If an .npz file does not exist, or `options` do not belong to the data set.
    DataError
        If files can neither be found nor downloaded, or are damaged.

    Examples
    --------
    >>> import poise
    >>> poise.load_dataset("blobs", size=100)
    Dataset(blobs: 800 points x 2, 8 clusters, 2 classes)
    """
    if name.endswith(".npz") and name not in datasets:
        if options:
            raise InputError(f"{name} is a file and does not take {', '.join(options)}")
        return _own(Path(name), embedding, progress)
    grouping = _modulo.fullmatch(name) if name not in datasets else None
    if grouping:
        k = int(grouping["k"])
        whole = load_dataset(grouping["name"], embedding=embedding, progress=progress, **options)
        if not 2 <= k <= whole.n_clusters:
            raise InputError(
                f"{name}: {whole.n_clusters} clusters cannot be grouped modulo {k}; "
                f"expected a number from 2 to {whole.n_clusters}"
            )
        return whole.grouped(name, whole.clusters % k)
    takes = signature(datasets.factory(name)).parameters
    if "embedding" not in takes:
        embeddings.factory(embedding)  # an unknown name costs no work
    offered = {"progress": progress, "embedding": embedding}
    try:
        dataset = datasets.make(name, **options, **{k: v for k, v in offered.items() if k in takes})
    except TypeError:
        raise InputError(
            f"{name} does not take {', '.join(options)}: see help(poise.load_dataset)"
        ) from None
    if embedding == "raw" or "embedding" in takes:
        return dataset
    X = embed(dataset.X, embedding, progress=without_note(progress))
    return _with_features(dataset, X, embedding)


def _own(path: Path, embedding: str, progress: Progress | None) -> Dataset:
    """The points of a user's own file; images are embedded as images."""
    if not path.is_file():
        raise InputError(f"there is no file {path}: expected an .npz file with arrays X and y")
    X, y = read_images(path)
    shape = X.shape[1:] if are_images(X) else None
    dataset = Dataset(path.stem, X.reshape(len(X), -1), y, y, str(path), "your own", shape)
    if embedding == "raw":
        return dataset
    return _with_features(dataset, embed(X, embedding, progress=without_note(progress)), embedding)


def _with_features(dataset: Dataset, X: npt.NDArray[Any], embedding: str) -> Dataset:
    return replace(dataset, X=X, shape=None).noted(f"embedded with {embedding}")
