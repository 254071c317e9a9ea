"""Labels that are probably wrong, judged by the other labels."""

from collections.abc import Collection, Mapping
from math import ceil

from poise import Graph
from poise.models import suspicion as model
from poise.models.held_out import dealt
from poise.models.labels import Labels

#: From this probability of being wrong on, a label is shown as suspicious
#: (docs/decisions/noisy-answers.md says how many of those are wrong).
SUSPICIOUS_PROBABILITY = 0.5
#: Most labels that are judged together: the time grows with the cube of their number.
MAX_TOGETHER = 2_000


def suspicion(graph: Graph, labels: Mapping[int, str]) -> dict[int, float]:
    """Node -> probability that its label is wrong, each judged without that label.

    The share of wrong labels is unknown and averaged over, see
    `poise.models.suspicion.averaged_trust`. More than `MAX_TOGETHER` labels are split into parts.
    """
    classes = sorted(set(labels.values()))
    if len(classes) < 2:
        return dict.fromkeys(labels, 0.0)
    nodes = sorted(labels)
    probabilities: dict[int, float] = {}
    for part in dealt(len(nodes), ceil(len(nodes) / MAX_TOGETHER)):
        some = {nodes[position]: labels[nodes[position]] for position in part.tolist()}
        judged = Labels.of(some, graph.n_nodes, classes)
        wrong = model.suspicion(graph, judged, noise=None)
        probabilities |= dict(zip(judged.nodes.tolist(), wrong.tolist(), strict=True))
    return probabilities


def sentence(probabilities: Collection[float]) -> str:
    """How many labels are suspicious, and how strong the evidence is."""
    wrong = [p for p in probabilities if p >= SUSPICIOUS_PROBABILITY]
    if not wrong:
        return "No label is more likely wrong than right, judged by the others."
    expected = max(1, round(sum(wrong)))
    labels = "1 label" if len(wrong) == 1 else f"{len(wrong):,} labels"
    return (
        f"{labels} of {len(probabilities):,} {_are(len(wrong))} more likely wrong than right, "
        f"judged by the others; about {expected:,} {_are(expected)} expected to be wrong."
    )


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
