"""How much of the data lies near a label: a share that only grows with more labels."""

import numpy as np

from poise import Graph
from poise.arrays import Bools, Ints
from poise.models.held_out import spread_evenly

#: Share of the items that one label explores by definition: about a hundred labels, well spread,
#: explore everything, whatever the number of items.
SHARE_PER_LABEL = 0.01
#: Items from whose surroundings the reach of a label is measured.
SAMPLE_NODES = 25


def explored(graph: Graph, labelled: Ints) -> float:
    """Share of the nodes within `reach` steps of a labelled one, in the graph of neighbours.

    Unlike the strength of the scores it depends only on which nodes are labelled, so no answer
    makes it smaller.
    """
    return float(within(graph, labelled, reach(graph)).mean())


def reach(graph: Graph) -> int:
    """Steps within which the median node reaches `SHARE_PER_LABEL` of all nodes, at least 1.

    In a component that is smaller, all nodes count.
    """
    all_steps = []
    for node in spread_evenly(graph.n_nodes, SAMPLE_NODES):
        steps, before, seen = 0, 0, np.array([node])
        while before < len(seen) < SHARE_PER_LABEL * graph.n_nodes:
            before, steps = len(seen), steps + 1
            seen = np.union1d(seen, graph.weights[seen].indices)
        all_steps.append(steps)
    return max(1, int(np.median(all_steps)))


def within(graph: Graph, nodes: Ints, steps: int) -> Bools:
    """(n,) mask of the nodes within this number of steps of `nodes`."""
    seen = np.zeros(graph.n_nodes, dtype=bool)
    seen[nodes] = True
    front = nodes
    for _ in range(steps):
        near = np.unique(graph.weights[front].indices).astype(np.int64)
        front = near[~seen[near]]
        seen[front] = True
    return seen
