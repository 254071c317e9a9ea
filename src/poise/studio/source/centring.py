"""The mean of a project's items, which is subtracted before they are compared.

It is fixed when the project's graph is made. Items that come later, or are only predicted, are
compared with the old ones, so the same mean is subtracted from them.
"""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from poise import embeddings
from poise.data.embeddings.registry import write_array
from poise.data.image_cache import DAMAGED
from poise.studio.source.project_files import CENTRE_FILE, write_file

Features = npt.NDArray[np.float32]


def is_centred(embedding: str) -> bool:
    """Whether the rows of an embedding are to be centred."""
    return embedding in embeddings and hasattr(embeddings.factory(embedding), "centred")


def uncentred(embedding: str) -> dict[str, Any]:
    """Parameters with which an embedding returns its rows uncentred."""
    return {"centred": False} if is_centred(embedding) else {}


def centred(folder: Path, rows: Features, *, keep: bool) -> Features:
    """Rows minus their mean; with `keep`, minus the mean that the project has already."""
    centre = read_centre(folder) if keep else None
    if centre is None or centre.shape != rows.shape[1:]:
        centre = rows.mean(axis=0)
        write_file(folder / CENTRE_FILE, lambda file: write_array(file, centre))
    return rows - centre


def read_centre(folder: Path) -> Features | None:
    """The mean that was subtracted, if its file is there and undamaged."""
    try:
        centre: Any = np.load(folder / CENTRE_FILE, allow_pickle=False)
    except DAMAGED:
        return None
    good = isinstance(centre, np.ndarray) and centre.dtype == np.float32 and centre.ndim == 1
    return centre if good and np.isfinite(centre).all() else None
