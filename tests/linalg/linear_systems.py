"""Random systems ``(L + diag(q_k)) x = b`` with their dense solutions, and small graphs."""

from typing import NamedTuple
from unittest.mock import patch

import numpy as np
from hypothesis import strategies as st

from poise.linalg import PreparedLaplacian, prepare, solve
from poise.linalg import aggregates as aggregates_module
from strategies import Floats, as_csr, connected_weights, laplacian, seeds, weights_in_pieces

PRECONDITIONERS = ["jacobi", "two-level", "approx-chol"]


def small_groups():  # type: ignore[no-untyped-def]
    """Let graphs of a dozen nodes have a coarse space, so that examples stay small."""
    return patch.object(aggregates_module, "MIN_NODES_PER_GROUP", 3)


def path(n: int) -> PreparedLaplacian:
    return prepare(as_csr(np.eye(n, k=1) + np.eye(n, k=-1)))


class Systems(NamedTuple):
    """Random operators ``L + diag(q_k)`` on free nodes, none of them singular, and columns."""

    W: Floats
    prepared: PreparedLaplacian
    q: Floats
    free: np.ndarray
    operator: np.ndarray
    rhs: Floats

    def dense(self) -> Floats:
        """Every column by a dense solve."""
        L = laplacian(self.W)
        X = np.zeros_like(self.rhs)
        for j, k in enumerate(self.operator):
            F = self.free[:, k]
            A = (L + np.diag(self.q[:, k]))[np.ix_(F, F)]
            X[F, j] = np.linalg.solve(A, self.rhs[F, j])
        return X

    def solve(self, **options):  # type: ignore[no-untyped-def]
        return solve(
            self.prepared,
            self.rhs,
            diagonals=self.q,
            free=self.free,
            operator=self.operator,
            **options,
        )

    def relative_residual(self, X: Floats) -> Floats:
        """The norm that `solve` promises, from its definition."""
        A = laplacian(self.W)
        residuals = []
        for j, k in enumerate(self.operator):
            F = self.free[:, k]
            D = self.W.sum(axis=1)[F] + self.q[F, k]
            r = self.rhs[F, j] - (A @ X[:, j] + self.q[:, k] * X[:, j])[F]
            scale = np.linalg.norm(self.rhs[F, j] / D)
            residuals.append(np.linalg.norm(r / D) / (scale if scale > 0 else 1.0))
        return np.array(residuals)


@st.composite
def systems(draw: st.DrawFn, weights: st.SearchStrategy[Floats]) -> Systems:
    W = draw(weights)
    n = len(W)
    n_operators, n_columns = draw(st.integers(1, 3)), draw(st.integers(1, 10))
    rng = np.random.default_rng(draw(seeds))
    with small_groups():
        prepared = prepare(as_csr(W))
    q = np.where(rng.random((n, n_operators)) < 0.5, 10.0 ** rng.uniform(-6, 1), 0.0)
    free = rng.random((n, n_operators)) < 0.8
    for k in range(n_operators):
        for c in range(prepared.components.max() + 1):
            nodes = np.flatnonzero(prepared.components == c)
            if rng.random() < 0.5:
                q[nodes[0], k] = 0.1
            else:
                free[nodes[0], k] = False
    operator = rng.integers(n_operators, size=n_columns)
    return Systems(W, prepared, q, free, operator, rng.normal(size=(n, n_columns)))


any_systems = st.one_of(systems(connected_weights(least=1)), systems(weights_in_pieces()))
