"""Policies: from values to the nodes that are asked. One file each."""

from poise.active.policies.max import Max
from poise.active.policies.registry import Policy, as_policy, policies

__all__ = ["Max", "Policy", "as_policy", "policies"]
