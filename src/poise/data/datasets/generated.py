"""Generated data sets: the paper's toy examples."""

import numpy as np

from poise.data.datasets.dataset import Dataset
from poise.data.datasets.registry import datasets
from poise.errors import InputError

SOURCE = "generated as in Miller and Calder, section 4.1"
LICENCE = "none needed"
#: Width of the band that is left out of the box: a lattice column on either side of x = 0.3.
BAND_WIDTH = 0.035
VERSIONS = ("paper", "authors")


@datasets.register("blobs")
def blobs(seed: int = 0, size: int = 300, spread: float = 0.17, version: str = "paper") -> Dataset:
    """Eight Gaussian clouds on the unit circle, two classes in turn (the paper's Blobs).

    Cloud i has its centre at ``(cos(pi i / 4), sin(pi i / 4))``, standard deviation `spread` and
    `size` points; its class is i modulo 2. The file of the authors' repository is such a sample
    in random order, which is what `version` "authors" gives; cloud by cloud otherwise.
    """
    _check_version("blobs", version)
    rng = np.random.default_rng(seed)
    clusters = np.repeat(np.arange(8), size)
    angle = np.pi * clusters / 4
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    X += spread * rng.normal(size=X.shape)
    dataset = Dataset("blobs", X, clusters, clusters % 2, SOURCE, LICENCE)
    return dataset if version == "paper" else dataset.only("blobs", rng.permutation(len(X)))


@datasets.register("box")
def box(side: int = 65, band: float = BAND_WIDTH, version: str = "paper") -> Dataset:
    """A square lattice without a thin vertical band, two classes left and right of it (Box).

    `side` x `side` points of the unit square, those with ``|x - 0.3| < band / 2`` left out. The
    paper gives no width: the default takes out two columns of the lattice. The file of the
    authors' repository, `version` "authors", is the whole lattice, row by row, and its right
    class begins with the column at 19/64, left of 0.3.
    """
    _check_version("box", version)
    if not 0 <= band < 0.6:
        raise InputError(f"band is {band}: it must be a width from 0 to below 0.6")
    ticks = np.linspace(0.0, 1.0, side)
    if version == "authors":
        X = np.array([(x, y) for y in ticks for x in ticks])
        clusters = (X[:, 0] > 0.29).astype(np.int64)
    else:
        X = np.array([(x, y) for x in ticks for y in ticks])
        X = X[np.abs(X[:, 0] - 0.3) >= band / 2]
        clusters = (X[:, 0] > 0.3).astype(np.int64)
    return Dataset("box", X, clusters, clusters, SOURCE, LICENCE)


def _check_version(name: str, version: str) -> None:
    if version not in VERSIONS:
        raise InputError(f"there is no version {version!r} of {name}: expected paper or authors")
