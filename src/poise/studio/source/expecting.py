"""What opening a project will cost, said before it is begun, or refused."""

from collections.abc import Callable
from typing import Any

import numpy.typing as npt

from poise.graph.cost import knn_cost
from poise.graph.search import choose_backend
from poise.machine import check_room, cores

#: An estimate is given for at least this many items.
MANY = 100_000
#: Bytes of each neighbour of an item while questions are asked and answered.
LABELLING = 300

#: Called with a sentence and a number of seconds.
Expect = Callable[[str, float], None]


def expect_graph(features: npt.NDArray[Any], k: int, metric: str, expect: Expect) -> None:
    """Say what joining many items to k neighbours costs; refuse what does not fit into memory."""
    n, d = features.shape
    if n < MANY:
        return
    cost = knn_cost(n, d, k, choose_backend(n, d, metric), cores())
    check_room(
        max(cost.memory, LABELLING * n * k),
        f"labelling {n:,} items with {k} neighbours each",
        "take fewer items or a smaller --k, or a machine with more memory",
    )
    expect(f"{n:,} items: joining neighbours takes {cost}", cost.seconds)
