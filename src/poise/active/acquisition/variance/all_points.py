"""A criterion on all nodes: the sketch names the promising ones, exact columns judge them."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from poise.active.acquisition.variance.covariance import Statistics
from poise.active.acquisition.variance.sketch import Sketch
from poise.arrays import Bools, Floats, Ints
from poise.graph import Graph

#: Rounds of exact judgement per question; each solves for half a shortlist of columns.
MAX_ROUNDS = 2
#: An estimate may be too low by this much: five standard deviations at 256 projections.
SLACK = 0.15
#: From statistics of nodes to their values; larger = ask first.
Criterion = Callable[[Statistics], Floats]


def refine(
    state: Sketch,
    criterion: Criterion,
    size: int,
    weight: Floats | None = None,
    candidates: Bools | None = None,
) -> Sketch:
    """Judge the most promising nodes exactly and keep the columns of the `size` best.

    In each round the nodes of largest estimate join, until the best exact value is clearly larger
    than every estimate that is left (lazy greedy: values only fall) or the rounds are over.

    Parameters
    ----------
    weight : (n,) factor of each node's value, 1 by default
    candidates : (n,) mask of the nodes worth judging, all by default
    """
    factor = np.ones(state.graph.n_nodes) if weight is None else weight
    open_nodes = _open(state) if candidates is None else _open(state) & candidates
    promise = np.where(open_nodes, factor * criterion(state.estimate()), -np.inf)
    columns = dict(state.columns)
    values: dict[int, float] = {}

    def judge(nodes: Ints) -> None:
        statistics, solved = replace(state, columns=columns).exact(nodes)
        exact = factor[nodes] * criterion(statistics)
        values.update(zip(nodes.tolist(), exact.tolist(), strict=True))
        columns.update({int(node): solved[:, j].copy() for j, node in enumerate(nodes)})
        promise[nodes] = -np.inf

    judge(np.fromiter(columns, dtype=np.int64, count=len(columns)))
    for _ in range(MAX_ROUNDS):
        if (1 + SLACK) * promise.max() <= max(values.values(), default=-np.inf):
            break
        newcomers = np.argsort(-promise, kind="stable")[: max(size // 2, 1)]
        judge(newcomers[np.isfinite(promise[newcomers])])
    best = sorted(columns, key=lambda node: (-values[node], node))[:size]
    return replace(state, columns={node: columns[node] for node in best})


def values_of_all(
    state: Sketch, criterion: Criterion, candidates: Bools, weight: Floats | None = None
) -> Floats:
    """(n,) values: exact where a column is kept, else estimates that stay below the best exact one.

    Nodes of components without an asked node come first, the largest component's before the
    others', and in each the one of smallest pseudo-inverse diagonal: its most central node.
    """
    factor = np.ones(state.graph.n_nodes) if weight is None else weight
    estimated = state.estimate()
    values = np.where(_open(state), factor * criterion(estimated), 0.0)
    kept = np.fromiter(state.columns, dtype=np.int64, count=len(state.columns))
    if len(kept):
        exact = factor[kept] * criterion(state.exact(kept)[0])
        allowed = candidates[kept]
        if allowed.any():
            values = np.minimum(values, np.nextafter(exact[allowed].max(), -np.inf))
        values[kept] = exact
    return waiting_first(values, state.graph, state.waiting, estimated.variances)


def waiting_first(values: Floats, graph: Graph, waiting: Bools, resistance: Floats) -> Floats:
    """`values` with the nodes of components that have no covariance yet before all others.

    The largest component comes first, in each the node of smallest `resistance`.
    """
    if not waiting.any():
        return values
    typical = max(resistance[waiting].mean(), 1e-300)
    central = 1.0 / (1.0 + resistance / typical)  # in (0, 1], so that components do not mix
    offset = 2.0 * abs(values).max() + graph.n_components
    return np.where(waiting, offset - graph.components + central, values)


def _open(state: Sketch) -> Bools:
    """(n,) mask of the nodes that can be judged."""
    asked = np.array(state.asked, dtype=np.int64)
    mask = state.model.free(state.graph, asked)
    mask[asked] = False
    return mask
