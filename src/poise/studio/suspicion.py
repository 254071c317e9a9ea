"""Labels that the other labels speak against: each is judged as if it were not there."""

from collections.abc import Mapping

import numpy as np

from poise import Graph
from poise.models.harmonic import Columns, Problem, solve_problems

#: Labels judged with one solve.
CHUNK = 32
#: Relative residual of the solves: shares are shown as whole per cents.
RTOL = 1e-5


def suspicion(graph: Graph, labels: Mapping[int, str]) -> dict[int, float]:
    """Node -> how far the strongest other class outweighs its own, from 0 to 1; 1/2 is even.

    A random walk on the reweighted graph from node i ends at the other labels with some
    probabilities. With h_i the column of node i alone and u_c that of class c, one step from i to
    its neighbours j gives those of its own class as ``sum_j p_ij (u_c - h_i)(j)``, those of the
    others as ``sum_j p_ij u_c(j)``. Nothing is said of the only label of a class, nor of one that
    reaches no other.
    """
    if len(labels) < 2:
        return {}
    members: dict[str, list[int]] = {}
    for node, label in labels.items():
        members.setdefault(label, []).append(node)
    names = list(members)
    together = Problem(tuple(tuple(sorted(members[name])) for name in names))
    solved: dict[Problem, Columns] = {}
    (solved[together],) = solve_problems(graph, [together], rtol=RTOL)
    classes, gamma = solved[together].values, solved[together].weights
    nodes = sorted(labels)
    found = {}
    for first in range(0, len(nodes), CHUNK):
        chunk = nodes[first : first + CHUNK]
        rest = tuple(node for node in nodes if node not in set(chunk))
        alone = Problem((*((node,) for node in chunk), *([rest] if rest else [])))
        (columns,) = solve_problems(graph, [alone], solved, rtol=RTOL)
        for j, node in enumerate(chunk):
            row = slice(graph.weights.indptr[node], graph.weights.indptr[node + 1])
            near = graph.weights.indices[row]
            step = graph.weights.data[row] * gamma[near]
            own = columns.values[near, j]
            reach = step @ classes[near]
            mine = names.index(labels[node])
            reach[mine] -= step @ own
            reach = np.maximum(reach, 0.0)
            rival = np.delete(reach, mine).max(initial=0.0)
            if len(members[labels[node]]) > 1 and rival + reach[mine] > 1e-6 * step.sum():
                found[node] = float(rival / (rival + reach[mine]))
    return found
