"""Questions without waiting: while a person looks at one, what follows each answer is computed."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise import Graph, Learner
from poise.active.acquisition.distances import Nearest
from poise.errors import PoolExhausted

#: Labelled items shown beside a question.
NEIGHBOURS = 4
#: How the first questions are chosen while nothing is labelled: the middles of crowds.
SEEDING, N_SEEDING = "typicality", 1
#: Two classes nearer than this in probability: the model wavers, and an answer decides.
WAVERS = 0.2


@dataclass(frozen=True)
class Question:
    """A node to ask about, what the model thinks of it, and why it is asked.

    Attributes
    ----------
    node : its number
    guess, confidence : the most likely class and its probability; None without labels
    known_less : share of the candidates of which less is known; 0 for the least known of all
    decides : whether two classes are close, rather than all of them far
    nearest : labelled nodes, the nearest first
    """

    node: int
    guess: Any = None
    confidence: float | None = None
    known_less: float | None = None
    decides: bool = False
    nearest: tuple[int, ...] = ()


class Asker:
    """A learner and a thread that solves ahead.

    Parameters
    ----------
    labels : node -> class, in the order in which they were answered
    aside : nodes that are not to be asked
    """

    def __init__(
        self, graph: Graph, labels: Mapping[int, str], aside: set[int], *, seed: int = 0
    ) -> None:
        self.graph = graph
        self.learner = Learner(
            graph, tau="geometric", seeding=SEEDING, n_seeding=N_SEEDING, seed=seed
        )
        if labels:
            # Told, not given: tau falls with the number of answers.
            self.learner.tell(list(labels), list(labels.values()))
        if aside:
            self.learner.exclude(sorted(aside))
        self._lock = threading.RLock()
        self._wanted = threading.Event()
        self._stopped = False
        self._thread = threading.Thread(target=self._work, name="poise-asker", daemon=True)
        self._thread.start()

    def ask(self) -> Question | None:
        """The next question, or None if nothing is left to ask."""
        with self._lock:
            # With labels both come from columns that are ready; the second costs no solve.
            values = self.learner.values if self.learner.labels else None
            try:
                (node,) = self.learner.ask().tolist()
            except PoolExhausted:
                return None
            question = self._explained(node, self.learner.events[-1].guess, values)
        self._wanted.set()
        return question

    def again(self, node: int) -> Question:
        """The question about a node that was asked before a restart or an undo."""
        with self._lock:
            if not self.learner.labels:
                return Question(node)
            result = self.learner.result
            guess = tuple(float(p) for p in result.probabilities[node])
            return self._explained(node, guess, self.learner.values)

    def tell(self, node: int, label: str) -> None:
        """An answer, to a question or not; nothing is solved for it here."""
        with self._lock:
            if node in self.learner.labels:
                self.learner.relabel(node, label)
            else:
                self.learner.tell(node, label)

    def set_aside(self, node: int) -> None:
        """Do not ask this node again."""
        with self._lock:
            self.learner.exclude(node)

    def predictions(self) -> tuple[list[Any], np.ndarray[Any, np.dtype[np.float64]]]:
        """The most likely class of every node and its probability; nothing without labels."""
        with self._lock:
            if not self.learner.labels:
                return [], np.empty(0)
            probabilities, classes = self.learner.probabilities, self.learner.classes
        best = probabilities.argmax(axis=1)
        return [classes[c] for c in best], probabilities[np.arange(len(best)), best]

    def close(self) -> None:
        """End the thread."""
        self._stopped = True
        self._wanted.set()
        self._thread.join()

    def _work(self) -> None:
        while True:
            self._wanted.wait()
            self._wanted.clear()
            if self._stopped:
                return
            with self._lock:
                self.learner.prepare()

    def _explained(
        self, node: int, guess: tuple[float, ...], values: np.ndarray[Any, Any] | None
    ) -> Question:
        labelled = np.fromiter(self.learner.labels, dtype=np.int64)
        if not len(labelled) or not guess or values is None:
            return Question(node)
        away = Nearest.to(self.graph, np.array([node])).distances[labelled]
        nearest = labelled[np.argsort(away, kind="stable")[:NEIGHBOURS]]
        best, *others = np.argsort(guess)[::-1].tolist()
        candidates = values[np.isfinite(values)]
        return Question(
            node,
            self.learner.classes[best],
            guess[best],
            float((candidates > values[node]).mean()) if np.isfinite(values[node]) else None,
            bool(others) and guess[best] - guess[others[0]] < WAVERS,
            tuple(nearest.tolist()),
        )
