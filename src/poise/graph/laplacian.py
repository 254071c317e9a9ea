"""Graph Laplacians."""

from typing import Literal, TypeAlias, get_args

import numpy as np
from scipy import sparse

from poise.errors import InputError

LaplacianKind: TypeAlias = Literal["combinatorial", "normalised", "random-walk"]


def laplacian_of(W: sparse.csr_array, kind: LaplacianKind = "combinatorial") -> sparse.csr_array:
    """The Laplacian of symmetric weights `W` with degrees ``d = W 1``.

    ================  ===========================  ==================
    kind              formula                      row of a node with d = 0
    ================  ===========================  ==================
    "combinatorial"   ``D - W``                    0
    "normalised"      ``I - D^-1/2 W D^-1/2``      0
    "random-walk"     ``I - D^-1 W``               0
    ================  ===========================  ==================

    References
    ----------
    U. von Luxburg, "A tutorial on spectral clustering", Statistics and Computing 17, 2007.
    """
    if kind not in get_args(LaplacianKind):
        known = ", ".join(get_args(LaplacianKind))
        raise InputError(f"no Laplacian is called {kind!r}: there are {known}")
    degrees = np.asarray(W.sum(axis=1)).ravel()
    if kind == "combinatorial":
        return sparse.csr_array(sparse.diags_array(degrees, format="csr") - W)
    joined = degrees > 0
    power = -0.5 if kind == "normalised" else -1.0
    factor = np.power(degrees, power, out=np.zeros_like(degrees), where=joined)
    scaled = sparse.diags_array(factor) @ W
    if kind == "normalised":
        scaled = scaled @ sparse.diags_array(factor)
    identity = sparse.diags_array(joined.astype(np.float64), format="csr")
    return sparse.csr_array(identity - scaled)
