"""How the learner of a labelling project begins."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from poise import Graph, Learner
from poise.active.acquisition.registry import as_acquisition, usual_tau
from poise.active.session import SKIP_ANSWERS
from poise.studio.asking.assistants import counted_answers
from poise.studio.log.settings import DEFAULTS
from poise.studio.log.state import State

#: How the first question is chosen if the acquisition needs labels: the most typical item. And the
#: acquisitions that need none.
SEEDING, SELF_SEEDING = "typicality", frozenset({"auto"})
#: Decay for acquisitions that have none of their own: the paper's, which falls with the answers.
DECAY = "geometric"


@dataclass(frozen=True)
class Setup:
    """What a learner begins with.

    Attributes
    ----------
    labels : node -> class, in the order of the answers
    classes : all of them, in their order
    excluded, skipped : nodes that are not asked about, for ever or for a while
    acquisition, tau : as for `Learner`; tau None is the acquisition's own decay, or `DECAY`
    counted : node -> class and weight of an assistant's answer that counts. Predictions use it;
        what is asked follows from the labels alone
    """

    labels: Mapping[int, str] = field(default_factory=dict)
    classes: tuple[str, ...] = ()
    excluded: frozenset[int] = frozenset()
    skipped: frozenset[int] = frozenset()
    acquisition: str = str(DEFAULTS["acquisition"])
    tau: float | None = None
    counted: Mapping[int, tuple[str, float]] = field(default_factory=dict)

    def learner(self, graph: Graph, seed: int, *, anticipate: bool = True) -> Learner:
        """A new learner with this setup; `anticipate` as for `Learner`."""
        acquisition = as_acquisition(self.acquisition)
        learner = Learner(
            graph,
            acquisition=acquisition,
            tau=usual_tau(acquisition, DECAY) if self.tau is None else self.tau,
            seeding=None if self.acquisition in SELF_SEEDING else SEEDING,
            n_seeding=1,
            seed=seed,
            anticipate=anticipate,
            classes=self.classes,
        )
        if self.labels:
            # Told, not given: tau falls with the number of answers.
            learner.tell(list(self.labels), list(self.labels.values()))
        for method, nodes in ((learner.exclude, self.excluded), (learner.skip, self.skipped)):
            free = sorted(nodes - self.labels.keys())
            if free:
                method(free)
        return learner


def setup_of(state: State, nodes: Mapping[str, int]) -> Setup:
    """The setup of a learner after the events of a state.

    Parameters
    ----------
    nodes : item -> its node
    """
    excluded = {nodes[item] for item in state.unsure if item in nodes}
    if state.settings["only"] is not None:
        allowed = {nodes[item] for item in state.settings["only"] if item in nodes}
        excluded |= set(range(len(nodes))) - allowed
    recent = (i for i, at in state.skipped.items() if len(state.labels) - at < SKIP_ANSWERS)
    return Setup(
        _labels(state, nodes),
        state.known.in_order_of_making(),
        frozenset(excluded),
        frozenset(nodes[item] for item in recent if item in nodes),
        state.settings["acquisition"],
        state.settings["tau"],
        counted_answers(state, nodes),
    )


def _labels(state: State, nodes: Mapping[str, int]) -> dict[int, str]:
    """Node -> class, in the order of the answers."""
    in_order = sorted(state.labels, key=lambda item: state.version[item])
    return {nodes[item]: state.labels[item].label for item in in_order if item in nodes}
