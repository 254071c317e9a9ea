"""Checks of numbers that users pass in."""

from collections.abc import Callable
from typing import Any

import numpy as np

from poise.errors import InputError


def shown(value: Any) -> str:
    """`value` as error messages show it. Python does not write numbers of thousands of digits."""
    try:
        return repr(value)
    except ValueError:
        return f"a {type(value).__name__} too long to write"


def whole_number(value: Any, name: str, least: int) -> int:
    """`value` as an int of at least `least`, or an `InputError` that names it."""
    if (
        isinstance(value, bool | np.bool_)
        or not isinstance(value, int | np.integer)
        or value < least
    ):
        raise InputError(f"{name} is {shown(value)}: it must be a whole number, at least {least}")
    return int(value)


def real_number(value: Any, name: str, accepts: Callable[[float], bool], expected: str) -> float:
    """`value` as a float that passes `accepts`, or an `InputError` with what was `expected`."""
    if (
        isinstance(value, bool | np.bool_)
        or not isinstance(value, int | float | np.integer | np.floating)
        or not accepts(_as_float(value))
    ):
        raise InputError(f"{name} is {shown(value)}: {expected}")
    return float(value)


def _as_float(value: Any) -> float:
    """A number as a float; infinite if it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def decay(value: Any, name: str = "tau") -> float:
    """`value` as a finite float that is not negative, or an `InputError` that names it."""
    return real_number(
        value,
        name,
        lambda number: 0 <= number < float("inf"),
        "it must be a finite number that is not negative",
    )
