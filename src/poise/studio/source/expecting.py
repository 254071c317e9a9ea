"""Estimates of what opening a project will cost, and a refusal of what does not fit."""

from collections.abc import Callable
from typing import Any

import numpy.typing as npt

from poise.graph.cost import knn_cost
from poise.graph.search import choose_backend
from poise.machine import check_room, cores

#: An estimate is given from this many items on.
LEAST_ITEMS = 100_000
#: Bytes per neighbour of an item while questions are asked and answered.
LABELLING_BYTES = 300

#: Called with a sentence and the estimated seconds.
Expect = Callable[[str, float], None]


def expect_graph(features: npt.NDArray[Any], k: int, metric: str, expect: Expect) -> None:
    """Estimate the cost of joining many items to k neighbours; refuse what memory cannot hold."""
    n, d = features.shape
    if n < LEAST_ITEMS:
        return
    cost = knn_cost(n, d, k, choose_backend(n, d, metric), cores())
    check_room(
        max(cost.memory, LABELLING_BYTES * n * k),
        f"labelling {n:,} items with {k} neighbours each",
        "take fewer items or a smaller --k, or a machine with more memory",
    )
    expect(f"{n:,} items: joining neighbours takes {cost}", cost.seconds)
