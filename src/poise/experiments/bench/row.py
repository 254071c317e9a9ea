"""One line of a benchmark's table."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """A measured figure beside its peer's and its goal.

    Attributes
    ----------
    what : what was measured, with its unit
    ours, peer : the figures; `peer` is empty where there is none
    ratio : how many times better, where that makes sense
    goal : the least ratio, or the largest value of `ours` if `at_most`
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
