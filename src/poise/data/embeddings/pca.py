"""Principal components."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from poise.checks import whole_number
from poise.data.embeddings.raw import Raw
from poise.data.embeddings.registry import Items, embeddings


@embeddings.register("pca")
@dataclass(frozen=True)
class PCA:
    """Projections on the directions of largest variance: quick, and a fair start for images.

    Parameters
    ----------
    dimensions : int
        At most as many as the smaller of points and features; fewer are used if there are fewer.
    """

    dimensions: int = 50

    def __post_init__(self) -> None:
        whole_number(self.dimensions, "dimensions", 1)

    def __call__(self, items: Items) -> npt.NDArray[np.float32]:
        from sklearn.decomposition import PCA as Fit

        X = Raw()(items)
        fit = Fit(min(self.dimensions, *X.shape), svd_solver="covariance_eigh")
        if X.shape[1] > 5_000:
            fit = Fit(min(self.dimensions, *X.shape), svd_solver="randomized", random_state=0)
        return np.asarray(fit.fit_transform(X), dtype=np.float32)
