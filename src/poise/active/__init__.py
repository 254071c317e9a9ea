"""Active learning: acquisitions, policies, schedules, and the Learner that uses them."""

from types import SimpleNamespace

from poise.active.acquisition import (
    Acquisition,
    Auto,
    Margin,
    Norm,
    Random,
    acquisitions,
    diffused,
)
from poise.active.learner import Learner
from poise.active.policies import Max, Policy, policies
from poise.active.schedules import Constant, Geometric, Joined, Relative, Schedule, schedules
from poise.active.simulate import simulate, simulate_many
from poise.active.snapshot import Snapshot
from poise.active.state import Event
from poise.active.trace import Trace
from poise.graph import kernels
from poise.models import models

#: Decorators that add a part of your own: ``@poise.register.acquisition("name")``.
register = SimpleNamespace(
    acquisition=acquisitions.register,
    policy=policies.register,
    schedule=schedules.register,
    model=models.register,
    kernel=kernels.register,
)

__all__ = [
    "Acquisition",
    "Auto",
    "Constant",
    "Event",
    "Geometric",
    "Joined",
    "Learner",
    "Margin",
    "Max",
    "Norm",
    "Policy",
    "Random",
    "Relative",
    "Schedule",
    "Snapshot",
    "Trace",
    "acquisitions",
    "diffused",
    "policies",
    "register",
    "schedules",
    "simulate",
    "simulate_many",
]
