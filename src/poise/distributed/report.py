"""Report on a partitioned graph: degrees, hubs, cells, components, recall, and advice."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from poise.distributed.plan import Plan
from poise.distributed.tasks import Facts
from poise.graph.metrics import IntArray
from poise.graph.report import HUB_RATIO

MIN_GOOD_RECALL = 0.95
"""Share of the true neighbours below which the search should be widened."""

UNEVEN_CELLS_RATIO = 4.0
"""Workers wait for the largest cell if it exceeds this multiple of the mean size."""


def make_report(
    plan: Plan,
    home: Mapping[int, Facts],
    merged: Mapping[int, Facts],
    received: Mapping[int, Facts],
    rows: Mapping[int, Facts],
    visitors: IntArray,
    components: IntArray,
    recall: float | None,
) -> dict[str, Any]:
    """The report of a finished graph, as in the manifest.

    Parameters
    ----------
    plan : Plan
    home, merged, received, rows
        Results of the tasks of these stages, by cell.
    visitors : ndarray of int64
        Number of points of other cells that visited each cell.
    components : ndarray of int64
        Sizes of the connected components, largest first.
    recall : float, optional
        Measured on a sample.
    """
    neighbours = _neighbours(rows)
    sizes = np.array([facts["points"] for facts in home.values()])
    n = int(sizes.sum())
    entries = sum(facts["shard"]["n_entries"] for facts in rows.values())
    degrees = np.array([facts["degrees"] for facts in rows.values()])
    report: dict[str, Any] = {
        "n_components": int(components.size),
        "largest_components": components[:10].tolist(),
        "isolated": neighbours.pop("isolated"),
        "neighbours": neighbours,
        "degrees": {
            "smallest": float(degrees[:, 0].min()),
            "mean": float(degrees[:, 1].sum() / n),
            "largest": float(degrees[:, 2].max()),
        },
        "hubs": {
            "listed_by_most": max(facts["most_incoming"] for facts in received.values()),
            "limit": plan.most_incoming,
            "capped": sum(facts["capped"] for facts in received.values()),
            "edges_dropped": sum(facts["dropped"] for facts in rows.values()),
        },
        "cells": {
            "number": int(sizes.size),
            "smallest": int(sizes.min()),
            "mean": float(sizes.mean()),
            "largest": int(sizes.max()),
            "imbalance": float(sizes.max() / sizes.mean()),
            "entries_imbalance": _imbalance([f["shard"]["n_entries"] for f in rows.values()]),
            "visitors_imbalance": _imbalance(visitors),
        },
        "visits_per_point": float(visitors.sum() / n),
        "covered": sum(facts["covered"] for facts in home.values()) / n,
        "recall": recall,
        "checked": min(plan.checked, n) if recall is not None else 0,
        "entries_within_shards": sum(f["inside"] for f in rows.values()) / max(1, entries),
        "short_lists": sum(facts["short"] for facts in merged.values()),
        "coinciding": sum(facts["coinciding"] for facts in merged.values()),
        "backend": plan.backend,
        "reach": plan.reach,
        "seed": plan.seed,
    }
    return report | {"advice": advice(report, plan)}


def advice(report: Mapping[str, Any], plan: Plan) -> list[str]:
    """Advice in sentences; empty if there is nothing to do."""
    sentences = []
    recall, cells, hubs = report["recall"], report["cells"], report["hubs"]
    if recall is not None and recall < MIN_GOOD_RECALL:
        sentences.append(
            f"Of the true neighbours {100 * recall:.1f}% were found: use a reach above "
            f"{plan.reach}, fewer cells, or backend='exact'."
        )
    if cells["imbalance"] > UNEVEN_CELLS_RATIO:
        sentences.append(
            f"The largest cell has {cells['largest']:,} points, the mean cell "
            f"{cells['mean']:,.0f}: check for many equal points, or use more cells."
        )
    neighbours = report["neighbours"]
    if neighbours["largest"] > HUB_RATIO * max(neighbours["median"], 1):
        sentences.append(
            f"One node has {neighbours['largest']:,} neighbours, the median node "
            f"{neighbours['median']:,}: symmetrise='min' keeps only mutual neighbours, a smaller "
            "most_incoming caps such hubs, an embedding in fewer dimensions has fewer of them."
        )
    if hubs["capped"]:
        sentences.append(
            f"{hubs['capped']:,} nodes were listed by more than {hubs['limit']:,} others and kept "
            f"the nearest of them; {hubs['edges_dropped']:,} edges were dropped."
        )
    if report["n_components"] > 1:
        share = 100 * report["largest_components"][0] / plan.n
        sentences.append(
            f"The graph has {report['n_components']:,} components and the largest holds "
            f"{share:.1f}% of the nodes: labels do not travel between components."
        )
    return sentences


def _neighbours(rows: Mapping[int, Facts]) -> dict[str, int]:
    """Distribution of the number of neighbours over all shards."""
    counted: Counter[int] = Counter()
    for facts in rows.values():
        counted.update(dict(zip(*facts["neighbours"], strict=True)))
    sizes = np.array(sorted(counted))
    below = np.cumsum([counted[int(size)] for size in sizes])
    places = {"smallest": 0.0, "5%": 0.05, "median": 0.5, "95%": 0.95, "99.9%": 0.999}
    spread = {
        name: int(sizes[np.searchsorted(below, max(share * below[-1], 1))])
        for name, share in places.items()
    }
    return spread | {"largest": int(sizes[-1]), "isolated": counted.get(0, 0)}


def _imbalance(values: Any) -> float:
    """The largest as a multiple of the mean."""
    array = np.asarray(values, dtype=np.float64)
    return float(array.max() / array.mean()) if array.any() else 1.0
