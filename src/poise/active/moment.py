"""A learner at one moment: how it decides, and the scores of its labels."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from poise.active.acquisition import Acquisition, traits_of
from poise.active.columns import Beliefs, Layout, lay_out, merge
from poise.active.decision import guess_at, nodes_by, values_of
from poise.active.policies import Policy, is_for_batches
from poise.active.session import Session
from poise.active.settings import Settings
from poise.active.snapshot import Snapshot
from poise.active.solutions import Solutions
from poise.active.state import State
from poise.arrays import Bools, Floats
from poise.graph import Graph
from poise.linalg.breakdown import named_breakdown
from poise.models.components import reached
from poise.models.harmonic import Columns, Model, Problem
from poise.models.labels import Labels
from poise.models.result import ScoreResult


@dataclass(frozen=True, eq=False)
class Prediction:
    """A problem, and how its solution becomes scores of all nodes."""

    problem: Problem
    finish: Callable[[Columns], ScoreResult]


@dataclass(frozen=True, eq=False)
class Moment:
    """A learner at one moment, which no other thread changes; what is solved is kept.

    Attributes
    ----------
    session : a copy: the questions opened here become the learner's if nothing changed meanwhile
    """

    graph: Graph
    settings: Settings
    session: Session
    solutions: Solutions

    @property
    def state(self) -> State:
        return self.session.state

    @property
    def labels(self) -> Labels:
        """What is labelled."""
        return Labels.of(self.state.labels, self.graph.n_nodes, self.state.classes)

    @property
    def reached(self) -> Bools:
        """(n,) mask of the nodes that some label reaches."""
        return reached(self.graph, np.array(list(self.state.labels), dtype=np.int64))

    # How it decides -------------------------------------------------------------------------

    @property
    def chooser(self) -> Acquisition:
        """What chooses the next question."""
        return self.settings.chooser(len(self.state.constrained))

    def deciding(self, n_pending: int = 0) -> Model:
        """The model of the decision after `n_pending` open questions are answered."""
        return self.settings.deciding(self.state.n_answers + n_pending, self.chooser)

    @property
    def predicting(self) -> Model:
        """The model that predicts."""
        return self.settings.predicting(self.deciding())

    def ask(self, k: int, policy: Policy) -> list[int]:
        """Open the next `k` questions, fewer if fewer nodes are left."""
        at_once = k if is_for_batches(policy) else 1
        nodes: list[int] = []
        while len(nodes) < k:
            snapshot = self.snapshot()
            if not snapshot.candidates.any():
                break
            values = values_of(self.chooser, snapshot)
            rng = np.random.default_rng([self.settings.seed, self.state.n_asked, 1])
            wanted = min(at_once, k - len(nodes))
            for node in nodes_by(policy, values, snapshot, wanted, rng):
                self.session.ask(node, guess_at(snapshot, node))
                nodes.append(node)
        if not nodes:
            raise self.session.nothing_left()
        return nodes

    def pend(self, nodes: Any) -> list[int]:
        """Open questions that were chosen elsewhere."""
        names = self.session.askable(nodes)
        for node in names:
            snapshot = self.snapshot()
            if len(snapshot.labels) and traits_of(self.chooser).uses_scores:
                _ = snapshot.scores
            self.session.ask(node, guess_at(snapshot, node))
        return names

    def values(self) -> Floats:
        """(n,) values of the acquisition function; NaN for nodes that cannot be asked."""
        return values_of(self.chooser, self.snapshot())

    def snapshot(self) -> Snapshot:
        """What an acquisition function sees; nothing is solved before it is read."""
        state, layout = self.state, self.open_layout()
        return Snapshot(
            graph=self.graph,
            labels=self.labels,
            pending=np.array(list(state.pending), dtype=np.int64),
            constrained=np.array(list(state.constrained), dtype=np.int64),
            candidates=state.candidates(),
            tau=layout.problem.tau,
            n_answers=state.n_answers,
            rng=np.random.default_rng([self.settings.seed, state.n_asked, 0]),
            compute=lambda: self._beliefs(layout, state),
            compute_weights=lambda: self.solutions.weights(self.graph, layout.problem),
            recall=lambda: self._memory(state),
        )

    def prepare(self) -> bool:
        """Solve what the next decision needs; False if everything was solved before."""
        problems = self.open_problems()
        self.solutions.solve(self.graph, problems)
        self._memory(self.state)
        return bool(problems)

    def open_problems(self) -> list[Problem]:
        """Problems not solved yet that the next decision needs.

        Several learners on one graph can be advanced together by solving all of theirs at once
        with `solve_problems` and handing each its own by `Solutions.supply`.
        """
        if not traits_of(self.chooser).uses_scores:
            return []
        problem = self.open_layout().problem
        return [problem] if problem.groups and problem not in self.solutions.solved else []

    def open_layout(self) -> Layout:
        """The columns that the next decision needs."""
        return lay_out(self.state, self.deciding(len(self.state.pending)))

    def _beliefs(self, layout: Layout, state: State) -> Beliefs:
        # The values, the choice and the guess read the same columns: merged once.
        kept = self.solutions.merged
        if kept is None or kept[0] is not state or kept[1] != layout:
            beliefs = merge(self.solutions.columns(self.graph, layout.problem), layout, state)
            kept = self.solutions.merged = state, layout, beliefs
        return kept[2]

    def _memory(self, state: State) -> Any:
        """The memory of the acquisition function, rebuilt as far as needed."""
        with self.solutions.solving, named_breakdown():
            return self.solutions.memories.after(
                self.chooser,
                self.graph,
                tuple(state.constrained),
                state.n_initial,
                self.settings.seed,
            )

    # Scores of the labels -------------------------------------------------------------------

    def prediction(self, model: Model) -> Prediction:
        """The result of the labels alone in a model, not solved yet.

        The prediction can be finished later: answers that come meanwhile do not change it.
        """
        now = self.state
        layout = lay_out(now, model, with_pending=False)
        state = replace(now, labels=dict(now.labels), classes=dict(now.classes), pending={})
        known = self.reached

        def finish(columns: Columns) -> ScoreResult:
            return _scored(merge(columns, layout, state), state, known)

        return Prediction(layout.problem, finish)

    def labelled_result(self, model: Model) -> ScoreResult:
        """The result of the labels alone in a model."""
        if not self.state.pending:  # then it is also what the next decision looks at
            layout = lay_out(self.state, model)
            return _scored(self._beliefs(layout, self.state), self.state, self.reached)
        prediction = self.prediction(model)
        return prediction.finish(self.solutions.columns(self.graph, prediction.problem))


def _scored(beliefs: Beliefs, state: State, known: Bools) -> ScoreResult:
    """Beliefs without open questions as a result."""
    classes, shares = tuple(state.classes), state.class_shares()
    return ScoreResult(beliefs.scores, classes, known, shares, beliefs.weights)
