"""What a learner has computed and may need again: solved columns, and what was made of them."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from poise.active.beliefs import Beliefs
from poise.active.memories import Memories
from poise.active.state import Question, State
from poise.arrays import Floats
from poise.graph import Graph
from poise.models.calibration import Calibration
from poise.models.harmonic import Columns, Problem, solve_problems
from poise.models.labels import Label
from poise.models.poisson_weights import SHIFT, poisson_weights
from poise.models.result import ScoreResult

#: Solved problems kept: the open questions', the labels', the predicting model's, and that after
#: a skip.
MOST = 4


@dataclass(eq=False)
class Kept:
    """Solutions and results, each with the state that it belongs to.

    Attributes
    ----------
    solving : held while something is solved, and while questions are chosen
    solved : the newest solutions; read and changed by whoever holds `solving`
    memories : of the acquisition function
    merged, predicted, calibrated, power : the newest of their kind, replaced as a whole; the last
        one with the labels that it was found from
    """

    solving: Any = field(default_factory=threading.RLock)
    solved: "OrderedDict[Problem, Columns]" = field(default_factory=OrderedDict)
    memories: Memories = field(default_factory=Memories)
    merged: tuple[State, Question, Beliefs] | None = None
    predicted: tuple[State, str, ScoreResult] | None = None
    calibrated: tuple[State, str, Calibration] | None = None
    power: tuple[dict[int, Label], float] | None = None

    def copy(self) -> "Kept":
        """The same for a learner that goes its own way: solutions are shared, results are not."""
        return replace(self)

    def supply(self, graph: Graph, problems: Sequence[Problem], columns: Sequence[Columns]) -> None:
        """Keep solutions, and forget the oldest ones."""
        with self.solving:
            for problem, solution in zip(problems, columns, strict=True):
                if len(solution.values) != graph.n_nodes:
                    continue  # of the graph before it grew
                self.solved[problem] = solution
                while len(self.solved) > MOST:
                    self.solved.popitem(last=False)

    def solve(self, graph: Graph, problems: Sequence[Problem]) -> None:
        """Solve and keep."""
        with self.solving:
            if problems:
                self.supply(graph, problems, solve_problems(graph, problems, self.solved))

    def columns(self, graph: Graph, problem: Problem) -> Columns:
        """The solution of a problem, solved now if it has to be."""
        if not problem.sources:
            n = graph.n_nodes
            return Columns(np.zeros((n, 0)), np.full(n, problem.shift or 1.0))
        with self.solving:  # if a background thread is at it, wait for its solution
            if problem not in self.solved:
                self.solve(graph, [problem])
            self.solved.move_to_end(problem)
            return self.solved[problem]

    def weights(self, graph: Graph, wanted: Problem) -> Floats:
        """Poisson weights alone, from a solution for the same nodes if there is one."""
        shift = SHIFT if wanted.shift is None else wanted.shift
        same = (wanted.constrained, shift, wanted.relative, wanted.rtol)
        with self.solving:
            for problem, solution in self.solved.items():
                if (problem.constrained, problem.shift, problem.relative, problem.rtol) == same:
                    return solution.weights
            weights = poisson_weights(
                graph,
                [np.array(wanted.constrained, dtype=np.int64)],
                shift=shift,
                relative=wanted.relative,
                rtol=wanted.rtol,
            )
        return np.asarray(weights[:, 0])
