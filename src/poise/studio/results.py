"""What is computed from the items and the labels, in threads that no request waits for."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from poise import Graph
from poise.linalg.turns import TURNS
from poise.studio.asking.background import in_background
from poise.studio.asking.finding import Finder
from poise.studio.asking.layout import eigenmaps, principal_plane
from poise.studio.asking.predictions import Predictions, predict
from poise.studio.asking.question import Features
from poise.studio.asking.search import TextIndex
from poise.studio.asking.setup import Setup
from poise.studio.asking.suspicion import suspicion
from poise.studio.source.catalogue import Catalogue
from poise.studio.source.details import other_columns

#: Predictions that nobody waits for are renewed after this many times what the last ones took, so
#: that they take little from the questions.
RENEWAL_REST = 10.0


@dataclass(frozen=True)
class Labelling:
    """The labels of one moment.

    Attributes
    ----------
    version : number of the last event that changed them
    setup : what a learner begins with
    surprising : answered node -> whether the model had expected another class
    graph, ids : of the items of that moment
    """

    version: int
    setup: Setup
    surprising: Mapping[int, bool]
    graph: Graph
    ids: Sequence[str]


class Results:
    """Predictions, suspicion, layouts, words and columns. No method waits for them.

    Parameters
    ----------
    labelling : the labels as they are now
    renewed : called with new predictions

    Attributes
    ----------
    finder : items by words or by likeness
    newest : the newest predictions, by the labels of some answers ago at most
    predicting : held while predictions are computed, one after the other
    """

    def __init__(
        self,
        catalogue: Catalogue,
        features: Features,
        graph: Graph,
        labelling: Callable[[], Labelling],
        renewed: Callable[[Predictions | None], None] = lambda predictions: None,
    ) -> None:
        self.predicting = threading.Lock()
        self._labelling, self._renewed = labelling, renewed
        self._lock = threading.RLock()
        self._kept: dict[str, tuple[int, Future[Any]]] = {}
        self._removed = -1
        self.grow(catalogue, features, graph)

    def grow(self, catalogue: Catalogue, features: Features, graph: Graph) -> None:
        """Go on with other items: nothing that is known holds for them."""
        with self._lock:
            self.close()
            self._kept.clear()
            self.catalogue, self.features, self.graph = catalogue, features, graph
            self.finder = Finder(catalogue, features, graph)
            self.newest: Predictions | None = None
            self._predicted = -1
            self._renewal_time = 0.0

    def predictions(self, version: int) -> "Future[Predictions | None]":
        """The class of every item by the labels of this version or newer ones; None without any."""
        return self._by_labels("predictions", version, self._predict)

    def suspicion(self, version: int) -> "Future[dict[str, float]]":
        """Item -> probability that its label is wrong, by what the other labels say."""

        def judge() -> dict[str, float]:
            now = self._labelling()
            judged = suspicion(now.graph, now.setup.labels)
            return {now.ids[node]: share for node, share in judged.items()}

        return self._by_labels("suspicion", version, judge)

    def layout(self, name: str) -> "Future[npt.NDArray[np.float32]]":
        """(n, 2) positions of all items in the plane, from -1 to 1."""
        with self._lock:
            features, graph = self.features, self.graph
            if name == "pca":
                return self._once(name, lambda: principal_plane(features))
            return self._once(name, lambda: eigenmaps(graph, features))

    def has_layout(self, name: str) -> bool:
        """Whether a layout is ready; does not begin one."""
        return name in self._kept and self._kept[name][1].done()

    def words(self) -> "Future[TextIndex]":
        """The words of all items, to be searched; read when first asked for."""
        with self._lock:
            return self._once("words", self.finder.text_index)

    def columns(self) -> "Future[dict[str, list[Any]]]":
        """The other columns of the table that the items come from; read when first asked for."""
        with self._lock:
            catalogue = self.catalogue
            return self._once("columns", lambda: other_columns(catalogue))

    def renew(self, version: int) -> None:
        """Predict anew now and then, so that numbers and advice are recent."""
        due = version != self._predicted and time.monotonic() >= self._renewal_time
        if due and not self.predicting.locked():
            self.predictions(version)

    def forget_predictions(self, version: int) -> None:
        """Drop predictions by labels older than this version: they knew a label which is gone."""
        with self._lock:
            self.newest, self._predicted, self._removed = None, -1, version
            self._renewal_time = 0.0

    def close(self) -> None:
        """Let go of the words; predictions on the way are nobody's."""
        if "words" in self._kept:
            self._kept["words"][1].add_done_callback(_close)

    def _once(self, name: str, work: Callable[[], Any]) -> "Future[Any]":
        return self._by_labels(name, 0, work)

    def _by_labels(self, name: str, version: int, work: Callable[[], Any]) -> "Future[Any]":
        """What follows from the labels, computed once for each version of them."""
        with self._lock:
            known, future = self._kept.get(name, (-1, None))
            if future is None or known != version:
                future = in_background(work)
                self._kept[name] = version, future
            return future

    def _predict(self) -> Predictions | None:
        # One after the other: whoever waited finds them done, if no label came in the meantime.
        with self.predicting:
            now = self._labelling()
            if now.version == self._predicted:
                return self.newest
            began = time.monotonic()
            with TURNS.in_background():
                predictions = predict(now.graph, now.setup, now.surprising)
            self._renewal_time = time.monotonic() + RENEWAL_REST * (time.monotonic() - began)
            with self._lock:
                if now.version >= self._removed and now.graph is self.graph:
                    self.newest, self._predicted = predictions, now.version
                    self._renewed(predictions)
            return predictions


def _close(future: "Future[TextIndex]") -> None:
    if future.exception() is None:
        future.result().close()
