"""A step of opening a project, as the page shows it."""

import time
from dataclasses import dataclass
from typing import Any


@dataclass
class Step:
    """One step of opening a project.

    Attributes
    ----------
    began, ended : times of a monotonic clock
    done, total : how far it is
    before : what was done at the first report: known already, so it took no time
    expected : seconds that an estimate gives it, if there is one
    """

    name: str
    began: float
    done: int = 0
    total: int = 0
    ended: float | None = None
    before: int | None = None
    expected: float | None = None

    def shown(self) -> dict[str, Any]:
        """Share done and seconds left, as far as that is known."""
        share = 1.0 if self.ended else self.done / self.total if self.total else None
        left = None
        new = self.done - (self.before or 0)
        if share and new and not self.ended and share < 1:
            left = (time.monotonic() - self.began) * (self.total - self.done) / new
        elif self.expected is not None and not self.ended:
            left = max(self.expected - (time.monotonic() - self.began), 1.0)
        return {"name": self.name, "share": share, "left": left}
