"""Checks of numbers that people pass in."""

from typing import Any

import numpy as np

from poise.errors import InputError


def whole_number(value: Any, name: str, least: int) -> int:
    """`value` as an int of at least `least`, or an `InputError` that names it."""
    if (
        isinstance(value, bool | np.bool_)
        or not isinstance(value, int | np.integer)
        or value < least
    ):
        raise InputError(f"{name} is {value!r}: it must be a whole number, at least {least}")
    return int(value)


def decay(value: Any, name: str = "tau") -> float:
    """`value` as a finite float that is not negative, or an `InputError` that names it."""
    if (
        isinstance(value, bool | np.bool_)
        or not isinstance(value, int | float | np.integer | np.floating)
        or not 0 <= value < float("inf")
    ):
        raise InputError(f"{name} is {value!r}: it must be a finite number that is not negative")
    return float(value)
