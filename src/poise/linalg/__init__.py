"""Linear algebra on graph Laplacians: matrices only, no graphs, labels or models."""

from poise.linalg.preconditioners import choose_preconditioner
from poise.linalg.prepared import PreparedLaplacian, prepare
from poise.linalg.simultaneous import solve
from poise.linalg.status import Solution, Status

__all__ = [
    "PreparedLaplacian",
    "Solution",
    "Status",
    "choose_preconditioner",
    "prepare",
    "solve",
]
