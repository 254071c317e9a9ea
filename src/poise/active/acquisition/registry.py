"""The table of acquisition functions: name -> factory of ``Snapshot -> (n,) values``."""

from collections.abc import Callable
from typing import Any

from poise.active.snapshot import Snapshot
from poise.arrays import Floats
from poise.registry import Registry

#: Larger = ask first, NaN = not a candidate. Optional members that the Learner looks for:
#:
#: ``uses_scores = False`` (class attribute)
#:     says that neither scores nor norms are read, so that none are solved for ahead.
#: ``start(graph, given, seed) -> memory``, ``advance(memory, node) -> memory``
#:     what is worth remembering between questions: `start` sees the nodes labelled at the
#:     beginning, `advance` each further node that is asked or labelled, in order. Both depend on
#:     nothing else and change nothing, so that the memory can be rebuilt after an undo or from a
#:     file. ``snapshot.memory`` is the result.
#: ``tau`` (class attribute)
#:     the decay it was made for, as `Learner` takes it; 0.001 if it does not say.
#: ``rtol`` (class attribute)
#:     the relative residual that its choices need; that of `solve` if it does not say.
#: ``needs``, ``cost``, ``use`` (class attributes)
#:     what ``poise acquisitions`` shows beside the first line of the docstring.
Acquisition = Callable[[Snapshot], Floats]
acquisitions: Registry[Acquisition] = Registry("acquisition")


def as_acquisition(acquisition: Any) -> Acquisition:
    """A name or a function, as a function."""
    return acquisitions.resolve(acquisition, "of a Snapshot")


def usual_tau(acquisition: Acquisition) -> Any:
    """The decay that an acquisition was made for."""
    return getattr(acquisition, "tau", 1e-3)
