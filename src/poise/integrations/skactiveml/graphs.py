"""Graphs by the content of the features, for estimators that get the features at every call."""

import hashlib
from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Any

import numpy as np

from poise.graph import Graph, knn_graph
from poise.graph.kernel import KernelLike
from poise.models.graph_classifier import USUAL_K

#: Graphs that are kept, the least recently used one is dropped first.
MOST_GRAPHS = 4


class GraphCache:
    """The graphs used last, with copies of their features.

    Parameters
    ----------
    most : graphs kept
    """

    def __init__(self, most: int = MOST_GRAPHS) -> None:
        self.most = most
        self._kept: OrderedDict[Hashable, Graph] = OrderedDict()
        self._lock = Lock()

    def graph(
        self,
        X: Any,
        k: int | None = None,
        metric: str = "euclidean",
        kernel: KernelLike = "gaussian",
    ) -> Graph:
        """The graph of the rows of `X`, built if no kept graph has the same content and settings.

        Parameters
        ----------
        X : (n, d) array; changing it later changes no graph
        k, metric, kernel : as for `poise.knn_graph`; k None is 20, or n - 1 if that is less
        """
        features = np.array(X, order="C")
        # Two threads that need the same graph build it once.
        with self._lock:
            key = (content(features), k, metric, kernel)
            graph = self._kept.get(key)
            if graph is None:
                neighbours = min(USUAL_K, len(features) - 1) if k is None else k
                graph = knn_graph(features, neighbours, metric=metric, kernel=kernel)
                self._kept[key] = graph
            self._kept.move_to_end(key)
            while len(self._kept) > self.most:
                self._kept.popitem(last=False)
        return graph

    def clear(self) -> None:
        """Forget all graphs."""
        with self._lock:
            self._kept.clear()


def content(features: Any) -> str:
    """A hash of the numbers of a contiguous array, with their type and shape."""
    digest = hashlib.blake2b(f"{features.dtype.str} {features.shape}".encode(), digest_size=16)
    digest.update(features.data)
    return digest.hexdigest()


#: Shared by all estimators of the bridge.
graphs = GraphCache()
