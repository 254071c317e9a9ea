"""What a data set is."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Points with two groupings: clusters, and the classes that they make up.

    Attributes
    ----------
    name : the name it was requested by
    X : (n, d) features, a row per point
    clusters : (n,) int, the finer grouping
    classes : (n,) int, what is to be learned; equal to `clusters` where there is one grouping
    y : the same as `classes`, by the name that scikit-learn uses
    shape : height and width, and 3 in colour, if rows of `X` are images, else None
    source, licence : where the points come from, and on what terms
    note : what to know before comparing figures, if anything
    texts : (n,) str, the texts that `X` was made from, else None; also None if `X` is from a file

    Examples
    --------
    >>> import poise
    >>> data = poise.load_dataset("digits")
    >>> data.X.shape, data.shape, data.n_classes
    ((1797, 64), (8, 8), 10)
    """

    name: str
    X: npt.NDArray[Any]
    clusters: npt.NDArray[np.int64]
    classes: npt.NDArray[np.int64]
    source: str
    licence: str
    shape: tuple[int, ...] | None = None
    note: str = ""
    texts: tuple[str, ...] | None = None

    @property
    def y(self) -> npt.NDArray[np.int64]:
        return self.classes

    @property
    def n_points(self) -> int:
        return len(self.X)

    @property
    def n_clusters(self) -> int:
        return len(np.unique(self.clusters))

    @property
    def n_classes(self) -> int:
        return len(np.unique(self.classes))

    def grouped(self, name: str, classes: npt.NDArray[np.int64]) -> "Dataset":
        """The same points with other classes."""
        return replace(self, name=name, classes=classes)

    def noted(self, note: str) -> "Dataset":
        """The same with another sentence in its note."""
        return replace(self, note="; ".join(filter(None, [self.note, note])))

    def only(self, name: str, chosen: npt.NDArray[np.int64]) -> "Dataset":
        """Some of the points."""
        return replace(
            self,
            name=name,
            X=self.X[chosen],
            clusters=self.clusters[chosen],
            classes=self.classes[chosen],
            texts=None if self.texts is None else tuple(self.texts[i] for i in chosen),
        )

    def __repr__(self) -> str:
        n, d = self.X.shape
        return (
            f"Dataset({self.name}: {n:,} points x {d}, {self.n_clusters} clusters, "
            f"{self.n_classes} classes)"
        )
