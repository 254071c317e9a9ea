"""Histograms of oriented gradients."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from poise.checks import whole_number
from poise.data.embeddings.items import Items, as_images
from poise.data.embeddings.pca import PCA
from poise.data.embeddings.registry import embeddings
from poise.errors import InputError
from poise.extras import needed
from poise.progress import NotedProgress

#: Cells to a block: within a block the histograms are normalised together.
BLOCK_CELLS = 3


@embeddings.register("hog")
@dataclass(frozen=True)
class HOG:
    """Images by the directions of their edges, in few dimensions (needs scikit-image).

    Each image is cut into square cells; the gradients in a cell make a histogram of directions,
    and histograms of 3 x 3 neighbouring cells are normalised together. Principal components of
    these follow. Knows strokes and outlines, needs no training and no network.

    Parameters
    ----------
    dimensions : int
        Principal components to keep.
    cells : int
        Cells along the shorter side of an image.
    orientations : int
        Directions told apart.
    height, width : int, optional
        Of an image, where items are rows of numbers that are no square.

    References
    ----------
    Dalal and Triggs, Histograms of Oriented Gradients for Human Detection, 2005.
    """

    dimensions: int = 50
    cells: int = 7
    orientations: int = 9
    height: int | None = None
    width: int | None = None

    def __post_init__(self) -> None:
        for name in ("dimensions", "cells", "orientations"):
            whole_number(getattr(self, name), name, 1)
        for name in ("height", "width"):
            if getattr(self, name) is not None:
                whole_number(getattr(self, name), name, 1)

    def __call__(
        self, items: Items, progress: NotedProgress | None = None
    ) -> npt.NDArray[np.float32]:
        feature = needed("skimage.feature", "image", "the embedding hog")
        images = as_images(items, "hog", self.height, self.width)
        high, wide = images.shape[1:3]
        side = max(2, round(min(high, wide) / self.cells))
        if min(high, wide) < side:
            raise InputError(f"images of {high} x {wide} pixels have no cells: use raw or pca")
        block = min(BLOCK_CELLS, high // side, wide // side)
        histograms = []
        for i, image in enumerate(images, start=1):
            histogram = feature.hog(
                image,
                orientations=self.orientations,
                pixels_per_cell=(side, side),
                cells_per_block=(block, block),
                channel_axis=2 if image.ndim == 3 else None,
            )
            histograms.append(histogram.astype(np.float32))
            if progress and (i % 500 == 0 or i == len(images)):
                progress(i, len(images), "")
        return PCA(self.dimensions)(np.stack(histograms))
