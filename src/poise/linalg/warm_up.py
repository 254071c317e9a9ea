"""Compile the solver before it is needed."""

import threading

import numpy as np
from scipy import sparse

from poise.linalg.lanes import WIDTHS
from poise.linalg.packets import PACKET_COLUMNS
from poise.linalg.prepared import prepare
from poise.linalg.simultaneous import RTOL_SINGLE, SMALL_MAX_NODES, solve

#: Nodes of the graphs that are solved for: in single precision, in double.
GRAPH_NODES = (SMALL_MAX_NODES + 1, 64)
_under_way = threading.Event()


def is_warming_up() -> bool:
    """Whether another thread runs `warm_up`, so that a solve would have to wait for it."""
    return _under_way.is_set()


def warm_up() -> None:
    """Compile the solver for both precisions, or load the code that was compiled before.

    After an installation this takes some seconds. A program whose user waits for the first solve
    can call it in a thread while it reads its data.
    """
    _under_way.set()
    try:
        for n in GRAPH_NODES:
            ring = sparse.eye_array(n, k=1) + sparse.eye_array(n, k=1 - n)
            prepared = prepare(sparse.csr_array(ring + ring.T))
            # Packets of every width, and one whose columns have operators of their own.
            diagonals = [np.ones(n)] * len(WIDTHS) + [np.ones((n, PACKET_COLUMNS))]
            for width, q in zip((*WIDTHS, PACKET_COLUMNS), diagonals, strict=True):
                solve(prepared, np.ones((n, width)), diagonals=q, rtol=RTOL_SINGLE)
    finally:
        _under_way.clear()
