"""The numbers themselves."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from poise.data.embeddings.items import Items, numbers
from poise.data.embeddings.registry import embeddings


@embeddings.register("raw")
@dataclass(frozen=True)
class Raw:
    """The numbers as they are, a row per item; bytes become 0 to 1."""

    def __call__(self, items: Items) -> npt.NDArray[np.float32]:
        return numbers(items, "raw")
