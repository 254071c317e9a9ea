"""One line of a benchmark's table."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """A measured figure with its peer's and its goal.

    Attributes
    ----------
    what : what was measured, with its unit
    ours, peer : the figures; `peer` is None if there is none
    ratio : how many times better, if that makes sense
    goal : bound of the ratio, or of `ours` if there is no ratio
    at_most : whether the goal is an upper bound; otherwise it is a lower bound
    """

    what: str
    ours: float
    peer: float | None = None
    ratio: float | None = None
    goal: float | None = None
    at_most: bool = False

    @property
    def met(self) -> bool | None:
        if self.goal is None:
            return None
        if self.at_most:
            return (self.ours if self.ratio is None else self.ratio) <= self.goal
        return (self.ours if self.ratio is None else self.ratio) >= self.goal

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"met": self.met}
