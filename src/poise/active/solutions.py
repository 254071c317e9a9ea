"""What a learner has computed and may need again: solved columns, and results made of them."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from poise.active.columns import Beliefs, Layout
from poise.active.memories import Memories
from poise.active.settings import Settings
from poise.active.state import State
from poise.arrays import Floats
from poise.graph import Graph
from poise.models.calibration import Calibration
from poise.models.harmonic import Columns, Problem, solve_problems
from poise.models.labels import Label
from poise.models.poisson_weights import poisson_weights
from poise.models.result import ScoreResult

#: Solved problems kept: the open questions', the labels', the predicting model's, and that after
#: a skip.
MOST_SOLVED = 4


@dataclass(eq=False)
class Solutions:
    """Solved columns and results, each with what it belongs to.

    Attributes
    ----------
    solving : held while something is solved, and while questions are chosen
    solved : the newest solutions; read and changed by the thread that holds `solving`
    memories : of the acquisition function
    merged, predicted, calibrated, power : the newest of their kind, replaced as a whole; `power`
        with the labels that it was computed from
    """

    solving: Any = field(default_factory=threading.RLock)
    solved: "OrderedDict[Problem, Columns]" = field(default_factory=OrderedDict)
    memories: Memories = field(default_factory=Memories)
    merged: tuple[State, Layout, Beliefs] | None = None
    predicted: tuple[State, Settings, ScoreResult] | None = None
    calibrated: tuple[State, Settings, Calibration] | None = None
    power: tuple[dict[int, Label], Settings, float] | None = None

    def copy(self) -> "Solutions":
        """The same for a copy of the learner: solutions are shared, results are not."""
        return replace(self)

    def supply(self, graph: Graph, problems: Sequence[Problem], columns: Sequence[Columns]) -> None:
        """Keep solutions, and forget the oldest ones."""
        with self.solving:
            for problem, solution in zip(problems, columns, strict=True):
                if len(solution.values) != graph.n_nodes:
                    continue  # of the graph before it grew
                self.solved[problem] = solution
                while len(self.solved) > MOST_SOLVED:
                    self.solved.popitem(last=False)

    def solve(self, graph: Graph, problems: Sequence[Problem]) -> None:
        """Solve and keep."""
        with self.solving:
            if problems:
                self.supply(graph, problems, solve_problems(graph, problems, self.solved))

    def columns(self, graph: Graph, problem: Problem) -> Columns:
        """The solution of a problem, solved now if it has to be."""
        if not problem.groups:
            n = graph.n_nodes
            weight = problem.shift if problem.reweighted else 1.0
            return Columns(np.zeros((n, 0)), np.full(n, weight))
        with self.solving:  # if a background thread is at it, wait for its solution
            if problem not in self.solved:
                self.solve(graph, [problem])
            self.solved.move_to_end(problem)
            return self.solved[problem]

    def weights(self, graph: Graph, wanted: Problem) -> Floats:
        """Poisson weights alone, from a solution for the same nodes if there is one."""
        with self.solving:
            for problem, solution in self.solved.items():
                if problem.reweighted and _weighted_alike(problem, wanted):
                    return solution.weights
            weights = poisson_weights(
                graph,
                [np.array(wanted.constrained, dtype=np.int64)],
                shift=wanted.shift,
                relative=wanted.relative,
                rtol=wanted.rtol,
            )
        return np.asarray(weights[:, 0])


def _weighted_alike(problem: Problem, other: Problem) -> bool:
    """Whether the Poisson weights of two problems are the same."""
    return (
        problem.constrained == other.constrained
        and problem.shift == other.shift
        and problem.relative == other.relative
        and problem.rtol == other.rtol
    )
