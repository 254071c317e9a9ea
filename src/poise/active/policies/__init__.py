"""Policies: from values to the nodes that are asked. One file each."""

from poise.active.policies.epsilon_greedy import EpsilonGreedy
from poise.active.policies.kde import KDE
from poise.active.policies.local_max import LocalMax
from poise.active.policies.max import Max
from poise.active.policies.proportional import Proportional
from poise.active.policies.registry import Policy, PolicyTraits, as_policy, is_for_batches, policies

__all__ = [
    "KDE",
    "EpsilonGreedy",
    "LocalMax",
    "Max",
    "Policy",
    "PolicyTraits",
    "Proportional",
    "as_policy",
    "is_for_batches",
    "policies",
]
