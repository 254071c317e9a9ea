"""Compiling the solver before it is needed."""

import threading

import numpy as np
from scipy import sparse

from poise.linalg.lanes import WIDTHS
from poise.linalg.prepared import prepare
from poise.linalg.solve import solve

#: Nodes of the graph that is solved for.
NODES = 64
_under_way = threading.Event()


def is_warming_up() -> bool:
    """Whether a solve would have to wait for `warm_up`, which another thread is at."""
    return _under_way.is_set()


def warm_up() -> None:
    """Compile what double precision needs, or load what was compiled before.

    After an installation this takes some seconds. A program in which somebody waits for the first
    solve can have it done by a thread while it reads its data.
    """
    _under_way.set()
    try:
        ring = sparse.eye_array(NODES, k=1) + sparse.eye_array(NODES, k=1 - NODES)
        prepared = prepare(sparse.csr_array(ring + ring.T))
        for width in WIDTHS:
            rhs = np.ones((NODES, width))
            solve(prepared, rhs, diagonals=np.ones(NODES), preconditioner="jacobi")
            solve(prepared, rhs, diagonals=np.ones(NODES), preconditioner="two-level")
    finally:
        _under_way.clear()
