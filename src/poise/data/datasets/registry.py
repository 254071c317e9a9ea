"""The table of data sets, and how they are loaded by name."""

import re
from dataclasses import replace
from inspect import signature
from typing import Any

from poise.data.datasets.dataset import Dataset
from poise.data.embeddings.registry import embed, embeddings
from poise.errors import InputError
from poise.progress import Progress, without_note
from poise.registry import Registry

datasets: Registry[Dataset] = Registry("data set")
_modulo = re.compile(r"(?P<name>.+)-mod(?P<k>\d+)")


def load_dataset(
    name: str, *, embedding: str = "raw", progress: Progress | None = None, **options: Any
) -> Dataset:
    """The data set called `name`.

    Files are looked for in the folder named by the environment variable POISE_DATA, then in the
    cache; what is missing is downloaded once. ``NAME-modK`` is any data set with its clusters
    grouped into K classes by their number modulo K, as in the paper.

    Parameters
    ----------
    name : str
        See ``poise.datasets()``.
    embedding : str
        What replaces the points' own numbers. A file NAME_EMBEDDING.npz in the same folders is used
        if there is one, whatever the embedding is called; else it is one of
        ``poise.embeddings()``, computed once. Texts have no numbers of their own: for them "raw" is
        "tfidf".
    progress : function, optional
        Called with (done, total) during downloads, in bytes, and embedding, in steps.
    **options
        Parameters of the data set, such as `seed` for the generated ones.

    Raises
    ------
    UnknownNameError
        If there is no such data set; it names the nearest.
    DataError
        If files can neither be found nor downloaded, or are damaged.

    Examples
    --------
    >>> import poise
    >>> poise.load_dataset("blobs", size=100)
    Dataset(blobs: 800 points x 2, 8 clusters, 2 classes)
    """
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
    return replace(
        dataset, X=embed(dataset.X, embedding, progress=without_note(progress)), shape=None
    ).noted(f"embedded with {embedding}")
