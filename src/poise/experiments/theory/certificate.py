"""How tight the decay bound and the certificate are, on graphs of real data."""

from dataclasses import dataclass

import numpy as np

from poise import Dataset, knn_graph, load_dataset
from poise.active.certificate import TAUS, Certificate, exploration_certificate
from poise.arrays import Floats
from poise.experiments.drawing.plots import Axis, Series, Style, percent
from poise.experiments.theory.chapter import Chapter, above, chart, powers
from poise.models.decay import decay_bound
from poise.models.harmonic import Problem, solve_problems
from poise.models.labels import Labels

#: Values of tau at which the decay bound is compared with the norms.
COMPARED = (1e-3, 1e-1)
#: A point is near a label if it is closer than this neighbour of a typical point.
NEIGHBOURS = 10
GROUPS = 24


@dataclass(frozen=True, eq=False)
class Tightness:
    """The bound and the norms, for one graph with a label in every second cluster.

    Attributes
    ----------
    name : name of the data set
    certificate : certificate over the values of tau
    norms, bounds : tau -> (n,) of the unlabelled nodes
    """

    name: str
    certificate: Certificate
    norms: dict[float, Floats]
    bounds: dict[float, Floats]

    def exponent(self, tau: float) -> float:
        """Median share of the true decay, in logarithms, that the bound predicts."""
        true = -np.log(np.maximum(self.norms[tau], 1e-300))
        seen = -np.log(np.maximum(self.bounds[tau], 1e-300))
        return float(np.median(seen[true > 0] / true[true > 0]))


def tightness(data: Dataset, k: int, *, seed: int = 0) -> Tightness:
    """Label one random point in every second cluster, and compare."""
    graph = knn_graph(data.X, k=k)
    rng = np.random.default_rng(seed)
    explored = np.unique(data.clusters)[::2]
    nodes = [int(rng.choice(np.flatnonzero(data.clusters == c))) for c in explored]
    answers = {node: int(data.classes[node]) for node in nodes}
    labels = Labels.of(answers, graph.n_nodes)
    certificate = exploration_certificate(
        graph, labels, radius=_typical_radius(data.X, rng), groups=data.clusters
    )
    sources = tuple(tuple(nodes.tolist()) for nodes in labels.by_class)
    problems = [Problem(sources, tau) for tau in COMPARED]
    rest = np.setdiff1d(np.arange(graph.n_nodes), labels.nodes)
    norms, bounds = {}, {}
    for problem, columns in zip(problems, solve_problems(graph, problems), strict=True):
        norms[problem.tau] = np.sqrt((columns.values**2).sum(axis=1))[rest]
        bounds[problem.tau] = decay_bound(graph, labels.nodes, columns.weights, problem.tau)[rest]
    return Tightness(data.name, certificate, norms, bounds)


def _typical_radius(X: Floats, rng: np.random.Generator) -> float:
    """Median distance to the `NEIGHBOURS`-th neighbour, on a sample of points."""
    some = X[rng.choice(len(X), min(200, len(X)), replace=False)]
    squares = [np.partition(((X - x) ** 2).sum(axis=1), NEIGHBOURS)[NEIGHBOURS] for x in some]
    return float(np.sqrt(np.median(squares)))


def certificate() -> Chapter:
    """On the blobs: every node's norm and bound, and the values of tau that explore."""
    tight = tightness(load_dataset("blobs"), 100)
    tau = COMPARED[0]
    order = np.argsort(tight.norms[tau])
    parts = np.array_split(order, GROUPS)
    share = (np.arange(GROUPS) + 0.5) / GROUPS
    norms = np.array([np.median(_logs(tight.norms[tau][part])) for part in parts])
    low, middle, high = np.array(
        [np.quantile(_logs(tight.bounds[tau][part]), [0.05, 0.5, 0.95]) for part in parts]
    ).T
    lowest = int(np.floor(min(norms.min(), -1)))
    certified = tight.certificate
    x = np.log10(certified.taus)
    worst, bound = certified.unexplored.max(axis=1), certified.bound.max(axis=1)
    bottom = int(np.floor(_logs(certified.near).min()))
    return Chapter(
        "A certificate for a graph",
        "Blobs, one label in every second cluster. The decay bound holds for every node and needs "
        "no solve. The certificate says for which $τ$ every cluster without a label is asked "
        "before any point near a label.",
        [
            chart(
                "decay-bound",
                [
                    Series("norm", share, norms, style=Style(0, "", "circle")),
                    Series(
                        "decay bound", share, middle, low, high, style=Style(1, "7 4", "square")
                    ),
                ],
                title=f"Norms and their bound, $τ$ = {tau:g}",
                x=Axis("share of the nodes", 0, 1, percent),
                y=powers("norm of the scores", lowest, 0),
                caption="Nodes in the order of their norms. The band contains 90% of the bounds.",
            ),
            chart(
                "certificate",
                [
                    above("smallest near a label", x, _logs(certified.near), bottom),
                    above("unexplored, the cluster asked last", x, _logs(worst), bottom),
                    above("its decay bound", x, _logs(bound), bottom),
                ],
                title="What is asked first, over $τ$",
                x=powers("$τ$", -6, 0),
                y=powers("norm of the scores", bottom, 0),
                caption="Where the line of the unexplored clusters is below that of the labels' "
                "neighbourhoods, exploration comes first; this is computed, with a certified "
                "error. Where the bound is below that line too, it was predicted. Lines end where "
                "they leave the range.",
            ),
        ],
        facts(tight),
    )


def facts(tight: Tightness) -> dict[str, str]:
    """The tightness of both, in words."""
    certified = tight.certificate
    facts_of = {
        "explores first": _listed(certified.taus[certified.explores]),
        "predicted by the bound": _listed(certified.taus[certified.foreseen]),
        "largest certified error of a norm": f"{certified.error.max():.1e}",
    }
    for tau in COMPARED:
        facts_of[f"share of the true decay that the bound predicts, τ = {tau:g}"] = (
            f"{100 * tight.exponent(tau):.0f}% in the median"
        )
    return facts_of


def _listed(taus: Floats) -> str:
    if not len(taus):
        return f"for none of {len(TAUS)} values of τ"
    return f"for {len(taus)} of {len(TAUS)} values of τ, from {taus.min():.2g} to {taus.max():.2g}"


def _logs(values: Floats) -> Floats:
    return np.log10(np.maximum(values, 1e-300))
