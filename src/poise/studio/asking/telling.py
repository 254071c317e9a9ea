"""Labels for a learner, and its questions about given nodes."""

from collections.abc import Iterable, Sequence
from contextlib import suppress

from poise import Learner
from poise.errors import NodeIndexError
from poise.models.calibration import Calibration
from poise.studio.asking.question import Features, Question, ask_about


def tell(learner: Learner, nodes: Sequence[int], label: str) -> None:
    """Tell a label, also for nodes that have another one or are set aside."""
    known = learner.labels
    old = [node for node in nodes if node in known]
    new = [node for node in nodes if node not in known]
    if old:
        learner.relabel(old, [label] * len(old))
    if new:
        free(learner, set(new) - set(learner.pending))
        learner.tell(new, [label] * len(new))


def free(learner: Learner, nodes: Iterable[int]) -> None:
    """Give nodes back to the pool, if anything keeps them from it."""
    for node in sorted(nodes):
        with suppress(NodeIndexError):
            learner.release(node)


def explain(
    learner: Learner, features: Features, nodes: Sequence[int], calibration: Calibration | None
) -> list[Question]:
    """Questions about given nodes, with their reasons where they have no label."""
    labelled = [node for node in nodes if node in learner.labels]
    unlabelled = [node for node in nodes if node not in learner.labels]
    questions = [Question(node) for node in labelled]
    if unlabelled:
        free(learner, unlabelled)
        questions += ask_about(learner, features, unlabelled, calibration)
    return questions
