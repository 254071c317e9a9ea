"""Graphs too large for one process: neighbour search on Dask, solves on PETSc.

Reading a partitioned graph needs NumPy only: Dask and PETSc are imported where they are used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from poise.distributed.build import neighbour_graph

__all__ = ["neighbour_graph"]

_MODULES = {"neighbour_graph": "build"}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
