"""A question: its node, what the model thinks about it, and why it is asked."""

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
NEAREST_LABELS = 4
#: Items in a grid, including the one that is asked about.
GRID_ITEMS = 12
#: Below this difference of their probabilities, two classes are close, and an answer decides.
CLOSE_DIFFERENCE = 0.2
#: Below this norm of the scores, the labels say little about an item; a label itself has norm 1.
FAR_NORM = 0.5
#: Stands for any class without labels: all of them lead to the same next question.
NEW_CLASS = "\N{NULL}new"


@dataclass(frozen=True)
class Question:
    """A node to ask about.

    Attributes
    ----------
    node : what it asks about
    guess : the most likely class; None without labels
    confidence : its calibrated probability; None while there is too little evidence for one
    worth_more : share of the candidates that are more worth asking about; 0 for the best of all
    reason : "decide" if two classes are close, "explore" if all of them are far, else "confirm"
    nearest : labelled nodes, the nearest first
    alike : nodes that the model believes to be of the same class, this one first, the nearest next
    explored : how much the labels say about the pool: the mean norm of the scores. It can fall,
        since tau and the weights change with the labels
    codes : (n,) the most likely class of every node at this moment, None without labels
    classes : the names that the codes stand for
    likely : the classes, the most likely first
    knows : number of the last change of the labels that this is based on, see `Asker.changes`
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
        """The same question, once the name of the new class is known.

        It was foreseen with `NEW_CLASS`, the last of the classes.
        """
        if self.codes is None or NEW_CLASS not in self.classes:
            return self
        codes, new = self.codes, self.classes.index(NEW_CLASS)
        is_known = label in self.classes
        if is_known:
            codes = np.where(codes == new, np.int32(self.classes.index(label)), codes)
        likely = (label if name == NEW_CLASS else name for name in self.likely)
        return replace(
            self,
            guess=label if self.guess == NEW_CLASS else self.guess,
            codes=codes,
            classes=self.classes[:new] + (() if is_known else (label,)),
            likely=tuple(dict.fromkeys(likely)),
        )


@dataclass(frozen=True, eq=False)
class _Look:
    """A learner with labels at one moment, and its scores of all nodes."""

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
        # Without evidence, the default calibration at least shows whether two classes are close.
        (guess,) = (self.calibration or Calibration()).apply(raw).tolist()
        order = np.argsort(guess)[::-1].tolist()
        best, *others = order
        away = _away(graph, features, labelled, node)
        nearest = labelled[np.argsort(away, kind="stable")[:NEAREST_LABELS]]
        value, candidates = self.values[node], self.values[np.isfinite(self.values)]
        classes = tuple(map(str, labels.classes))
        otherwise = "explore" if self.snapshot.norms[node] < FAR_NORM else "confirm"
        is_close = bool(others) and guess[best] - guess[others[0]] < CLOSE_DIFFERENCE
        reason = "decide" if is_close else otherwise
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
    """A policy that remembers the first values that it chose from, so they are computed once."""

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
    """A policy that chooses given nodes."""

    nodes: tuple[int, ...]

    batch: ClassVar[bool] = True

    def __call__(
        self, values: Floats, snapshot: Snapshot, k: int, rng: np.random.Generator
    ) -> Ints:
        return np.array(self.nodes, dtype=np.int64)


def ask(
    learner: Learner, features: Features, k: int = 1, calibration: Calibration | None = None
) -> list[Question]:
    """The `k` best questions, now pending; fewer if fewer are left.

    Several are chosen at once, each the best of its surroundings, without a solve in between.

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
    """The nearest unlabelled nodes of the same class among neighbours and their neighbours."""
    W = graph.weights
    near = W.indices[W.indptr[node] : W.indptr[node + 1]]
    further = [W.indices[W.indptr[i] : W.indptr[i + 1]] for i in near]
    others = np.unique(np.concatenate([near, *further])).tolist()
    alike = np.array([i for i in others if i != node and i not in labelled], dtype=np.int64)
    if codes is not None:
        alike = alike[codes[alike] == codes[node]]
    away = _away(graph, features, alike, node)
    nearest = alike[np.argsort(away, kind="stable")[: GRID_ITEMS - 1]]
    return (node, *nearest.tolist())


def _away(graph: Graph, features: Features, nodes: Ints, node: int) -> Floats:
    """Squared distances of nodes to a node, in the metric of the graph."""
    X = np.asarray(features[[node, *nodes.tolist()]], dtype=np.float64)
    if graph.construction is not None and graph.construction.metric == "cosine":
        lengths = np.linalg.norm(X, axis=1, keepdims=True)
        X = X / np.where(lengths > 0, lengths, 1.0)
    difference = X[1:] - X[0]
    return np.asarray((difference * difference).sum(axis=1))
