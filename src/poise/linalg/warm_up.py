"""Compiling the solver before it is needed."""

import threading

import numpy as np
from scipy import sparse

from poise.linalg.lanes import WIDTHS
from poise.linalg.prepared import prepare
from poise.linalg.simultaneous import RTOL_SINGLE, SMALL, solve

#: Nodes of the graphs that are solved for: in single precision, in double.
SIZES = (SMALL + 1, 64)
_under_way = threading.Event()


def is_warming_up() -> bool:
    """Whether a solve would have to wait for `warm_up`, which another thread is at."""
    return _under_way.is_set()


def warm_up() -> None:
    """Compile what both precisions need, or load what was compiled before.

    After an installation this takes some seconds. A program in which somebody waits for the first
    solve can have it done by a thread while it reads its data.
    """
    _under_way.set()
    try:
        for n in SIZES:
            ring = sparse.eye_array(n, k=1) + sparse.eye_array(n, k=1 - n)
            prepared = prepare(sparse.csr_array(ring + ring.T))
            for width in WIDTHS:
                for kind in ("jacobi", "two-level"):
                    solve(
                        prepared,
                        np.ones((n, width)),
                        diagonals=np.ones(n),
                        rtol=RTOL_SINGLE,
                        preconditioner=kind,
                    )
    finally:
        _under_way.clear()
