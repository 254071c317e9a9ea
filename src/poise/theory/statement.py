"""A proposition or theorem applied to numbers: its condition and its conclusion."""

import math
from dataclasses import dataclass

from poise.errors import HypothesisError


@dataclass(frozen=True)
class Statement:
    """``if left > right (or >=) then smaller < larger (or <=)``, with all four numbers.

    Attributes
    ----------
    name : its name
    condition : in words and symbols
    left, right : both sides of the condition
    conclusion : in words and symbols
    smaller, larger : computed values of both sides of the conclusion, not bounds
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
        """Whether the conclusion is true, independently of the condition."""
        return self.smaller < self.larger

    @property
    def slack(self) -> float:
        """Logarithm of the ratio of the conclusion's sides: positive if the conclusion is true.

        Both sides are positive, and the statements bound their ratio.
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
    """Refuse a number that violates a hypothesis; the message quotes the hypothesis."""
    if not good:
        raise HypothesisError(f"{name} is {value}, but the hypothesis is {hypothesis}")


def finite(value: float) -> bool:
    """Whether a number is finite."""
    return math.isfinite(value)
