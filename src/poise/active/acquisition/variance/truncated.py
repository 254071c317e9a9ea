"""The covariance from a few eigenpairs of the Laplacian."""

from dataclasses import dataclass, replace

import numpy as np

from poise.active.acquisition.variance.covariance import Statistics
from poise.linalg.status import Floats

#: A variance below this share of the largest one at the start is what rounding left of zero.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Truncation:
    """``C = V K V^T`` with the eigenvectors V, (n, m), and a small matrix K, (m, m).

    At the start ``K = diag(1 / (lambda + epsilon))``; asking a node changes K by rank one.

    Attributes
    ----------
    floor : variances up to here count as zero
    s2 : variance of an answer
    """

    V: Floats
    K: Floats
    floor: float
    s2: float

    @classmethod
    def of(cls, eigenvalues: Floats, V: Floats, epsilon: float, s2: float) -> "Truncation":
        K = np.diag(1.0 / (eigenvalues + epsilon))
        largest = float(np.einsum("ij,j,ij->i", V, np.diag(K), V).max())
        return cls(V, K, ROUNDING * largest, s2)

    def ask(self, node: int) -> "Truncation":
        """The covariance after one more node is asked."""
        v = self.V[node]
        a = self.K @ v
        variance = v @ a
        if variance <= self.floor:
            return self  # known already
        return replace(self, K=self.K - np.outer(a, a) / (self.s2 + variance))

    def statistics(self) -> Statistics:
        """Of all nodes: norms and sums run over nodes, not over the m coefficients."""
        A = self.V @ self.K
        squares = np.einsum("ij,ij->i", A @ (self.V.T @ self.V), A)
        variances = np.einsum("ij,ij->i", A, self.V)
        known = variances <= self.floor
        squares[known] = variances[known] = 0.0
        return Statistics(squares, A @ self.V.sum(axis=0), variances, self.s2)
