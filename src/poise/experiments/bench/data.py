"""The data that benchmarks read, and the labels with which they start."""

import os
from pathlib import Path

import numpy as np
import numpy.typing as npt

from poise.arrays import Ints
from poise.data.datasets.files import read
from poise.errors import InputError
from poise.graph import Graph, knn_graph


def load(name: str) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    """`X` and `y` of NAME.npz in the folder that the environment variable POISE_DATA names."""
    folder = os.environ.get("POISE_DATA")
    if not folder:
        raise InputError(
            f"this benchmark reads {name}.npz: set POISE_DATA to the folder that contains it"
        )
    path = Path(folder) / f"{name}.npz"
    if not path.is_file():
        raise InputError(f"there is no {name}.npz in {folder}: set POISE_DATA to another folder")
    return read(path)


def imbalanced_mnist() -> tuple[Graph, Ints]:
    """The graph of mnist_imb_vae with 20 neighbours, and the classes: digits modulo 3."""
    X, digits = load("mnist_imb_vae")
    return knn_graph(X, k=20), digits % 3


def one_per_class(classes: Ints, rng: np.random.Generator) -> Ints:
    """A random node of each class, in the order of the classes."""
    return np.array([rng.choice(np.flatnonzero(classes == c)) for c in np.unique(classes)])
