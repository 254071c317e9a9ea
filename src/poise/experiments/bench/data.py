"""The files that benchmarks read."""

import os
from pathlib import Path

import numpy as np
import numpy.typing as npt

from poise.data.datasets.files import read
from poise.errors import InputError


def load(name: str) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    """`X` and `y` of NAME.npz in the folder that the variable POISE_DATA names."""
    folder = os.environ.get("POISE_DATA")
    if not folder:
        raise InputError(
            f"this benchmark reads {name}.npz: set POISE_DATA to the folder that holds it"
        )
    path = Path(folder) / f"{name}.npz"
    if not path.is_file():
        raise InputError(f"there is no {name}.npz in {folder}: set POISE_DATA to another folder")
    return read(path)
