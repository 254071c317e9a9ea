"""Names for the array types that are used everywhere."""

from typing import Any

import numpy as np
import numpy.typing as npt

#: In double precision, or in single where a solve needed no more.
Floats = npt.NDArray[np.floating[Any]]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
