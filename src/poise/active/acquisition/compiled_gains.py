"""The gains of herding in one compiled pass over the squared distances.

NumPy would write sixteen million exponentials to memory and read them back, three times.
"""

from math import factorial, log

import numba
import numpy as np
from numba import prange

#: Coefficients of ``2^f = exp(f ln 2)``: enough of them for |f| <= 1/2 in single precision.
C1, C2, C3, C4, C5, C6 = (np.float32(log(2.0) ** k / factorial(k)) for k in range(1, 7))
HALF, ONE, ZERO = np.float32(0.5), np.float32(1.0), np.float32(0.0)
#: Smallest exponent of a normal number in single precision; beyond it numbers count as this.
MIN_EXPONENT = np.float32(-126.0)
BIAS, FRACTION_BITS = np.int32(127), np.int32(23)


@numba.njit(inline="always")
def power_of_two(t):  # type: ignore[no-untyped-def]
    """``2^t`` for t <= 0, in operations that processors do for many numbers at once."""
    t = max(t, MIN_EXPONENT)
    whole = np.int32(t - HALF)  # cut off towards zero: the nearest whole number
    f = t - np.float32(whole)
    series = ONE + f * (C1 + f * (C2 + f * (C3 + f * (C4 + f * (C5 + f * C6)))))
    return series * np.int32((whole + BIAS) << FRACTION_BITS).view(np.float32)


# Sums may be split into lanes: the order is fixed when the function is compiled.
@numba.njit(parallel=True, cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "nsz"})
def gains(squares, nearest, scale, shares):  # type: ignore[no-untyped-def]
    """(z,) sums over x of ``max(2^(scale squares[z, x]) - 2^(scale nearest[x]), 0) shares[x]``."""
    n, m = squares.shape
    covered = np.empty(m, dtype=np.float32)
    for x in range(m):
        covered[x] = power_of_two(nearest[x] * scale)
    sums = np.empty(n)
    for z in prange(n):
        total = ZERO
        for x in range(m):
            gain = power_of_two(squares[z, x] * scale) - covered[x]
            total += max(gain, ZERO) * shares[x]
        sums[z] = total
    return sums
