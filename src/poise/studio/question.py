"""One question: which node, what the model thinks of it, and why it is asked."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from poise import Graph, Learner
from poise.active.policies.local_max import LocalMax
from poise.active.snapshot import Snapshot
from poise.errors import PoolExhausted
from poise.linalg.status import Floats, Ints
from poise.models.result import normalise_scores

Features = npt.NDArray[np.floating[Any]]

#: Labelled items shown beside a question.
NEIGHBOURS = 4
#: Items of a grid, the one that is asked included.
ALIKE = 12
#: Two classes nearer than this in probability: the model wavers, and an answer decides.
WAVERS = 0.2


@dataclass(frozen=True)
class Question:
    """A node to ask about.

    Attributes
    ----------
    node : its number
    guess, confidence : the most likely class and its probability; None without labels
    known_less : share of the candidates of which less is known; 0 for the least known of all
    decides : whether two classes are close, rather than all of them far
    nearest : labelled nodes, the nearest first
    alike : nodes that the model believes to be of the same class, this one first, the nearest next
    explored : how much of the pool the labels speak about: the mean norm of the scores
    codes : (n,) the most likely class of every node at this moment, None without labels
    """

    node: int
    guess: Any = None
    confidence: float | None = None
    known_less: float | None = None
    decides: bool = False
    nearest: tuple[int, ...] = ()
    alike: tuple[int, ...] = ()
    explored: float | None = None
    codes: npt.NDArray[np.int32] | None = None


@dataclass(frozen=True, eq=False)
class _Look:
    """What a learner with labels thinks of all nodes at one moment."""

    learner: Learner
    values: Floats
    snapshot: Snapshot
    labelled: Ints
    codes: npt.NDArray[np.int32]
    explored: float

    @classmethod
    def at(cls, learner: Learner) -> "_Look | None":
        if not learner.labels:
            return None
        snapshot = learner.snapshot()
        return cls(
            learner,
            learner.values,
            snapshot,
            np.fromiter(learner.labels, dtype=np.int64),
            snapshot.scores.argmax(axis=1).astype(np.int32),
            float(np.minimum(np.linalg.norm(snapshot.scores, axis=1), 1.0).mean()),
        )

    def question(self, features: Features, node: int) -> Question:
        labels, labelled = self.snapshot.labels, self.labelled
        (guess,) = normalise_scores(
            self.snapshot.scores[[node]], np.ones(1, dtype=bool), labels.counts / len(labels)
        ).tolist()
        best, *others = np.argsort(guess)[::-1].tolist()
        nearest = labelled[np.argsort(_away(features, labelled, node), kind="stable")[:NEIGHBOURS]]
        value, candidates = self.values[node], self.values[np.isfinite(self.values)]
        return Question(
            node,
            self.learner.classes[best],
            min(max(guess[best], 0.0), 1.0),
            float((candidates > value).mean()) if np.isfinite(value) else None,
            bool(others) and guess[best] - guess[others[0]] < WAVERS,
            tuple(nearest.tolist()),
            _alike(self.learner.graph, features, node, self.codes, set(labelled.tolist())),
            self.explored,
            self.codes,
        )


def ask(learner: Learner, features: Features, k: int = 1) -> list[Question]:
    """The `k` questions that the learner wants to put, now pending; fewer if fewer are left.

    Several are chosen at once, the best of their surroundings each, without a solve in between.
    """
    look = _Look.at(learner)
    before, learner.policy = learner.policy, LocalMax() if k > 1 else learner.policy
    try:
        nodes = learner.ask(k).tolist()
    except PoolExhausted:
        return []
    finally:
        learner.policy = before
    return [_question(learner, features, node, look) for node in nodes]


def ask_about(learner: Learner, features: Features, node: int) -> Question:
    """The question about a given node, now pending."""
    look = _Look.at(learner)
    learner.pend(node)
    return _question(learner, features, node, look)


def _question(learner: Learner, features: Features, node: int, look: _Look | None) -> Question:
    if look is None:
        return Question(node, alike=_alike(learner.graph, features, node, None, set()))
    return look.question(features, node)


def _alike(
    graph: Graph,
    features: Features,
    node: int,
    codes: npt.NDArray[np.int32] | None,
    labelled: set[int],
) -> tuple[int, ...]:
    """The nearest unlabelled ones of the neighbours and their neighbours, of the same class."""
    W = graph.weights
    near = W.indices[W.indptr[node] : W.indptr[node + 1]]
    further = [W.indices[W.indptr[i] : W.indptr[i + 1]] for i in near]
    found = np.unique(np.concatenate([near, *further])).astype(np.int64)
    found = np.array([i for i in found.tolist() if i != node and i not in labelled], dtype=np.int64)
    if codes is not None:
        found = found[codes[found] == codes[node]]
    nearest = found[np.argsort(_away(features, found, node), kind="stable")[: ALIKE - 1]]
    return (node, *nearest.tolist())


def _away(features: Features, nodes: Ints, node: int) -> Floats:
    """Squared distances of some nodes to one."""
    difference = np.asarray(features[nodes], dtype=np.float64) - features[node]
    return np.asarray((difference * difference).sum(axis=1))
