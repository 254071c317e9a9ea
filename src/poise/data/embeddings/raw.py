"""The numbers themselves."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from poise.data.embeddings.registry import Items, embeddings, rows


@embeddings.register("raw")
@dataclass(frozen=True)
class Raw:
    """The numbers as they are, a row per item; bytes become 0 to 1."""

    def __call__(self, items: Items) -> npt.NDArray[np.float32]:
        X = rows(items, "raw")
        scale = np.float32(255) if X.dtype == np.uint8 else np.float32(1)
        return np.asarray(X.astype(np.float32) / scale)
