"""What comes with scikit-learn."""

import numpy as np

from poise.data.datasets.dataset import Dataset
from poise.data.datasets.registry import datasets


@datasets.register("digits")
def digits() -> Dataset:
    """1,797 handwritten digits of 8 x 8 pixels, bundled with scikit-learn: needs no network."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    y = np.asarray(y, dtype=np.int64)
    source = "E. Alpaydin and C. Kaynak, Optical Recognition of Handwritten Digits, UCI, 1998"
    return Dataset("digits", np.asarray(X, dtype=np.float32), y, y, source, "CC BY 4.0", (8, 8))
