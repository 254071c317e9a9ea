"""Expected error reduction in the harmonic model."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from poise.active.acquisition.registry import acquisitions
from poise.active.acquisition.variance.covariance import AnswerModel
from poise.active.snapshot import Snapshot
from poise.arrays import Floats
from poise.checks import whole_number
from poise.graph import Graph
from poise.models.components import reached
from poise.models.labels import Labels

#: Accuracy of a column: risks of candidates differ by far more.
RTOL = 1e-4
#: Where an answer moves scores by less, the risk is left as it is: errors of the columns, summed
#: over all nodes, would count for more than what the answer does there.
NEGLIGIBLE = 0.01


@acquisitions.register("expected-error")
@dataclass(frozen=True)
class ExpectedError:
    """The answer that leaves the smallest expected error first, among some random candidates.

    With f the harmonic function of the labels, ``(n, C)``, its risk is the expected zero-one error
    ``mean over x of (1 - max_c f_c(x))``. If candidate k had the answer c, f would become

        f + h (e_c - f(k)),  h = G e_k / G_kk,  G = (L_UU)^-1, U the nodes without a label,

    so that one column of G per candidate gives the risk after every answer. The value is minus the
    risk, averaged over the answers with probabilities f(k). Open questions count as answered as
    expected, which changes U but not f.

    With labels of fewer than two classes there is no risk, and the value is the mean of h: how far
    an answer reaches. Nodes of components without any label come first, the largest component
    before the others.

    Costs one solve of `size` columns and one per class.

    Parameters
    ----------
    size : int
        Candidates.

    References
    ----------
    X. Zhu, J. Lafferty and Z. Ghahramani, "Combining active learning and semi-supervised learning
    using Gaussian fields and harmonic functions", 2003.
    """

    size: int = 50

    uses_scores: ClassVar[bool] = False
    needs: ClassVar[str] = "two classes"
    cost: ClassVar[str] = "50 columns a query, and one per class"
    use: ClassVar[str] = "for comparison with Laplace learning"

    def __post_init__(self) -> None:
        whole_number(self.size, "size", 1)

    def __call__(self, snapshot: Snapshot) -> Floats:
        graph, rng = snapshot.graph, snapshot.rng
        known = reached(graph, snapshot.constrained)
        values = np.full(graph.n_nodes, -2.0)  # below every judged node
        share = graph.component_sizes[graph.components] / graph.n_nodes
        values[~known] = 1.0 + share[~known]
        pool = np.flatnonzero(snapshot.candidates & known)
        if not len(pool) or (snapshot.candidates & ~known).any():
            return values
        nodes = rng.choice(pool, min(self.size, len(pool)), replace=False)
        columns = AnswerModel().columns(graph, snapshot.constrained, nodes, rtol=RTOL)
        columns /= columns[nodes, np.arange(len(nodes))]
        if np.count_nonzero(snapshot.labels.counts) < 2:
            values[nodes] = columns.mean(axis=0)
            return values
        f = harmonic_function(graph, snapshot.labels)
        values[nodes] = -expected_risks(f, columns, f[nodes])
        return values


def harmonic_function(graph: Graph, labels: Labels) -> Floats:
    """(n, C) ``f = G W_UL Y``, Y where there is a label; equal shares on components without one."""
    n_classes = len(labels.classes)
    Y = np.zeros((graph.n_nodes, n_classes))
    Y[labels.nodes, labels.codes] = 1.0
    f = AnswerModel().apply(graph, labels.nodes, np.asarray(graph.weights @ Y), rtol=RTOL)
    f[labels.nodes] = Y[labels.nodes]
    f[~reached(graph, labels.nodes)] = 1.0 / n_classes
    return f


def expected_risks(f: Floats, columns: Floats, at_candidates: Floats) -> Floats:
    """(s,) risk after an answer to each candidate, averaged over the answers.

    Parameters
    ----------
    f : (n, C) scores
    columns : (n, s) the h of each candidate
    at_candidates : (s, C) scores of the candidates
    """
    current = 1.0 - f.max(axis=1)
    risks = np.full(len(at_candidates), current.sum())
    for k, (h, probabilities) in enumerate(zip(columns.T, at_candidates, strict=True)):
        near = np.flatnonzero(h > NEGLIGIBLE)
        reach = h[near, None]
        # f - h f(k) is common to all answers; the answer c adds h to column c alone.
        common = f[near] - reach * probabilities
        answered = np.maximum(common.max(axis=1, keepdims=True), common + reach)
        risks[k] += ((1.0 - answered) @ probabilities - current[near]).sum()
    return risks / len(f)
