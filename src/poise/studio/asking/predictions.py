"""Predicted classes of all items, their probabilities, and advice whether to go on.

They take several solves, so the thread that asks questions does not compute them; see `results.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from poise import Graph, Learner
from poise.active.stopping import Advice, advise, checkpoint, first_half
from poise.arrays import Floats
from poise.models.calibration import Calibration
from poise.models.labels import Labels
from poise.studio.asking.assisted import assisted_probabilities
from poise.studio.asking.explored import explored
from poise.studio.asking.setup import Setup
from poise.studio.log.events import BY_PERSON
from poise.studio.log.state import State

#: Probabilities are shown up to this share of labels that are the only one of their class. It
#: estimates the share of items whose class has no label yet (Good 1953), for which probabilities of
#: the known classes mean nothing.
MAX_UNSEEN_SHARE = 0.1
#: From this many items times classes on, predicting takes so long that questions would wait, so
#: fewer labels are held out: each is a column with a number for every item.
LARGE_SCORES, LARGE_HELD_OUT = 2_000_000, 30


@dataclass(frozen=True, eq=False)
class Predictions:
    """The model's predictions for every item.

    Attributes
    ----------
    classes : names
    codes : (n,) positions of the predicted classes in `classes`
    confidence : (n,) their calibrated probabilities; their order is meaningful in any case
    known : (n,) norms of the scores in the model that chooses questions, 0 where no label reaches
    calibration : for the guess shown with a question, which comes from the graph alone. None while
        there is too little evidence to show a probability, including `confidence`
    advice : whether to go on labelling
    explored : share of the items that lie near a label, see `explored.py`
    """

    classes: tuple[str, ...]
    codes: npt.NDArray[np.int64]
    confidence: Floats
    known: Floats
    calibration: Calibration | None
    advice: Advice
    explored: float

    def __len__(self) -> int:
        return len(self.codes)

    def of(self, node: int) -> tuple[str, float | None]:
        """The predicted class of a node, and its probability if there is evidence for one."""
        name = self.classes[self.codes[node]]
        if self.calibration is None:
            return name, None
        return name, round(float(self.confidence[node]), 4)


def predict(graph: Graph, setup: Setup, surprising: Mapping[int, bool]) -> Predictions | None:
    """Predictions from the labels of a setup; None without labels.

    Parameters
    ----------
    surprising : answered node -> whether the model had expected another class. Other labels are
        older than the questions
    """
    if not setup.labels:
        return None
    learner = predicting_learner(graph, setup)
    # The guess shown with a question comes from the graph alone, so it is calibrated separately.
    calibration, deciding = learner.calibration, _by(learner, "balanced").calibration
    # While there is only one class, every guess is right, which is no evidence.
    several = len(set(setup.labels.values())) > 1
    evident = calibration.has_evidence and deciding.has_evidence
    shown = several and evident and unseen(setup.labels) <= MAX_UNSEEN_SHARE
    result = learner.result
    certain = ~result.reached
    certain[list(setup.labels)] = True
    probabilities = calibration.apply(result.probabilities, keep=certain)
    if setup.counted:
        labels = Labels.of(setup.labels, graph.n_nodes, learner.classes)
        probabilities = assisted_probabilities(graph, labels, setup.counted)
    codes = probabilities.argmax(axis=1)
    return Predictions(
        tuple(map(str, learner.classes)),
        codes,
        np.clip(probabilities[np.arange(len(codes)), codes], 0.0, 1.0),
        np.minimum(learner.norms, 1.0),
        deciding if shown else None,
        _advice(graph, setup, _by(learner, "pwll"), surprising),
        explored(graph, np.array(list(setup.labels), dtype=np.int64)),
    )


def predicting_learner(graph: Graph, setup: Setup) -> Learner:
    """A learner with the labels of a setup, as quick as predictions for so many items must be."""
    learner = setup.learner(graph, 0)
    return learner.copy(most_held_out=LARGE_HELD_OUT) if _is_large(learner) else learner


def surprising_answers(state: State, nodes: Mapping[str, int]) -> dict[int, bool]:
    """Nodes that people labelled -> whether the model expected another class.

    Nothing is expected of items that were labelled without a question, such as those of a grid.

    Parameters
    ----------
    nodes : item -> its node
    """
    surprising: dict[int, bool] = {}
    for event in state.done:
        via = event.data.get("via", "question")
        # Where an assistant was judged, the model was not asked what it expects.
        if event.kind != "label" or via not in BY_PERSON or "of" in event.data:
            continue
        is_wrong = event.data.get("guess") != event.data["label"]
        for position, item in enumerate(event.items):
            if item in nodes and item in state.labels:
                was_asked = via in ("question", "audit") or (via == "duplicates" and position == 0)
                surprising[nodes[item]] = is_wrong and was_asked
    return surprising


def _is_large(learner: Learner) -> bool:
    return learner.graph.n_nodes * len(learner.classes) >= LARGE_SCORES


def _by(learner: Learner, predictor: str) -> Learner:
    """The same learner with another predictor; solutions are shared."""
    return learner.copy(predictor=predictor)


def unseen(labels: Mapping[int, Any]) -> float:
    """Share of the labels that are the only one of their class."""
    _, counts = np.unique(np.array(list(labels.values())), return_counts=True)
    return float((counts == 1).sum() / len(labels))


def _advice(graph: Graph, setup: Setup, now: Learner, surprising: Mapping[int, bool]) -> Advice:
    """Advice from how much the second half of the answers changed the predictions."""
    answered = [node for node in setup.labels if node in surprising]
    later = set(answered[first_half(len(answered)) :])
    early = {node: label for node, label in setup.labels.items() if node not in later}
    if not early:
        return advise([])
    before = Setup(early, tuple(map(str, now.classes))).learner(graph, 0)
    half = _by(before, "pwll").result.codes
    unexpected = [surprising[node] for node in answered]
    nodes = np.array(list(setup.labels), dtype=np.int64)
    return advise([checkpoint(now.result.probabilities, half, half, unexpected, nodes)])
