"""What a proposition or theorem says of given numbers: its condition, and its conclusion."""

import math
from dataclasses import dataclass

from poise.errors import HypothesisError


@dataclass(frozen=True)
class Statement:
    """``if left > right (or >=) then smaller < larger (or <=)``, with all four numbers.

    Attributes
    ----------
    name : of the statement
    condition : in words and letters
    left, right : both sides of the condition
    conclusion : in words and letters
    smaller, larger : both sides of the conclusion, computed; not bounds of them
    strict : whether the condition is ``>`` rather than ``>=``
    """

    name: str
    condition: str
    left: float
    right: float
    conclusion: str
    smaller: float
    larger: float
    strict: bool = True

    @property
    def holds(self) -> bool:
        """Whether the condition holds."""
        return self.left > self.right if self.strict else self.left >= self.right

    @property
    def concluded(self) -> bool:
        """Whether what it concludes is true, whatever the condition says."""
        return self.smaller < self.larger

    @property
    def slack(self) -> float:
        """By how much the conclusion is true: the logarithm of its sides' ratio, negative if not.

        Both sides are positive; their ratio is what the statements bound.
        """
        if self.smaller <= 0:
            return math.inf
        return math.log(self.larger) - math.log(self.smaller)


@dataclass(frozen=True)
class Bound:
    """``if left >= right then the conclusion, with this bound``."""

    name: str
    condition: str
    left: float
    right: float
    conclusion: str
    bound: float

    @property
    def holds(self) -> bool:
        """Whether the condition holds."""
        return self.left >= self.right


def require(good: bool, hypothesis: str, name: str, value: object) -> None:
    """Refuse a number that breaks a hypothesis, in the words of the hypothesis."""
    if not good:
        raise HypothesisError(f"{name} is {value}, and the hypothesis is {hypothesis}")


def finite(value: float) -> bool:
    """Whether a number is one."""
    return math.isfinite(value)
