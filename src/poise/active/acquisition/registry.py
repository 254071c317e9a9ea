"""The table of acquisition functions: name -> factory of ``Snapshot -> (n,) values``."""

from collections.abc import Callable
from typing import Any

from poise.active.snapshot import Snapshot
from poise.linalg.status import Floats
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
#: ``needs``, ``cost``, ``use`` (class attributes)
#:     what ``poise acquisitions`` shows beside the first line of the docstring.
Acquisition = Callable[[Snapshot], Floats]
acquisitions: Registry[Acquisition] = Registry("acquisition")


def as_acquisition(acquisition: Any) -> Acquisition:
    """A name or a function, as a function."""
    return acquisitions.resolve(acquisition, "of a Snapshot")
