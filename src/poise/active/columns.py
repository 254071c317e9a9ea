"""Columns: which ones to solve for, and how scores are made of them.

The columns of a problem depend on which nodes are labelled or asked, never on their classes.
`lay_out` says which column stands for what, `merge` adds the solved columns up to scores.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from poise.active.state import State
from poise.arrays import Floats
from poise.models.harmonic import Columns, Model, Problem
from poise.models.rows import put_columns


@dataclass(frozen=True)
class Layout:
    """A `Problem`, and what its columns stand for.

    First the classes, then the single nodes; or, if `expected`, the classes in expectation and
    one column for how uncertain the open questions are.

    Attributes
    ----------
    codes : classes of the first columns
    own : nodes of the columns that follow
    """

    problem: Problem
    codes: tuple[int, ...]
    own: tuple[int, ...]
    expected: bool = False


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Scores with the open questions answered in expectation.

    Attributes
    ----------
    scores : (n, C) expected scores
    variance : (n,) expected squared norm of what the answers will add to them; None without
        open questions
    weights : (n,) Poisson weights gamma; the questions are constrained nodes like the labels
    """

    scores: Floats
    variance: Floats | None
    weights: Floats

    @cached_property
    def norms(self) -> Floats:
        """(n,) root of the expected squared norm of the scores."""
        squares = np.einsum("ij,ij->i", self.scores, self.scores)
        return np.asarray(np.sqrt(squares if self.variance is None else squares + self.variance))


def lay_out(state: State, model: Model, *, with_pending: bool = True) -> Layout:
    """The columns to solve for: one per class, one per node that has its own.

    Without `anticipate` no person waits for an answer, and open questions need no columns of their
    own: their guesses are heights in the columns of the classes, and one more column stands for
    how uncertain they are.
    """
    if not state.pending:
        with_pending = True  # the same nodes either way: solve one problem, not two
    own = state.own if with_pending else state.own_before
    alone = set(own)
    members: dict[int, dict[int, float]] = {}
    for node, label in state.labels.items():
        if node not in alone:
            members.setdefault(state.classes[label], {})[node] = 1.0
    if with_pending and state.pending and not state.anticipate:
        return _expected(state, model, members)
    codes = sorted(members)
    groups = [tuple(sorted(members[code])) for code in codes] + [(node,) for node in own]
    return Layout(model.problem(tuple(groups)), tuple(codes), own)


def _expected(state: State, model: Model, members: dict[int, dict[int, float]]) -> Layout:
    """The columns of the classes with the open questions added, and the column of their doubt."""
    doubt: dict[int, float] = {}
    for node in state.pending:
        guess = state.guess(node)
        for code in np.flatnonzero(guess):
            members.setdefault(int(code), {})[node] = float(guess[code])
        doubt[node] = max(1.0 - float(guess @ guess), 0.0) ** 0.5
    codes = sorted(members)
    columns = [dict(sorted(members[code].items())) for code in codes] + [doubt]
    problem = model.problem(
        tuple(tuple(column) for column in columns),
        tuple(tuple(column.values()) for column in columns),
    )
    return Layout(problem, tuple(codes), (), expected=True)


def merge(columns: Columns, layout: Layout, state: State) -> Beliefs:
    """Superposition: the column of an answered node joins its class, that of an open one spreads.

    With h_p the column of an open question and pi^p its guessed probabilities, the expected scores
    are ``h_c + sum_p pi^p_c h_p``, and since answers are independent, the expected squared norm is
    that of the expected scores plus ``sum_p h_p^2 s_p^2`` with ``s_p^2 = 1 - |pi^p|^2``.

    Where the columns are those of the expectation, the last one is ``sum_p s_p h_p``, and its
    square stands for that sum: an upper bound, and the same wherever one open question dominates.
    """
    n_nodes, n_classes = len(columns.values), len(state.classes)
    n_shared = len(layout.codes)
    scores = np.zeros((n_nodes, n_classes), dtype=columns.values.dtype)
    put_columns(columns.values[:, :n_shared], layout.codes, scores)
    variance = columns.values[:, -1] ** 2 if layout.expected else None
    own = columns.values[:, n_shared : n_shared + len(layout.own)]
    for node, h in zip(layout.own, own.T, strict=True):
        if node in state.labels:
            scores[:, state.classes[state.labels[node]]] += h
            continue
        guess = state.guess(node)
        scores += h[:, None] * guess
        doubt = h * h * (1.0 - guess @ guess)
        variance = doubt if variance is None else variance + doubt
    return Beliefs(scores, variance, columns.weights)
