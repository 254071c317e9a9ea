"""Principal components."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from poise.checks import whole_number
from poise.data.embeddings.items import Images, Items, halved, numbers
from poise.data.embeddings.registry import embeddings


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

        if isinstance(items, Images) and items.size is None and not items.colour:
            items = halved(items.array())  # as the app does
        X = numbers(items, "pca")
        n, d = X.shape
        kept = min(self.dimensions, n, d)
        if n == 1:
            return np.zeros((1, kept), dtype=np.float32)
        solver = "randomized"
        if n < d and n <= 2_000:
            solver = "full"
        elif d <= 5_000:
            solver = "covariance_eigh"
        fit = Fit(kept, svd_solver=solver, random_state=0)
        with np.errstate(divide="ignore", invalid="ignore"):  # shares of no variance
            return np.asarray(fit.fit_transform(X), dtype=np.float32)
