"""Labels that are probably wrong, by what the other labels say."""

from collections.abc import Collection, Mapping
from math import ceil

from poise import Graph
from poise.models import suspicion as model
from poise.models.held_out import dealt
from poise.models.labels import Labels

#: Probability of being wrong from which on a label is shown as suspicious
#: (docs/decisions/noisy-answers.md says how many of those are).
SUSPICIOUS = 0.5
#: Labels that judge each other at most: the time grows with the cube of their number.
TOGETHER = 2_000


def suspicion(graph: Graph, labels: Mapping[int, str]) -> dict[int, float]:
    """Node -> probability that its label is wrong, each judged as if it were not there.

    Nobody says how many labels are wrong: that is averaged over, see
    `poise.models.suspicion.averaged_trust`. More than `TOGETHER` labels are dealt into parts.
    """
    classes = sorted(set(labels.values()))
    if len(classes) < 2:
        return dict.fromkeys(labels, 0.0)
    nodes = sorted(labels)
    found: dict[int, float] = {}
    for part in dealt(len(nodes), ceil(len(nodes) / TOGETHER)):
        some = {nodes[place]: labels[nodes[place]] for place in part.tolist()}
        judged = Labels.of(some, graph.n_nodes, classes)
        wrong = model.suspicion(graph, judged, noise=None)
        found |= dict(zip(judged.nodes.tolist(), wrong.tolist(), strict=True))
    return found


def sentence(probabilities: Collection[float]) -> str:
    """How many labels are suspicious, and how strong the evidence is."""
    wrong = [p for p in probabilities if p >= SUSPICIOUS]
    if not wrong:
        return "No label is more likely wrong than right, as far as the other labels can say."
    labels, are = ("1 label", "is") if len(wrong) == 1 else (f"{len(wrong):,} labels", "are")
    return (
        f"{labels} of {len(probabilities):,} {are} more likely wrong than right, judged by the "
        f"others; about {max(1, round(sum(wrong))):,} should be wrong."
    )
