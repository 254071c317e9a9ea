"""Methods that ask: poise's default and its rivals, from zero labels on the same graph."""

import math
from dataclasses import dataclass
from typing import Any

from poise import Geometric, Learner, Relative, diffused
from poise.active.acquisition import Auto
from poise.arrays import Ints
from poise.experiments.efficiency.trials import Trial


@dataclass(frozen=True)
class Method:
    """An acquisition with its tau.

    Attributes
    ----------
    name : its name in tables
    acquisition, tau : as for `Learner`; None leaves tau to the acquisition
    blind : whether the method ignores answers, so that groupings share their questions
    """

    name: str
    acquisition: Any
    tau: Any = None
    blind: bool = False

    def learner(self, trial: Trial) -> Learner:
        """A learner without labels, for a simulation."""
        options = {} if self.tau is None else {"tau": self.tau}
        return Learner(
            trial.graph,
            acquisition=self.acquisition,
            seed=trial.number,
            anticipate=False,
            **options,
        )


AUTO = "auto"

#: `auto` and its rivals.
METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(AUTO, "auto"),
        Method("random", "random", blind=True),
        Method("coverage", "coverage", blind=True),
        Method("probcover", "probcover", blind=True),
        Method("typiclust", "typiclust", blind=True),
        Method("maxherding", "maxherding", blind=True),
        Method("norm", "norm", 1e-3),
        Method("norm-decay", "norm", Geometric()),
        Method("margin", "margin", 0.0),
        Method("uncertainty-herding", "uncertainty-herding", 0.0),
        Method("dropquery", "dropquery", 0.0),
        Method("badge", "badge", 0.0),
        Method("dial", "dial", 0.0),
        Method("vopt", "vopt", blind=True),
    )
}


#: Variants of `auto` with one ingredient removed or changed.
ABLATIONS: dict[str, Method] = {
    method.name: method
    for method in (
        METHODS[AUTO],
        Method("no walk", Auto(steps=0)),
        Method("walk of 1", Auto(steps=1)),
        Method("walk of 4", Auto(steps=4)),
        Method("no reach", Auto(power=0.0)),
        Method("reach at once", Auto(half=0.0)),
        Method("reach to the power 1", Auto(power=1.0)),
        Method("reach without a bound", Auto(most=math.inf)),
        Method("no gain", Auto(gain=0.0)),
        Method("gain at once", Auto(gain_half=0.0)),
        Method("gain to the power 1", Auto(gain=1.0)),
        Method("no decay", Auto(), 0.0),
        Method("decay 0.001 of the unit", Auto(), Relative(1e-3)),
        Method("decay 0.1 of the unit", Auto(), Relative(0.1)),
        Method("decay 0.001, absolute", Auto(), 1e-3),
        Method("falling absolute decay", Auto(), Geometric()),
        METHODS["norm"],
        Method("diffused norm", diffused("norm"), 1e-3),
        Method("diffused coverage", diffused("coverage"), blind=True),
    )
}


def ask_all(trial: Trial, method: Method, codes: Ints, budget: int) -> list[int]:
    """The nodes that a method asks for, in order, if every answer is right."""
    learner = method.learner(trial)
    asked: list[int] = []
    while len(asked) < min(budget, trial.n_points):
        (node,) = learner.ask().tolist()
        learner.tell(node, int(codes[node]))
        asked.append(node)
    return asked
