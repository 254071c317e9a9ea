"""How a graph was made, so that new points can be joined to it in the same way."""

from dataclasses import dataclass, field
from math import inf

from poise.errors import GraphError
from poise.graph.kernel import Kernel, Symmetrise


@dataclass(frozen=True)
class Construction:
    """The choices that made a graph.

    Parameters
    ----------
    metric, kernel, symmetrise, backend : str
        Names, as they are shown and saved.
    k : int, optional
        Number of neighbours of each point; None for an epsilon graph.
    radius : float, optional
        Radius of an epsilon graph.
    function : Kernel, optional
        The kernel itself. None if it was a caller's own function and the graph was loaded from a
        file, which holds no code.
    """

    metric: str
    kernel: str
    symmetrise: Symmetrise
    backend: str
    k: int | None = None
    radius: float | None = None
    function: Kernel | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        by_k = self.radius is None and isinstance(self.k, int) and self.k >= 1
        by_radius = self.k is None and isinstance(self.radius, float) and 0 < self.radius < inf
        if not (by_k or by_radius):
            raise GraphError(
                f"a construction with k={self.k!r} and radius={self.radius!r}: give either a whole "
                "number k >= 1 or a positive radius"
            )

    def __str__(self) -> str:
        size = f"k={self.k}" if self.k is not None else f"radius={self.radius:g}"
        return f"{size}, {self.metric}, {self.kernel}"

    def kernel_function(self) -> Kernel:
        """The kernel, or an error that says why a graph from a file may have none."""
        if self.function is None:
            raise GraphError(
                f"the kernel {self.kernel!r} was a function and a file holds no code: build the "
                "graph again, or register the kernel under a name before saving"
            )
        return self.function
