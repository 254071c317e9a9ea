"""The memories of an acquisition function, by the nodes that it has seen."""

from typing import Any

import numpy as np

from poise.active.acquisition.registry import Acquisition, remembers
from poise.graph import Graph

#: Memories kept besides the one at the start.
MOST_MEMORIES = 2


class Memories:
    """The memories of one acquisition function: the one at the start, and the newest.

    Whatever else is wanted is made from the longest beginning that is kept, by `advance`.
    """

    def __init__(self) -> None:
        self._owner: Any = None
        self._kept: dict[tuple[int, ...], Any] = {}

    def after(
        self,
        acquisition: Acquisition,
        graph: Graph,
        nodes: tuple[int, ...],
        n_initial: int,
        seed: int,
    ) -> Any:
        """The memory after `nodes`, the first `n_initial` of them initial; None without one."""
        if not remembers(acquisition):
            return None
        if acquisition is not self._owner:
            self._owner = acquisition
            self._kept.clear()
        known = len(nodes)
        while known > n_initial and nodes[:known] not in self._kept:
            known -= 1
        if nodes[:known] not in self._kept:
            labelled = np.array(nodes[:known], dtype=np.int64)
            self._kept[nodes[:known]] = acquisition.start(graph, labelled, seed)
        memory = self._kept[nodes[:known]]
        for count in range(known + 1, len(nodes) + 1):
            memory = acquisition.advance(memory, nodes[count - 1])
            self._kept[nodes[:count]] = memory
            # The first one and the newest stay: skipping a question goes back to an earlier one.
            later = [key for key in self._kept if len(key) > n_initial]
            for key in later[:-MOST_MEMORIES]:
                del self._kept[key]
        return memory
