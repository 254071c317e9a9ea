"""The three forms of a criterion: on all points, on a truncated spectrum, on a random subset."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from poise.active.acquisition.margin import Margin
from poise.active.acquisition.variance.all_points import (
    refine,
    values_of_all,
    waiting_first,
)
from poise.active.acquisition.variance.covariance import (
    AnswerModel,
    ModelName,
    Statistics,
    unit_columns,
)
from poise.active.acquisition.variance.dense import Dense, dense
from poise.active.acquisition.variance.sketch import Sketch, ask, pseudo_inverse, sketch
from poise.active.acquisition.variance.truncated import Truncation
from poise.active.snapshot import Snapshot
from poise.arrays import Floats, Ints
from poise.checks import whole_number
from poise.graph import Graph
from poise.linalg.spectrum import SpectrumKind, smallest_eigenpairs
from poise.models.components import laplacian, reached

#: Length of the shortlist, where estimates err by 1 to 3 per cent and where they err more.
SHORTLIST_NODES, LONG_SHORTLIST_NODES = 32, 48
#: Columns solved for at once: bounds the memory.
CHUNK_COLUMNS = 64
#: Decimals of a truncated form's values, relative to the largest, that are more than rounding.
VALUE_DECIMALS = 10


@dataclass(frozen=True)
class _Form:
    """What the forms share: the model of an answer, and whether uncertainty is a factor.

    Subclasses define `criterion`, `weighted` if the model's uncertainty multiplies it, and
    `squares` if it does not need the norms of columns.
    """

    weighted: ClassVar[bool] = False
    squares: ClassVar[bool] = True
    uses_scores: ClassVar[bool] = False
    needs: ClassVar[str] = "the graph"
    cost: ClassVar[str]

    model: ModelName = "hard"
    epsilon: float = 1e-3
    noise: float = 0.01

    def __init_subclass__(cls) -> None:
        """What is weighted by the scores' uncertainty needs the scores too, and says so."""
        super().__init_subclass__()
        if cls.weighted and not cls.uses_scores:
            cls.uses_scores = True
            cls.needs += " and scores"
            cls.cost += " and the scores"

    def __post_init__(self) -> None:
        self._answers()

    def criterion(self, statistics: Statistics) -> Floats:
        """Values of nodes from the statistics of their columns."""
        raise NotImplementedError

    def _answers(self) -> AnswerModel:
        return AnswerModel(self.model, self.epsilon, self.noise)

    def _weight(self, snapshot: Snapshot) -> Floats | None:
        """(n,) ``1 - (u_(1) - u_(2))``, the uncertainty of the scores, if it is a factor."""
        return 1.0 + Margin()(snapshot) if self.weighted else None


@dataclass(frozen=True)
class OnAllPoints(_Form):
    """Every node: exactly on small graphs, else by random projections and exact columns.

    Nodes of components without an asked node come first, the most central one of the largest
    component before all; see `variance.sketch`.

    Parameters
    ----------
    model, epsilon, noise
        See `variance.covariance.AnswerModel`.
    projections : int
        Random projections; with 256 estimates err by 1 to 3 per cent.
    shortlist : int, optional
        Columns kept exactly. By default 32, and 48 if there were components without a label at the
        start: estimates err more then.
    dense : int
        On graphs of at most this many nodes the whole covariance is inverted and nothing estimated:
        at 5,000 nodes 200 MB and a few seconds once, and no solve for a question after that.
    """

    cost: ClassVar[str] = "some 600 columns once, then 32 a query"

    projections: int = 256
    shortlist: int | None = None
    dense: int = 5_000

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number(self.projections, "projections", 1)
        if self.shortlist is not None:
            whole_number(self.shortlist, "shortlist", 1)
        whole_number(self.dense, "dense", 0)

    def start(self, graph: Graph, labelled: Ints, seed: int) -> Sketch | Dense:
        answers, q = self._answers(), self.projections
        if graph.n_nodes <= self.dense:
            return dense(graph, answers, labelled)
        return self._refined(sketch(graph, answers, labelled, q, seed, squares=self.squares))

    def advance(self, memory: Sketch | Dense, node: int) -> Sketch | Dense:
        if isinstance(memory, Dense):
            return memory.ask(node)
        return self._refined(ask(memory, node))

    def _refined(self, memory: Sketch) -> Sketch:
        # A criterion that depends on the scores is judged when they are known.
        return memory if self.weighted else refine(memory, self.criterion, self._size(memory))

    def _size(self, memory: Sketch) -> int:
        return self.shortlist or (SHORTLIST_NODES if memory.settled else LONG_SHORTLIST_NODES)

    def __call__(self, snapshot: Snapshot) -> Floats:
        memory: Sketch | Dense = snapshot.memory
        weight = self._weight(snapshot)
        if isinstance(memory, Dense):
            statistics = memory.statistics()
            values = self.criterion(statistics) * (1.0 if weight is None else weight)
            return waiting_first(values, memory.graph, memory.waiting, statistics.variances)
        if not snapshot.candidates[list(memory.columns)].any():
            size = self._size(memory)
            memory = refine(memory, self.criterion, size, weight, snapshot.candidates)
        return values_of_all(memory, self.criterion, snapshot.candidates, weight)


@dataclass(frozen=True)
class OnTruncation(_Form):
    """Every node, with ``C = V (Lambda + epsilon)^-1 V^T``, V the m smallest eigenvectors.

    Parameters
    ----------
    m : int
        Eigenpairs; all of them if the graph has fewer nodes.
    normalisation : "combinatorial", "normalised" or "random-walk"
        Of the Laplacian; for the last, V = D^-1/2 times the normalised one's.
    model : "hard" or "soft"
        Whether the variance of an answer is 0 or `noise`. Once m answers are exact nothing is
        uncertain any more and all nodes tie.
    """

    needs: ClassVar[str] = "eigenpairs"
    cost: ClassVar[str] = "eigenpairs once, then milliseconds"
    use: ClassVar[str] = "to reproduce the paper; misses small clusters"

    m: int = 50
    normalisation: SpectrumKind = "combinatorial"

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number(self.m, "m", 1)

    def start(self, graph: Graph, labelled: Ints, seed: int) -> Truncation:
        m = min(self.m, graph.n_nodes)
        values, vectors = smallest_eigenpairs(laplacian(graph), m, self.normalisation)
        state = Truncation.of(values, vectors, self.epsilon, self._answers().s2)
        for node in labelled.tolist():
            state = state.ask(node)
        return state

    def advance(self, memory: Truncation, node: int) -> Truncation:
        return memory.ask(node)

    def __call__(self, snapshot: Snapshot) -> Floats:
        values = self.criterion(snapshot.memory.statistics())
        weight = self._weight(snapshot)
        if weight is not None:
            values = weight * values
        # Once a single direction is left all nodes tie; rounding must not choose among them.
        return np.asarray(
            np.round(values / (values.max() or 1.0), VALUE_DECIMALS), dtype=np.float64
        )


@dataclass(frozen=True)
class OnSubset(_Form):
    """A random subset of the candidates, exactly: the paper's "Full".

    Each question draws `size` candidates and solves for the column of each; the others are not
    considered. In components without an asked node, which come first, the most central of the
    candidates.

    Parameters
    ----------
    size : int
        Candidates; 500 in the paper.
    model, epsilon, noise
        See `variance.covariance.AnswerModel`.
    """

    cost: ClassVar[str] = "500 columns a query"
    use: ClassVar[str] = "to reproduce the paper"

    size: int = 500

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number(self.size, "size", 1)

    def __call__(self, snapshot: Snapshot) -> Floats:
        graph, answers = snapshot.graph, self._answers()
        pool = np.flatnonzero(snapshot.candidates)
        nodes = snapshot.rng.choice(pool, min(self.size, len(pool)), replace=False)
        values = np.full(graph.n_nodes, -1.0)  # below every judged node
        waiting = np.zeros(graph.n_nodes, dtype=bool)
        if self.model == "hard":
            waiting = ~reached(graph, snapshot.constrained)
        resistance = np.ones(graph.n_nodes)
        for first in range(0, len(nodes), CHUNK_COLUMNS):
            part = nodes[first : first + CHUNK_COLUMNS]
            columns = answers.columns(graph, snapshot.constrained, part)
            statistics = Statistics.of_columns(columns, part, answers.s2)
            values[part] = self.criterion(statistics)
            late = part[waiting[part]]
            if len(late):
                resistance[late] = _resistances(graph, late)
        weight = self._weight(snapshot)
        if weight is not None:
            values[nodes] *= weight[nodes]
        return waiting_first(values, graph, waiting, resistance)


def _resistances(graph: Graph, nodes: Ints) -> Floats:
    """Diagonal of the pseudo-inverse of L at some nodes."""
    B = unit_columns(graph.n_nodes, nodes)
    return np.asarray(pseudo_inverse(graph, reached(graph, nodes), B)[nodes, np.arange(len(nodes))])
