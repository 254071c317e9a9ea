"""The covariance from a few eigenpairs of the Laplacian."""

from dataclasses import dataclass, replace

import numpy as np

from poise.active.acquisition.variance.covariance import Statistics
from poise.arrays import Floats

#: Statistics are computed afresh when the largest variance has fallen to this share: what updates
#: lose to rounding is relative to what they started from.
FALLEN = 0.01
#: A variance below this share of the largest one at the start is what rounding left of zero.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Truncation:
    """``C = V K V^T`` with the eigenvectors V, (n, m), and a small matrix K, (m, m).

    At the start ``K = diag(1 / (lambda + epsilon))``; asking a node changes K by rank one, and the
    statistics of all nodes by two products with V.

    Attributes
    ----------
    gram : (m, m) ``V^T V``
    floor : variances up to here count as zero
    s2 : variance of an answer
    squares, sums, variances : (n,) the statistics; norms and sums run over nodes, not over the m
        coefficients
    largest : the largest variance when they were last computed afresh
    """

    V: Floats
    gram: Floats
    K: Floats
    floor: float
    s2: float
    squares: Floats
    sums: Floats
    variances: Floats
    largest: float

    @classmethod
    def of(cls, eigenvalues: Floats, V: Floats, epsilon: float, s2: float) -> "Truncation":
        K = np.diag(1.0 / (eigenvalues + epsilon))
        empty = np.zeros(len(V))
        state = cls(V, V.T @ V, K, 0.0, s2, empty, empty, empty, 0.0)._afresh()
        return replace(state, floor=ROUNDING * state.largest)

    def ask(self, node: int) -> "Truncation":
        """The covariance after one more node is asked."""
        v = self.V[node]
        a = self.K @ v
        variance = float(v @ a)
        if variance <= self.floor:
            return self  # known already
        scale = self.s2 + variance
        column = self.V @ a
        beyond = self.V @ (self.K @ (self.gram @ a))  # C times the column
        share = column / scale
        later = replace(
            self,
            K=self.K - np.outer(a, a) / scale,
            squares=self.squares - 2 * share * beyond + share**2 * float(a @ self.gram @ a),
            sums=self.sums - share * column.sum(),
            variances=self.variances - share * column,
        )
        return later if later.variances.max() > FALLEN * self.largest else later._afresh()

    def statistics(self) -> Statistics:
        """Of all nodes."""
        known = self.variances <= self.floor
        squares, variances = np.maximum(self.squares, 0.0), self.variances.copy()
        squares[known] = variances[known] = 0.0
        return Statistics(squares, self.sums, variances, self.s2)

    def _afresh(self) -> "Truncation":
        A = self.V @ self.K
        variances = np.einsum("ij,ij->i", A, self.V)
        return replace(
            self,
            squares=np.einsum("ij,ij->i", A @ self.gram, A),
            sums=A @ self.V.sum(axis=0),
            variances=variances,
            largest=float(variances.max()),
        )
