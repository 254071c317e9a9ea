"""Public data sets: fetched once from where they are published, then read from the cache."""

import gzip
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from poise.data import folders
from poise.data.datasets.dataset import Dataset
from poise.data.datasets.files import steps, stored
from poise.data.datasets.registry import datasets
from poise.data.download import Report, fetch
from poise.data.embeddings.registry import embed
from poise.errors import DataError

MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist"
MNIST_FILES = {
    "train-images-idx3-ubyte.gz": "f68b3c2dcbeaaa9fbdd348bbdeb94873",
    "train-labels-idx1-ubyte.gz": "d53e105ee54ea40749a09fcbcd1e9432",
    "t10k-images-idx3-ubyte.gz": "9fb629c4189551a2d022fa330f9573f3",
    "t10k-labels-idx1-ubyte.gz": "ec29112dd5afa0611ce80d1b7f02629c",
}
FASHION = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com"
FASHION_FILES = {
    "train-images-idx3-ubyte.gz": "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
    "train-labels-idx1-ubyte.gz": "25c81989df183df01b3e8a0aad5dffbe",
    "t10k-images-idx3-ubyte.gz": "bef4ecab320f06d8554ea6380940ec79",
    "t10k-labels-idx1-ubyte.gz": "bb300cfdad3c16e7a12a480ee83cd310",
}
#: Points per digit of the authors' MNIST-IMB, and per garment of their FASHIONMNIST-IMB.
MNIST_IMB = (6636, 6614, 1308, 1071, 2791, 5663, 2535, 1093, 3734, 6186)
FASHION_IMB = (4288, 3908, 4847, 3144, 4491, 6813, 3570, 1926, 4306, 3809)
#: EMNIST's clusters 10 14 18 24 30 36 39: A E I O U a e.
VOWELS = (10, 14, 18, 24, 30, 36, 39)

#: Data set -> where its points come from, and on what terms.
ORIGINS = {
    "mnist": ("Y. LeCun, C. Cortes and C. Burges, The MNIST database", "CC BY-SA 3.0"),
    "fashionmnist": ("H. Xiao, K. Rasul and R. Vollgraf, Fashion-MNIST, 2017", "MIT"),
    "emnist": (
        "G. Cohen, S. Afshar, J. Tapson and A. van Schaik, EMNIST, 2017",
        "public data of NIST",
    ),
    "isolet": ("R. Cole and M. Fanty, ISOLET, UCI, 1991", "CC BY 4.0"),
}

Pair = tuple[npt.NDArray[Any], npt.NDArray[np.int64]]


@datasets.register("mnist")
def mnist(embedding: str = "raw", report: Report | None = None) -> Dataset:
    """70,000 handwritten digits of 28 x 28 pixels, training images first."""

    def images() -> Pair:
        return _found("mnist", lambda: _idx(MNIST, MNIST_FILES, "mnist", report))

    return _dataset("mnist", images, embedding, (28, 28), report)


@datasets.register("fashionmnist")
def fashionmnist(embedding: str = "raw", report: Report | None = None) -> Dataset:
    """70,000 pictures of garments, 28 x 28 pixels, ten kinds."""

    def images() -> Pair:
        return _found("fashionmnist", lambda: _idx(FASHION, FASHION_FILES, "fashionmnist", report))

    return _dataset("fashionmnist", images, embedding, (28, 28), report)


@datasets.register("emnist")
def emnist(embedding: str = "raw", report: Report | None = None) -> Dataset:
    """Handwritten letters and digits, 28 x 28 pixels, 47 balanced classes."""

    def images() -> Pair:
        return _found("emnist", lambda: _openml("EMNIST_Balanced"))

    found = _dataset("emnist", images, embedding, (28, 28), report)
    if found.n_points == 131_600:
        return found
    return found.noted("a class-balanced part, not the official 131,600 points")


@datasets.register("isolet")
def isolet(embedding: str = "raw", report: Report | None = None) -> Dataset:
    """7,797 spoken letters as 617 numbers each, 26 classes."""

    def numbers() -> Pair:
        X, y = _found("isolet", lambda: _openml("isolet"))
        return X.astype(np.float32), y - y.min()

    return _dataset("isolet", numbers, embedding, None, report)


@datasets.register("mnist-imb")
def mnist_imb(seed: int = 0, embedding: str = "raw", report: Report | None = None) -> Dataset:
    """MNIST with clusters of the authors' different sizes, grouped modulo 3: 37,631 points."""
    return _imbalanced(mnist, "mnist-imb", MNIST_IMB, seed, embedding, report)


@datasets.register("fashionmnist-imb")
def fashionmnist_imb(
    seed: int = 0, embedding: str = "raw", report: Report | None = None
) -> Dataset:
    """Fashion-MNIST with clusters of the authors' sizes, grouped modulo 3: 41,102 points."""
    return _imbalanced(fashionmnist, "fashionmnist-imb", FASHION_IMB, seed, embedding, report)


@datasets.register("emnist-vcd")
def emnist_vcd(embedding: str = "raw", report: Report | None = None) -> Dataset:
    """EMNIST in three classes of very different size: vowels, consonants, digits."""
    whole = emnist(embedding, report)
    kinds = np.where(whole.clusters < 10, 2, np.where(np.isin(whole.clusters, VOWELS), 0, 1))
    return whole.grouped("emnist-vcd", kinds.astype(np.int64))


def _dataset(
    name: str,
    points: Callable[[], Pair],
    embedding: str,
    shape: tuple[int, int] | None,
    report: Report | None,
) -> Dataset:
    """The points themselves, or their embedding: from a file NAME_EMBEDDING.npz if there is one."""
    if embedding == "raw":
        X, y = points()
        return Dataset(name, X, y, y, *ORIGINS[name], shape)
    pair = stored(f"{name}_{embedding}")
    if pair is None:
        X, y = points()
        pair = embed(X, embedding, report=steps(report)), y
    X, y = pair
    return Dataset(name, X, y, y, *ORIGINS[name], None, f"embedded with {embedding}")


def _imbalanced(
    base: Callable[..., Dataset],
    name: str,
    sizes: tuple[int, ...],
    seed: int,
    embedding: str,
    report: Report | None,
) -> Dataset:
    """A random choice of so many points of each cluster, unless a file holds the authors' own."""
    own = stored(f"{name.replace('-', '_')}_{embedding}")
    if own is not None:
        X, y = own
        note = f"embedded with {embedding}, the authors' own points"
        return Dataset(name, X, y, y % 3, *ORIGINS[base.__name__], None, note)
    whole = base(embedding, report=report)
    rng = np.random.default_rng(seed)
    chosen = []
    for cluster, size in enumerate(sizes):
        members = np.flatnonzero(whole.clusters == cluster)
        if len(members) < size:
            raise DataError(
                f"{name} needs {size} points of cluster {cluster}, and {whole.name} has "
                f"{len(members)}: use the whole data set"
            )
        chosen.append(rng.choice(members, size, replace=False))
    part = whole.only(name, np.sort(np.concatenate(chosen)))
    return part.grouped(name, part.clusters % 3)


def _found(name: str, make: Callable[[], Pair]) -> Pair:
    """From a file if there is one, else made, and kept in the cache."""
    pair = stored(name)
    if pair is None:
        X, y = pair = make()
        path = folders.cache() / f"{name}.npz"
        folders.keep(path, lambda file: np.savez_compressed(file, X=X, y=y))
    return pair


def _idx(address: str, files: dict[str, str], name: str, report: Report | None) -> Pair:
    """Images and labels of the four files that MNIST and its likes come in."""
    folder = folders.cache() / "downloads" / name
    arrays = []
    for file, md5 in files.items():
        arrays.append(_read_idx(fetch(f"{address}/{file}", folder / file, md5, report)))
    train, train_labels, test, test_labels = arrays
    X = np.concatenate([train, test])
    return X.reshape(len(X), -1), np.concatenate([train_labels, test_labels]).astype(np.int64)


def _read_idx(path: Path) -> npt.NDArray[np.uint8]:
    """The array in a gzipped IDX file of bytes."""
    with gzip.open(path) as file:
        data = file.read()
    n_axes = data[3]
    shape = struct.unpack(f">{n_axes}I", data[4 : 4 + 4 * n_axes])
    return np.frombuffer(data, dtype=np.uint8, offset=4 + 4 * n_axes).reshape(shape)


def _openml(name: str) -> Pair:
    """A data set of OpenML, through scikit-learn, which checks and keeps its files."""
    from sklearn.datasets import fetch_openml

    try:
        found = fetch_openml(
            name, version=1, as_frame=False, parser="liac-arff", data_home=folders.cache()
        )
    except OSError as error:
        raise DataError(
            f"cannot fetch {name} from OpenML ({getattr(error, 'reason', error)}): connect to a "
            "network and try again, or set POISE_DATA to a folder that holds the data"
        ) from None
    _, y = np.unique(found.target, return_inverse=True)
    labels = np.asarray(found.target)
    numbers = labels.astype(np.float64).astype(np.int64) if _numeric(labels) else y
    return np.asarray(found.data), np.asarray(numbers, dtype=np.int64)


def _numeric(labels: npt.NDArray[Any]) -> bool:
    try:
        labels.astype(np.float64)
    except ValueError:
        return False
    return True
