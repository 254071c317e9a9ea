"""The paper's theory, computable: the continuum equations solved, its statements as functions."""

from poise.theory.interval import Interval, constant_density, solve_interval, solve_line
from poise.theory.one_dimension import (
    exploitation_default,
    exploration_requirement,
    exploration_root,
)
from poise.theory.statement import Statement

__all__ = [
    "Interval",
    "Statement",
    "constant_density",
    "exploitation_default",
    "exploration_requirement",
    "exploration_root",
    "solve_interval",
    "solve_line",
]
