"""Settings of how questions are chosen: names, defaults and checks."""

import math
from typing import Any

from poise.active.acquisition.registry import acquisitions
from poise.errors import InputError

#: Name -> default value.
DEFAULTS: dict[str, Any] = {
    # Which items are worth asking about. A new project writes it to its log, see `EARLIER`.
    "acquisition": "auto",
    # Decay of the model that chooses questions; None for the acquisition's own.
    "tau": None,
    # Items that may be asked about; None for all.
    "only": None,
    # How many people are asked about every item.
    "overlap": 1,
}
#: What the page offers in words: name -> acquisition and a description. Of the ways that only
#: explore, `maxherding` is level with the best, does well on texts too, and needs no solve; of
#: those that only refine, `margin` predicts best (docs/label-efficiency.md).
WAYS: dict[str, tuple[str, str]] = {
    "Recommended": (
        "auto",
        "Asks where an answer settles most: explores first, then decides close cases.",
    ),
    "Explore": (
        "maxherding",
        "Covers the data evenly, whatever the answers: to see every kind of item.",
    ),
    "Refine": (
        "margin",
        "Asks where two classes are close: once every class has some labels.",
    ),
}
#: The acquisition of a log that names none: such a project is older than the present default, and
#: keeps the one that it began with.
EARLIER = "norm"


#: Upper limit of the decay. Well below it, labels already influence no other item; far above it the
#: solver fails, and there are no questions any more.
LARGEST_TAU = 1e6


def check_setting(name: str, value: Any) -> None:
    """Refuse a value that the model cannot use."""
    match name:
        case "acquisition":
            if not isinstance(value, str) or value not in acquisitions:
                known = ", ".join(sorted(acquisitions))
                raise InputError(f"there is no acquisition {value!r}: expected one of {known}")
        case "tau":
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if value is not None and not (number and 0 <= value < math.inf):
                raise InputError(f"tau is {value!r}: expected a number, 0 or more, or nothing")
        case "only":
            texts = isinstance(value, list) and all(isinstance(item, str) for item in value)
            if value is not None and not (texts and value):
                raise InputError("only must be a list of items' ids, or nothing")
        case "overlap":
            if type(value) is not int or not 1 <= value <= 100:
                raise InputError(f"overlap is {value!r}: expected a whole number from 1 to 100")
        case _:
            raise InputError(f"there is no setting {name!r}: expected {', '.join(DEFAULTS)}")


def check_new_setting(name: str, value: Any) -> None:
    """The same, and refuse what only old logs may hold."""
    check_setting(name, value)
    if name == "tau" and value is not None and value > LARGEST_TAU:
        raise InputError(f"tau is too large: expected a number from 0 to {LARGEST_TAU:,.0f}")
