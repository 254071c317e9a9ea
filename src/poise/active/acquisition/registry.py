"""The table of acquisition functions, and what they may declare."""

from dataclasses import dataclass
from typing import Any, Protocol, TypeGuard

from poise.active.snapshot import Snapshot
from poise.arrays import Floats, Ints
from poise.graph import Graph
from poise.registry import Registry, declared

#: Decay for acquisitions that declare none.
USUAL_TAU = 1e-3


class Acquisition(Protocol):
    """What is worth asking: a value per node. Larger = ask first, NaN = not a candidate.

    A function is enough. A class may also have the attributes of `AcquisitionTraits`, and the
    methods of `Remembering`.
    """

    def __call__(self, snapshot: Snapshot, /) -> Floats: ...


class Remembering(Acquisition, Protocol):
    """An acquisition that remembers something between questions, ``snapshot.memory``.

    Both methods depend on their arguments alone and change none of them, so that the memory can be
    rebuilt after an undo or from a file.
    """

    def start(self, graph: Graph, labelled: Ints, seed: int, /) -> Any:
        """The memory at the beginning, when the nodes `labelled` have a label."""

    def advance(self, memory: Any, node: int, /) -> Any:
        """The memory after one more node is asked or labelled."""


@dataclass(frozen=True)
class AcquisitionTraits:
    """What an acquisition may declare as class attributes, with the defaults.

    Attributes
    ----------
    uses_scores : False promises that neither scores nor norms are read: none are solved for ahead
    tau : the decay that it was made for, as `Learner` takes it; None for `USUAL_TAU`
    rtol : the relative residual that its choices need; None for that of `solve`
    needs, cost, use : what ``poise acquisitions`` shows beside the first line of the docstring
    """

    uses_scores: bool = True
    tau: Any = None
    rtol: float | None = None
    needs: str = ""
    cost: str = ""
    use: str = ""


acquisitions: Registry[Acquisition] = Registry(
    "acquisition",
    "poise.acquisitions",
    families={"skactiveml": "poise.integrations.skactiveml.strategies:strategies"},
)


def as_acquisition(acquisition: Any) -> Acquisition:
    """A name or a function, as a function."""
    return acquisitions.resolve(acquisition, "of a Snapshot")


def traits_of(acquisition: Any) -> AcquisitionTraits:
    """What an acquisition declares, or its factory."""
    return declared(acquisition, AcquisitionTraits)


def usual_tau(acquisition: Acquisition, otherwise: Any = USUAL_TAU) -> Any:
    """The decay that an acquisition was made for, or `otherwise` if it declares none."""
    tau = traits_of(acquisition).tau
    return otherwise if tau is None else tau


def remembers(acquisition: Acquisition) -> TypeGuard[Remembering]:
    """Whether an acquisition remembers something between questions."""
    return hasattr(acquisition, "start")
