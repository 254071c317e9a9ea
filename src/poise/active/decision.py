"""One decision: values and nodes, as the acquisition function and the policy returned them."""

from typing import Any

import numpy as np

from poise.active.acquisition.registry import Acquisition
from poise.active.policies import Policy
from poise.active.snapshot import Snapshot
from poise.arrays import Floats
from poise.errors import InputError
from poise.linalg.breakdown import named_breakdown
from poise.models.result import normalise_scores


def values_of(acquisition: Acquisition, snapshot: Snapshot) -> Floats:
    """(n,) what an acquisition function says of every node: NaN where none is asked."""
    n = snapshot.graph.n_nodes
    with named_breakdown():
        values = _numbers(acquisition(snapshot))
    if values is None or values.shape != (n,):
        returned = "no numbers" if values is None else f"shape {values.shape}"
        raise InputError(
            f"the acquisition function returned {returned}: expected one value per node, ({n},)"
        )
    return np.where(snapshot.candidates, values.astype(np.float64), np.nan)


def nodes_by(
    policy: Policy, values: Floats, snapshot: Snapshot, k: int, rng: np.random.Generator
) -> list[int]:
    """The nodes that a policy chooses, at most `k`."""
    if np.isnan(values).all():
        raise InputError("the acquisition function gave NaN for every candidate")
    answer: Any = policy(values, snapshot, k, rng)
    chosen = _numbers(answer)
    if (
        chosen is None
        or chosen.ndim != 1
        or chosen.dtype.kind not in "iu"
        or not 1 <= len(chosen) <= k
        or len(set(chosen.tolist())) < len(chosen)
        or chosen.min() < 0
        or chosen.max() >= len(values)
        or not snapshot.candidates[chosen].all()
    ):
        named = answer if chosen is None else chosen.tolist()
        raise InputError(f"the policy chose {named!r}: expected 1 to {k} different candidates")
    return [int(node) for node in chosen]


def guess_at(snapshot: Snapshot, node: int) -> tuple[float, ...]:
    """Class probabilities at a node about to be asked, if the decision looked at scores."""
    if not snapshot.looked_at_scores:
        return ()
    labels = snapshot.labels
    shares = labels.counts / max(len(labels), 1)
    row = normalise_scores(snapshot.scores[[node]], np.ones(1, dtype=bool), shares)
    return tuple(float(p) for p in row[0])


def _numbers(returned: Any) -> "np.ndarray[Any, Any] | None":
    """What a function returned as an array of real numbers; None if it is none."""
    try:
        array = np.asarray(returned)
    except (ValueError, TypeError):  # lists of different lengths
        return None
    return array if array.dtype.kind in "biuf" else None
