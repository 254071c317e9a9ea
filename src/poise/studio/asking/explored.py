"""How much of the data lies near a label: a share that only grows with more labels."""

import numpy as np

from poise import Graph
from poise.arrays import Bools, Ints
from poise.models.held_out import spread_evenly

#: Share of the items that one label is taken to explore: about a hundred labels, well spread, reach
#: everything, whatever the number of items.
EACH = 0.01
#: Items whose surroundings are measured to find how far that is.
SAMPLE = 25


def explored(graph: Graph, labelled: Ints) -> float:
    """Share of the nodes within `reach` steps of a labelled one, in the graph of neighbours.

    Unlike the strength of the scores it depends on nothing but which nodes are labelled, so no
    answer makes it smaller.
    """
    return float(within(graph, labelled, reach(graph)).mean())


def reach(graph: Graph) -> int:
    """Steps within which the median node has a share `EACH` of all nodes, 1 at least.

    A component that is smaller than that is within reach as soon as it is reached at all.
    """
    found = []
    for node in spread_evenly(graph.n_nodes, SAMPLE):
        steps, before, seen = 0, 0, np.array([node])
        while before < len(seen) < EACH * graph.n_nodes:
            before, steps = len(seen), steps + 1
            seen = np.union1d(seen, graph.weights[seen].indices)
        found.append(steps)
    return max(1, int(np.median(found)))


def within(graph: Graph, nodes: Ints, steps: int) -> Bools:
    """(n,) mask of the nodes at most so many steps from one of `nodes`."""
    seen = np.zeros(graph.n_nodes, dtype=bool)
    seen[nodes] = True
    front = nodes
    for _ in range(steps):
        near = np.unique(graph.weights[front].indices).astype(np.int64)
        front = near[~seen[near]]
        seen[front] = True
    return seen
