"""The mean of a project's items, which is subtracted before they are compared.

It is fixed when the project's graph is made: items that come later, or are only predicted, are
compared with the old ones, so the same mean is subtracted from them.
"""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from poise import embeddings
from poise.data.embeddings.registry import write_array
from poise.studio.source.reading import DAMAGED, keep_whole

#: The file of the mean in a project's folder.
FILE = "centre.npy"

Features = npt.NDArray[np.float32]


def is_centred(embedding: str) -> bool:
    """Whether an embedding's rows are to be centred."""
    return embedding in embeddings and hasattr(embeddings.factory(embedding), "centred")


def uncentred(embedding: str) -> dict[str, Any]:
    """Parameters with which an embedding gives its rows as they are."""
    return {"centred": False} if is_centred(embedding) else {}


def centred(folder: Path, rows: Features, *, keep: bool) -> Features:
    """Rows without the mean; with `keep`, without the mean that the project has already."""
    centre = read_centre(folder) if keep else None
    if centre is None or centre.shape != rows.shape[1:]:
        centre = rows.mean(axis=0)
        keep_whole(folder / FILE, lambda file: write_array(file, centre))
    return rows - centre


def read_centre(folder: Path) -> Features | None:
    """The mean that was subtracted, if there is a whole file of it."""
    try:
        centre: Any = np.load(folder / FILE, allow_pickle=False)
    except DAMAGED:
        return None
    good = isinstance(centre, np.ndarray) and centre.dtype == np.float32 and centre.ndim == 1
    return centre if good and np.isfinite(centre).all() else None
