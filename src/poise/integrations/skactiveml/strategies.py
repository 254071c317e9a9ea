"""scikit-activeml's query strategies as acquisitions of poise, named with the prefix skactiveml."""

import inspect
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, make_dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from poise.active.acquisition.distances import feature_space
from poise.active.acquisition.registry import Acquisition
from poise.active.acquisition.typiclust import thread_controller
from poise.active.snapshot import Snapshot
from poise.arrays import Floats, Ints
from poise.checks import whole_number
from poise.errors import GraphError, InputError
from poise.graph import Graph
from poise.graph.foreign import one_line
from poise.integrations.skactiveml import making
from poise.integrations.skactiveml.known import CLASSIFIERS, PREFIX, STRATEGIES, Known
from poise.integrations.skactiveml.library import pool as library
from poise.machine import check_room
from poise.registry import Registry, known_name

#: Nodes that a strategy looks at by default: some of them make arrays of n x n numbers.
SAMPLE_NODES = 5_000
#: Parameters that are not the strategy's.
OWN_PARAMETERS = ("classifier", "batch", "sample")

strategies: Registry[Acquisition] = Registry("acquisition")


@dataclass(frozen=True, eq=False)
class Pool:
    """What a strategy looks at.

    Attributes
    ----------
    points : (n, d) features of all nodes, dense or sparse
    nodes : (m,) the nodes looked at: a sample, and all that became labelled or pending
    scale : the features are divided by it; None before it is known
    seed : seed of the strategy
    made : strategies by number of classes, with what they keep between questions
    """

    points: Any
    nodes: Ints
    seed: int
    scale: float | None = None
    made: dict[tuple[Any, int], Any] = field(default_factory=dict)

    @classmethod
    def of(cls, graph: Graph, labelled: Ints, seed: int, sample: int) -> "Pool":
        points, _ = feature_space(graph)
        nodes = np.arange(graph.n_nodes)
        if graph.n_nodes > sample:
            chosen = np.random.default_rng(seed).choice(graph.n_nodes, sample, replace=False)
            nodes = np.union1d(chosen, labelled)
        pool = cls(points, nodes, seed % 2**31)
        return replace(pool, scale=making.feature_scale(pool.X))

    def including(self, node: int) -> "Pool":
        """The same with one more node, if it is not among the nodes."""
        if node in self.nodes:
            return self
        return replace(self, nodes=np.append(self.nodes, node), made={})

    @cached_property
    def X(self) -> Floats:
        """(m, d) scaled features of the nodes."""
        rows = self.points[self.nodes]
        dense = rows if isinstance(rows, np.ndarray) else rows.toarray()
        return np.asarray(dense, dtype=np.float64) / (self.scale or 1.0)

    def rows(self, nodes: Ints) -> Ints:
        """Positions of some of the nodes."""
        order = np.argsort(self.nodes)
        return order[np.searchsorted(self.nodes, nodes, sorter=order)]


@dataclass(frozen=True)
class Strategy:
    """What all strategies share; each is a subclass with its own parameters.

    The value of a node is its utility. The node that the strategy itself would query has the
    largest value, also where it draws one or breaks a tie. Open questions count as labelled for a
    strategy without a classifier; a classifier learns from answers alone.

    With ``batch > 1`` the strategy chooses rounds of that many questions, each from the labels at
    its beginning; a round ends where the number of constrained nodes is a multiple of `batch`.
    """

    strategy: ClassVar[str]
    uses_scores: ClassVar[bool] = False
    cost: ClassVar[str] = "that of scikit-activeml"
    use: ClassVar[str] = "to compare with scikit-activeml"

    def __post_init__(self) -> None:
        for name, value in self._settings().items():
            if name.endswith("_dict") and not isinstance(value, (Mapping, tuple, type(None))):
                raise InputError(f"{name} is {value!r}: expected a table of names and values")
            object.__setattr__(self, name, _frozen(value))
        settings = self._settings()
        whole_number(settings["sample"], "sample", 2)
        whole_number(settings["batch"], "batch", 1)
        if "classifier" in settings:
            known_name("classifier", settings["classifier"], CLASSIFIERS)

    def start(self, graph: Graph, labelled: Ints, seed: int) -> Pool:
        if graph.features is None:
            raise GraphError(
                f"{self._name} compares features, and the graph holds none: build it with "
                "poise.knn_graph(X, keep_features=True)"
            )
        sample = self._settings()["sample"]
        self._check_room(min(sample, graph.n_nodes), graph.features.shape[1], 2)
        return Pool.of(graph, labelled, seed, sample)

    def advance(self, memory: Pool, node: int) -> Pool:
        return memory.including(node)

    def __call__(self, snapshot: Snapshot) -> Floats:
        pool: Pool = snapshot.memory
        values = np.zeros(snapshot.graph.n_nodes)
        candidates = np.flatnonzero(snapshot.candidates[pool.nodes])
        if not len(candidates):  # the sample is used up
            return values
        self._check_room(len(pool.nodes), pool.points.shape[1], len(snapshot.classes))
        # One thread: several add up in any order, and wait for each other on a busy machine.
        with thread_controller().limit(limits=1), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # few labels and missing classes are intended here
            queried, utilities = self._query(snapshot, pool, candidates)
        own = utilities[candidates]
        finite = own[np.isfinite(own)]
        own = np.where(np.isfinite(own), own, finite.min() - 1.0 if len(finite) else 0.0)
        values[:] = own.min() - 1.0  # nodes outside the sample are asked after it
        values[pool.nodes[candidates]] = own
        for row in reversed(queried):
            values[pool.nodes[row]] = np.nextafter(values.max(), np.inf)
        return values

    def _query(self, snapshot: Snapshot, pool: Pool, candidates: Ints) -> tuple[list[int], Floats]:
        """The rows of the pool that the strategy queries, best first, and (m,) utilities."""
        known, settings = STRATEGIES[self.strategy], self._settings()
        n_classes, m = max(len(snapshot.classes), 2), len(snapshot.constrained)
        # Nodes of the round that has begun are candidates still, so that its batch stays the same.
        before, round_so_far = np.split(snapshot.constrained, [m - m % settings["batch"]])
        in_time = np.isin(snapshot.labels.nodes, before)
        labelled = pool.rows(snapshot.labels.nodes[in_time])
        y = np.full(len(pool.nodes), np.nan)
        y[labelled] = snapshot.labels.codes[in_time]
        given: dict[str, Any] = {}
        if known.classifier:
            model = making.classifier(settings["classifier"], pool.X, n_classes, pool.seed)
            given = {
                known.argument: making.fit(model, pool.X, y, labelled),
                f"fit_{known.argument}": False,
            }
        else:  # any class: only whether there is one is read
            y[pool.rows(np.intersect1d(snapshot.pending, before))] = 0.0
        strategy = self._made(pool, n_classes)
        try:
            queried, utilities = strategy.query(
                pool.X,
                y,
                candidates=np.union1d(candidates, pool.rows(round_so_far)),
                batch_size=settings["batch"],
                return_utilities=True,
                **given,
            )
        except Exception as error:  # what the library says of wrong parameters, or odd data
            reason = f"{type(error).__name__}: {one_line(error)}"
            raise InputError(f"{self._name} cannot ask: {reason}") from error
        left = [int(row) for row in queried if row in candidates]
        return list(dict.fromkeys(left)), np.asarray(utilities[0], dtype=np.float64)

    def _made(self, pool: Pool, n_classes: int) -> Any:
        """The strategy, kept because ProbCover keeps the distances between all points."""
        key = (self, n_classes)
        if key not in pool.made:
            parameters = {
                name: _thawed(name, value)
                for name, value in self._settings().items()
                if name not in OWN_PARAMETERS
            }
            made = making.strategy(self.strategy, pool.X, n_classes, pool.seed, parameters)
            pool.made[key] = made
        return pool.made[key]

    def _check_room(self, m: int, d: int, n_classes: int) -> None:
        """Refuse m nodes with d features if their arrays do not fit into memory."""
        known = STRATEGIES[self.strategy]
        numbers = m * d + known.square * 4 * m * m + known.gradients * 2 * m * d * n_classes
        check_room(8 * numbers, f"{self._name} on {m:,} nodes", "give a smaller sample")

    def _settings(self) -> dict[str, Any]:
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}

    @property
    def _name(self) -> str:
        return PREFIX + self.strategy


def strategy_class(name: str, known: Known) -> type[Strategy]:
    """The acquisition of a strategy: a dataclass of its plain parameters."""
    defaults: dict[str, Any] = {"classifier": known.classifier} if known.classifier else {}
    defaults |= {"batch": 1, "sample": SAMPLE_NODES, **dict(_plain_parameters(name))}
    parameters = [(key, Any, field(default=value)) for key, value in defaults.items()]
    needs = f"features, {known.classifier} classifier" if known.classifier else "features"
    namespace = {
        "__doc__": f"{name} of scikit-activeml.\n\nIts parameters are those of the library.",
        "__module__": __name__,
        "strategy": name,
        "needs": needs,
    }
    return make_dataclass(name, parameters, bases=(Strategy,), namespace=namespace, frozen=True)


def _plain_parameters(name: str) -> Iterator[tuple[str, Any]]:
    """Parameters of a strategy that a text file can hold, with their defaults."""
    for parameter in inspect.signature(getattr(library, name)).parameters.values():
        plain = isinstance(parameter.default, (bool, int, float, str, type(None)))
        if plain and parameter.name not in ("missing_label", "random_state"):
            yield parameter.name, parameter.default


def _frozen(value: Any) -> Any:
    """A value that can be hashed: tables become tuples of pairs."""
    if isinstance(value, Mapping):
        return tuple(sorted((key, _frozen(entry)) for key, entry in value.items()))
    return tuple(map(_frozen, value)) if isinstance(value, (list, tuple)) else value


def _thawed(name: str, value: Any) -> Any:
    """The value of a parameter as the library takes it; its tables have names in ``_dict``."""
    return dict(value) if name.endswith("_dict") and value is not None else value


# Attributes of this module, so that they can be pickled.
for _name, _known in STRATEGIES.items():
    globals()[_name] = strategies.register(PREFIX + _name)(strategy_class(_name, _known))
