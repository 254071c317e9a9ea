"""The table of acquisition functions: name -> factory of ``Snapshot -> (n,) values``."""

from collections.abc import Callable
from typing import Any

from poise.active.snapshot import Snapshot
from poise.errors import InputError
from poise.linalg.status import Floats
from poise.registry import Registry

#: Larger = ask first, NaN = not a candidate.
Acquisition = Callable[[Snapshot], Floats]
acquisitions: Registry[Acquisition] = Registry("acquisition")


def as_acquisition(acquisition: Any) -> Acquisition:
    """A name or a function, as a function."""
    if isinstance(acquisition, str):
        return acquisitions.make(acquisition)
    if callable(acquisition):
        return acquisition  # type: ignore[no-any-return]
    raise InputError(
        f"acquisition is {acquisition!r}: give a name ({', '.join(acquisitions)}) or a function "
        "of a Snapshot"
    )
