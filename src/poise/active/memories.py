"""What an acquisition function remembers, by the nodes that it has seen."""

from typing import Any

import numpy as np

from poise.graph import Graph

#: Memories kept besides the one at the start.
KEPT = 2


class Memories:
    """The memories of one acquisition function: the one at the start, and the newest.

    Whatever else is wanted is made from the longest beginning that is kept, by `advance`.
    """

    def __init__(self) -> None:
        self._owner: Any = None
        self._kept: dict[tuple[int, ...], Any] = {}

    def after(
        self, acquisition: Any, graph: Graph, nodes: tuple[int, ...], n_given: int, seed: int
    ) -> Any:
        """The memory after `nodes`, of which the first `n_given` were given; None without one."""
        if not hasattr(acquisition, "start"):
            return None
        if acquisition is not self._owner:
            self._owner = acquisition
            self._kept.clear()
        known = len(nodes)
        while known > n_given and nodes[:known] not in self._kept:
            known -= 1
        if nodes[:known] not in self._kept:
            given = np.array(nodes[:known], dtype=np.int64)
            self._kept[nodes[:known]] = acquisition.start(graph, given, seed)
        memory = self._kept[nodes[:known]]
        for count in range(known + 1, len(nodes) + 1):
            memory = acquisition.advance(memory, nodes[count - 1])
            self._kept[nodes[:count]] = memory
            # The one at the start stays, and the newest: a skipped question takes one back.
            later = [key for key in self._kept if len(key) > n_given]
            for key in later[:-KEPT]:
                del self._kept[key]
        return memory
