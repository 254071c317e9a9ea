"""Search of a project's items by words or by likeness."""

import threading
from collections import OrderedDict
from functools import cached_property

from poise import Graph
from poise.arrays import Ints
from poise.data.embeddings.items import Images
from poise.studio.asking.likeness import by_distance, near_duplicates, near_threshold
from poise.studio.asking.question import GRID_ITEMS, Features
from poise.studio.asking.search import TextIndex
from poise.studio.source.catalogue import Catalogue

#: Number of cached orders by distance, so that the next page of a list costs nothing.
CACHED_ORDERS = 8


class Finder:
    """Searches the items of a catalogue. All methods may be called by any thread.

    Parameters
    ----------
    features : (n, d) from which the graph was built
    """

    def __init__(self, catalogue: Catalogue, features: Features, graph: Graph) -> None:
        self.catalogue, self.features, self.graph = catalogue, features, graph
        self._lock = threading.Lock()
        self._orders: OrderedDict[int, Ints] = OrderedDict()

    def text_index(self) -> TextIndex:
        """The words of all items; takes some seconds if they are long."""
        names, items = self.catalogue.sources, self.catalogue.items
        if self.catalogue.kind != "text" or isinstance(items, Images):
            return TextIndex(names, ("" for _ in names))
        return TextIndex(names, map(str, items))

    def like(self, node: int) -> Ints:
        """All nodes, the nearest to this one first."""
        with self._lock:
            if node in self._orders:
                self._orders.move_to_end(node)
                return self._orders[node]
        order = by_distance(self.graph, self.features, node)
        with self._lock:
            self._orders[node] = order
            while len(self._orders) > CACHED_ORDERS:
                self._orders.popitem(last=False)
        return order

    def duplicates(self, node: int) -> list[int]:
        """Near-duplicates of a node; with the node itself, no more than a grid shows."""
        return near_duplicates(self.graph, self.features, node, self._threshold)[: GRID_ITEMS - 1]

    @cached_property
    def _threshold(self) -> float:
        return near_threshold(self.graph, self.features)
