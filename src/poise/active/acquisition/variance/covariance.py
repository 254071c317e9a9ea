"""The Gaussian model behind V-Opt and its relatives: what is uncertain, given what was asked.

Scores are a Gaussian field on the graph. Two models of what an answer does, never mixed:

hard
    an answer is exact: the covariance of the rest is ``C = (L_UU)^-1``, U the nodes not asked.
    Only components that hold an asked node have one.
soft
    an answer has a variance s2 of its own, and the field a small precision everywhere:
    ``C = (L + epsilon I + 1_S / s2)^-1``, 1_S the indicator of the asked nodes.

Asking node k changes the covariance by rank one, ``C' = C - c c^T / (s2 + C_kk)`` with the column
``c = C e_k`` and s2 = 0 in the hard model (Ji & Han 2012; Ma, Garnett & Schneider 2013). Whatever
is judged by the covariance needs three numbers of each column: |c|^2, the sum of c, and C_kk.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from poise.arrays import Bools, Floats, Ints
from poise.errors import InputError
from poise.graph import Graph
from poise.linalg import solve
from poise.models.components import laplacian, reached

ModelName = Literal["hard", "soft"]


@dataclass(frozen=True)
class AnswerModel:
    """The hard or the soft model with its numbers.

    Parameters
    ----------
    name : "hard" or "soft"
    epsilon : float > 0
        Precision of the soft field at every node.
    noise : float > 0
        Variance s2 of an answer in the soft model.
    """

    name: ModelName = "hard"
    epsilon: float = 1e-3
    noise: float = 0.01

    def __post_init__(self) -> None:
        if self.name not in get_args(ModelName):
            raise InputError(f"model is {self.name!r}: expected 'hard' or 'soft'")
        for parameter in ("epsilon", "noise"):
            value = getattr(self, parameter)
            if not 0 < value < float("inf"):
                raise InputError(f"{parameter} is {value}: it must be positive and finite")

    @property
    def s2(self) -> float:
        """Variance of an answer."""
        return self.noise if self.name == "soft" else 0.0

    def free(self, graph: Graph, asked: Ints) -> Bools:
        """(n,) mask of the nodes that have a row in the covariance."""
        if self.name == "soft":
            return np.ones(graph.n_nodes, dtype=bool)
        mask = reached(graph, asked)
        mask[asked] = False
        return mask

    def diagonal(self, graph: Graph, asked: Ints) -> Floats:
        """(n,) what is added to the Laplacian."""
        q = np.zeros(graph.n_nodes)
        if self.name == "soft":
            q += self.epsilon
            q[asked] += 1.0 / self.noise
        return q

    def apply(self, graph: Graph, asked: Ints, B: Floats, *, rtol: float | None = None) -> Floats:
        """``C B`` for (n, J) right-hand sides; 0 where the covariance has no rows."""
        free = self.free(graph, asked)
        if not free.any():
            return np.zeros_like(B)
        prepared, q = laplacian(graph), self.diagonal(graph, asked)
        return solve(prepared, B, diagonals=q, free=free, rtol=rtol).require().value

    def columns(
        self, graph: Graph, asked: Ints, nodes: Ints, *, rtol: float | None = None
    ) -> Floats:
        """Columns ``C e_k`` of some nodes, (n, J)."""
        return self.apply(graph, asked, unit_columns(graph.n_nodes, nodes), rtol=rtol)


def unit_columns(n: int, nodes: Ints) -> Floats:
    """(n, J) unit vectors ``e_k`` of some nodes."""
    E = np.zeros((n, len(nodes)), order="F")
    E[nodes, np.arange(len(nodes))] = 1.0
    return E


@dataclass(frozen=True, eq=False)
class Statistics:
    """What criteria read of the columns of some nodes; each (J,), or (n,) for all nodes.

    Attributes
    ----------
    squares : ``|C e_k|^2``
    sums : ``1^T C e_k``
    variances : ``C_kk``
    s2 : variance of an answer
    """

    squares: Floats
    sums: Floats
    variances: Floats
    s2: float

    @classmethod
    def of_columns(cls, columns: Floats, nodes: Ints, s2: float) -> "Statistics":
        """Exact, from (n, J) columns of `nodes`."""
        return cls(
            np.einsum("ij,ij->j", columns, columns),
            columns.sum(axis=0),
            columns[nodes, np.arange(len(nodes))],
            s2,
        )
