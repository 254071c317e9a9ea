"""Compile what questions and predictions need before it is needed."""

import threading
from typing import Any

import numpy as np
from scipy import sparse

from poise.active.acquisition import compiled_gains
from poise.linalg import PreparedLaplacian, prepare, solve
from poise.linalg.lanes import WIDTHS
from poise.linalg.packets import PACKET_COLUMNS
from poise.linalg.simultaneous import RTOL_SINGLE, SMALL_MAX_NODES
from poise.models import compiled_rows

#: Nodes of the graphs that are solved for: in single precision, in double.
GRAPH_NODES = (SMALL_MAX_NODES + 1, 64)
_under_way = threading.Event()


def is_warming_up() -> bool:
    """Whether another thread runs `warm_up`, so that a solve would have to wait for it."""
    return _under_way.is_set()


def warm_up() -> None:
    """Compile solver and passes for both precisions, or load code that was compiled before.

    After an installation this takes some seconds. A program whose user waits for the first solve
    can call it in a thread while it reads its data.
    """
    _under_way.set()
    try:
        for n, kind in zip(GRAPH_NODES, (np.float32, np.float64), strict=True):
            ring = sparse.eye_array(n, k=1) + sparse.eye_array(n, k=1 - n)
            prepared = prepare(sparse.csr_array(ring + ring.T))
            # Packets of every width, and one whose columns have operators of their own.
            diagonals = [np.ones(n)] * len(WIDTHS) + [np.ones((n, PACKET_COLUMNS))]
            for width, q in zip((*WIDTHS, PACKET_COLUMNS), diagonals, strict=True):
                solve(prepared, np.ones((n, width)), diagonals=q, rtol=RTOL_SINGLE)
            _passes(prepared, kind)
        singles = np.ones((1, 1), dtype=np.float32)
        compiled_gains.gains(singles, singles[0], singles[0, 0], singles[0])
    finally:
        _under_way.clear()


def _passes(prepared: PreparedLaplacian, kind: Any) -> None:
    """The passes over all nodes, with scores in this precision."""
    scores, shares = np.ones((prepared.n, 2), dtype=kind), np.ones((prepared.n, 2))
    compiled_rows.put(scores.T.copy(), np.arange(2), scores)
    compiled_rows.two_largest_apart(scores)
    compiled_rows.column_of_largest(scores, np.ones(prepared.n, dtype=bool), 0)
    compiled_rows.means(prepared, shares[:, 0], 1)
    compiled_rows.sums(prepared, shares[:, 0])
    compiled_rows.walk(prepared, shares, np.arange(1), shares[:1], 1)
    compiled_rows.geometric_mean(shares, shares, shares[0], shares[0], 1.0)
