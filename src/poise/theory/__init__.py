"""The paper's theory: solvers of the continuum equations, and its statements as functions."""

from poise.theory.clustered import Clustered, clustered
from poise.theory.interval import Interval, constant_density, solve_interval, solve_line
from poise.theory.limit import Comparison, compare
from poise.theory.one_dimension import (
    exploitation_default,
    exploration_requirement,
    exploration_root,
)
from poise.theory.plane import Plane, solve_plane
from poise.theory.radial import solve_radial
from poise.theory.statement import Bound, Statement
from poise.theory.symmetric import (
    LowDensity,
    low_density,
    opposite_lower_bound,
    paper_condition,
    paper_proposition,
    similar_upper_bound,
    simplified,
    symmetric_density,
)
from poise.theory.theorems import (
    explore_labels,
    explore_new_cluster,
    explored_before,
    packing_number_bound,
)

__all__ = [
    "Bound",
    "Clustered",
    "Comparison",
    "Interval",
    "LowDensity",
    "Plane",
    "Statement",
    "clustered",
    "compare",
    "constant_density",
    "exploitation_default",
    "exploration_requirement",
    "exploration_root",
    "explore_labels",
    "explore_new_cluster",
    "explored_before",
    "low_density",
    "opposite_lower_bound",
    "packing_number_bound",
    "paper_condition",
    "paper_proposition",
    "similar_upper_bound",
    "simplified",
    "solve_interval",
    "solve_line",
    "solve_plane",
    "solve_radial",
    "symmetric_density",
]
