"""Public data sets: downloaded once from their publishers, then read from the cache."""

import gzip
import struct
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any
from zipfile import ZipFile

import numpy as np
import numpy.typing as npt

from poise.data import folders
from poise.data.datasets.dataset import Dataset
from poise.data.datasets.embedded import kept, published
from poise.data.datasets.files import Pair, stored
from poise.data.datasets.registry import datasets
from poise.data.download import fetch, silent_retries
from poise.errors import DataError
from poise.progress import Progress

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
EMNIST = "https://biometrics.nist.gov/cs_links/EMNIST/gzip.zip"
EMNIST_MD5 = "58c8d27c78d21e728a6bc7b3cc06412e"
#: Size of the official Balanced split.
EMNIST_POINTS = 131_600
#: EMNIST's clusters 10 14 18 24 30 36 39: A E I O U a e.
VOWELS = (10, 14, 18, 24, 30, 36, 39)

#: Data set -> where its points come from, and their licence.
ORIGINS = {
    "mnist": ("Y. LeCun, C. Cortes and C. Burges, The MNIST database", "CC BY-SA 3.0"),
    "fashionmnist": ("H. Xiao, K. Rasul and R. Vollgraf, Fashion-MNIST, 2017", "MIT"),
    "emnist": (
        "G. Cohen, S. Afshar, J. Tapson and A. van Schaik, EMNIST, 2017",
        "public data of NIST",
    ),
    "isolet": ("R. Cole and M. Fanty, ISOLET, UCI, 1991", "CC BY 4.0"),
}


@datasets.register("mnist")
def mnist(embedding: str = "raw", progress: Progress | None = None) -> Dataset:
    """70,000 handwritten digits of 28 x 28 pixels, training images first."""

    def images() -> Pair:
        return kept("mnist", lambda: _idx(MNIST, MNIST_FILES, "mnist", progress))

    return published(
        "mnist", images, embedding, ORIGINS["mnist"], shape=(28, 28), progress=progress
    )


@datasets.register("fashionmnist")
def fashionmnist(embedding: str = "raw", progress: Progress | None = None) -> Dataset:
    """70,000 pictures of garments, 28 x 28 pixels, ten kinds."""

    def images() -> Pair:
        return kept("fashionmnist", lambda: _idx(FASHION, FASHION_FILES, "fashionmnist", progress))

    return published(
        "fashionmnist",
        images,
        embedding,
        ORIGINS["fashionmnist"],
        shape=(28, 28),
        progress=progress,
    )


@datasets.register("emnist")
def emnist(embedding: str = "raw", progress: Progress | None = None) -> Dataset:
    """Handwritten letters and digits, 28 x 28 pixels, 47 balanced classes."""

    def images() -> Pair:
        return kept("emnist", lambda: _openml("EMNIST_Balanced"))

    dataset = published(
        "emnist", images, embedding, ORIGINS["emnist"], shape=(28, 28), progress=progress
    )
    if dataset.n_points == EMNIST_POINTS:
        return dataset
    part = f"a class-balanced part of {dataset.n_points:,} points"
    return dataset.noted(f"{part}, not the official {EMNIST_POINTS:,}")


@datasets.register("isolet")
def isolet(embedding: str = "raw", progress: Progress | None = None) -> Dataset:
    """7,797 spoken letters as 617 numbers each, 26 classes."""

    def numbers() -> Pair:
        X, y = kept("isolet", lambda: _openml("isolet"))
        return X.astype(np.float32), y - y.min()

    return published("isolet", numbers, embedding, ORIGINS["isolet"], progress=progress)


@datasets.register("emnist-bymerge")
def emnist_bymerge(embedding: str = "raw", progress: Progress | None = None) -> Dataset:
    """EMNIST's ByMerge test split: 116,323 letters and digits, 47 classes of 415 to 6,400 points.

    The images come in NIST's one archive of all splits, 562 MB, of which the test split is kept.
    """

    def images() -> Pair:
        return kept("emnist_bymerge_test", lambda: _emnist_split("bymerge-test", progress))

    return published(
        "emnist-bymerge",
        images,
        embedding,
        ORIGINS["emnist"],
        shape=(28, 28),
        progress=progress,
        file="emnist_bymerge_test",
    )


@datasets.register("mnist-imb")
def mnist_imb(seed: int = 0, embedding: str = "raw", progress: Progress | None = None) -> Dataset:
    """MNIST with clusters of the authors' different sizes, grouped modulo 3: 37,631 points."""
    return _imbalanced(mnist, "mnist-imb", MNIST_IMB, seed, embedding, progress)


@datasets.register("fashionmnist-imb")
def fashionmnist_imb(
    seed: int = 0, embedding: str = "raw", progress: Progress | None = None
) -> Dataset:
    """Fashion-MNIST with clusters of the authors' sizes, grouped modulo 3: 41,102 points."""
    return _imbalanced(fashionmnist, "fashionmnist-imb", FASHION_IMB, seed, embedding, progress)


@datasets.register("emnist-vcd")
def emnist_vcd(embedding: str = "raw", progress: Progress | None = None) -> Dataset:
    """EMNIST in three classes of very different size: vowels, consonants, digits."""
    whole = emnist(embedding, progress)
    kinds = np.where(whole.clusters < 10, 2, np.where(np.isin(whole.clusters, VOWELS), 0, 1))
    return whole.grouped("emnist-vcd", kinds.astype(np.int64))


def _imbalanced(
    base: Callable[..., Dataset],
    name: str,
    sizes: tuple[int, ...],
    seed: int,
    embedding: str,
    progress: Progress | None,
) -> Dataset:
    """A random sample with these cluster sizes, unless a file holds the authors' own sample."""
    own = stored(f"{name.replace('-', '_')}_{embedding}")
    if own is not None:
        X, y = own
        note = f"embedded with {embedding}, the authors' own points"
        return Dataset(name, X, y, y % 3, *ORIGINS[base.__name__], None, note)
    whole = base(embedding, progress=progress)
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


def _idx(address: str, files: dict[str, str], name: str, progress: Progress | None) -> Pair:
    """Images and labels of the four files that MNIST and its likes come in."""
    folder = folders.cache() / "downloads" / name
    arrays = []
    for file, md5 in files.items():
        arrays.append(_read_idx(fetch(f"{address}/{file}", folder / file, md5, progress)))
    train, train_labels, test, test_labels = arrays
    X = np.concatenate([train, test])
    return X.reshape(len(X), -1), np.concatenate([train_labels, test_labels]).astype(np.int64)


def _emnist_split(split: str, progress: Progress | None) -> Pair:
    """Images and labels of one split of EMNIST."""
    archive = folders.cache() / "downloads" / "emnist" / "gzip.zip"
    with ZipFile(fetch(EMNIST, archive, EMNIST_MD5, progress)) as files:
        with files.open(f"gzip/emnist-{split}-images-idx3-ubyte.gz") as file:
            images = _read_idx(file)
        with files.open(f"gzip/emnist-{split}-labels-idx1-ubyte.gz") as file:
            labels = _read_idx(file)
    # NIST stores rows of pixels as columns; now they are upright, as in MNIST.
    X = images.transpose(0, 2, 1).reshape(len(images), -1)
    return np.ascontiguousarray(X), labels.astype(np.int64)


def _read_idx(source: Path | IO[bytes]) -> npt.NDArray[np.uint8]:
    """The array in a gzipped IDX file of bytes."""
    with gzip.open(source) as file:
        data = file.read()
    n_axes = data[3]
    shape = struct.unpack(f">{n_axes}I", data[4 : 4 + 4 * n_axes])
    return np.frombuffer(data, dtype=np.uint8, offset=4 + 4 * n_axes).reshape(shape)


def _openml(name: str) -> Pair:
    """A data set of OpenML, through scikit-learn, which checks and keeps its files."""
    from sklearn.datasets import fetch_openml

    try:
        with silent_retries():
            fetched = fetch_openml(
                name, version=1, as_frame=False, parser="liac-arff", data_home=folders.cache()
            )
    except OSError as error:
        raise DataError(
            f"cannot fetch {name} from OpenML ({getattr(error, 'reason', error)}): connect to a "
            "network and try again, or set POISE_DATA to a folder that holds the data"
        ) from None
    _, y = np.unique(fetched.target, return_inverse=True)
    labels = np.asarray(fetched.target)
    numbers = labels.astype(np.float64).astype(np.int64) if _numeric(labels) else y
    return np.asarray(fetched.data), np.asarray(numbers, dtype=np.int64)


def _numeric(labels: npt.NDArray[Any]) -> bool:
    try:
        labels.astype(np.float64)
    except ValueError:
        return False
    return True
