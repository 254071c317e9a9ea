"""One question: which node, what the model thinks of it, and why it is asked."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from poise import Graph, Learner
from poise.active.policies import Policy, is_for_batches
from poise.active.policies.local_max import LocalMax
from poise.active.snapshot import Snapshot
from poise.arrays import Floats, Ints
from poise.errors import PoolExhausted
from poise.models.balance import balance_factors
from poise.models.calibration import Calibration
from poise.models.result import normalise_scores

Features = npt.NDArray[np.floating[Any]]

#: Labelled items shown beside a question.
NEIGHBOURS = 4
#: Items of a grid, the one that is asked included.
ALIKE = 12
#: Two classes nearer than this in probability: the model wavers, and an answer decides.
WAVERS = 0.2
#: Norm of the scores below which the labels say little about an item; 1 is a label itself.
FAR = 0.5
#: Stands for a class that is not used yet: all of them lead to the same next question.
NEW_CLASS = "\N{NULL}new"


@dataclass(frozen=True)
class Question:
    """A node to ask about.

    Attributes
    ----------
    node : its number
    guess : the most likely class; None without labels
    confidence : its calibrated probability; None while too few labels say what that is
    worth_more : share of the candidates that are more worth asking; 0 for the best of all
    reason : "decide" if two classes are close, "explore" if all of them are far, else "confirm"
    nearest : labelled nodes, the nearest first
    alike : nodes that the model believes to be of the same class, this one first, the nearest next
    explored : how strongly the labels speak about the pool: the mean norm of the scores. It can
        fall, since tau and the weights change with the labels.
    codes : (n,) the most likely class of every node at this moment, None without labels
    classes : the names that the codes stand for
    likely : the classes, the most likely first
    knows : number of the last change of the labels that all this knows of, see `Asker.changes`
    """

    node: int
    guess: Any = None
    confidence: float | None = None
    worth_more: float | None = None
    reason: str = "explore"
    nearest: tuple[int, ...] = ()
    alike: tuple[int, ...] = ()
    explored: float | None = None
    codes: npt.NDArray[np.int32] | None = None
    classes: tuple[str, ...] = ()
    likely: tuple[str, ...] = ()
    knows: int = 0

    def named(self, label: str) -> "Question":
        """The question that follows an unused class, once it is known which.

        `NEW_CLASS`, the last of the classes, is what this was foreseen with.
        """
        if self.codes is None or NEW_CLASS not in self.classes:
            return self
        codes, new = self.codes, self.classes.index(NEW_CLASS)
        known = label in self.classes
        if known:
            codes = np.where(codes == new, np.int32(self.classes.index(label)), codes)
        likely = (label if name == NEW_CLASS else name for name in self.likely)
        return replace(
            self,
            guess=label if self.guess == NEW_CLASS else self.guess,
            codes=codes,
            classes=self.classes[:new] + (() if known else (label,)),
            likely=tuple(dict.fromkeys(likely)),
        )


@dataclass(frozen=True, eq=False)
class _Look:
    """What a learner with labels thinks of all nodes at one moment."""

    learner: Learner
    values: Floats
    snapshot: Snapshot
    calibration: Calibration | None
    labelled: Ints
    factors: Floats
    codes: npt.NDArray[np.int32]
    explored: float

    @classmethod
    def at(
        cls,
        learner: Learner,
        snapshot: Snapshot,
        values: Floats,
        calibration: Calibration | None,
    ) -> "_Look | None":
        if not len(snapshot.labels):
            return None
        factors = balance_factors(snapshot.scores)
        return cls(
            learner,
            values,
            snapshot,
            calibration,
            snapshot.labels.nodes,
            factors,
            (snapshot.scores * factors).argmax(axis=1).astype(np.int32),
            float(np.minimum(snapshot.norms, 1.0).mean()),
        )

    def question(self, features: Features, node: int) -> Question:
        graph, labels, labelled = self.learner.graph, self.snapshot.labels, self.labelled
        raw = normalise_scores(
            self.snapshot.scores[[node]] * self.factors,
            np.ones(1, dtype=bool),
            labels.counts / len(labels),
        )
        # Before there is evidence, what is usual says at least whether two classes are close.
        (guess,) = (self.calibration or Calibration()).apply(raw).tolist()
        order = np.argsort(guess)[::-1].tolist()
        best, *others = order
        away = _away(graph, features, labelled, node)
        nearest = labelled[np.argsort(away, kind="stable")[:NEIGHBOURS]]
        value, candidates = self.values[node], self.values[np.isfinite(self.values)]
        classes = tuple(map(str, labels.classes))
        far = "explore" if self.snapshot.norms[node] < FAR else "confirm"
        reason = "decide" if others and guess[best] - guess[others[0]] < WAVERS else far
        return Question(
            node,
            classes[best],
            None if self.calibration is None else min(max(guess[best], 0.0), 1.0),
            float((candidates > value).mean()) if np.isfinite(value) else None,
            reason,
            tuple(nearest.tolist()),
            _alike(graph, features, node, self.codes, set(labelled.tolist())),
            self.explored,
            self.codes,
            classes,
            tuple(classes[code] for code in order),
        )


@dataclass
class _Noted:
    """A policy, and the values that it chose from first: so that they are computed once."""

    policy: Policy
    values: Floats | None = None
    snapshot: Snapshot | None = None

    @property
    def batch(self) -> bool:
        return is_for_batches(self.policy)

    def __call__(
        self, values: Floats, snapshot: Snapshot, k: int, rng: np.random.Generator
    ) -> Ints:
        if self.snapshot is None:
            self.values, self.snapshot = values, snapshot
        return self.policy(values, snapshot, k, rng)


@dataclass(frozen=True)
class _These:
    """A policy that chooses what somebody else has chosen."""

    nodes: tuple[int, ...]

    batch: ClassVar[bool] = True

    def __call__(
        self, values: Floats, snapshot: Snapshot, k: int, rng: np.random.Generator
    ) -> Ints:
        return np.array(self.nodes, dtype=np.int64)


def ask(
    learner: Learner, features: Features, k: int = 1, calibration: Calibration | None = None
) -> list[Question]:
    """The `k` questions that the learner wants to put, now pending; fewer if fewer are left.

    Several are chosen at once, the best of their surroundings each, without a solve in between.

    Parameters
    ----------
    calibration : of the probabilities; None if they must not be shown
    """
    return _ask(learner, features, LocalMax() if k > 1 else learner.policy, k, calibration)


def ask_about(
    learner: Learner,
    features: Features,
    nodes: Sequence[int],
    calibration: Calibration | None = None,
) -> list[Question]:
    """The questions about given nodes, now pending: one solve for all of them."""
    return _ask(learner, features, _These(tuple(nodes)), len(nodes), calibration)


def _ask(
    learner: Learner,
    features: Features,
    policy: Policy,
    k: int,
    calibration: Calibration | None,
) -> list[Question]:
    noted = _Noted(policy)
    try:
        nodes = learner.ask(k, policy=noted).tolist()
    except PoolExhausted:
        return []
    look = None
    if noted.snapshot is not None and noted.values is not None:
        look = _Look.at(learner, noted.snapshot, noted.values, calibration)
    return [_question(learner, features, node, look) for node in nodes]


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
    away = _away(graph, features, found, node)
    nearest = found[np.argsort(away, kind="stable")[: ALIKE - 1]]
    return (node, *nearest.tolist())


def _away(graph: Graph, features: Features, nodes: Ints, node: int) -> Floats:
    """Squared distances of some nodes to one, as the graph measures them."""
    X = np.asarray(features[[node, *nodes.tolist()]], dtype=np.float64)
    if graph.construction is not None and graph.construction.metric == "cosine":
        lengths = np.linalg.norm(X, axis=1, keepdims=True)
        X = X / np.where(lengths > 0, lengths, 1.0)
    difference = X[1:] - X[0]
    return np.asarray((difference * difference).sum(axis=1))
