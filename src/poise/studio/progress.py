"""How far a project is: explored, changing, audited, and whether to go on."""

from typing import Any

from poise.active.accuracy import exact_interval
from poise.active.stopping import Advice, Settled
from poise.studio.predictions import Predictions
from poise.studio.state import State

#: Points of the curves that the page draws at most.
POINTS = 200
#: Random items that an audit is advised to ask.
AUDIT = 20


def progress(state: State, newest: Predictions | None) -> dict[str, Any]:
    """What the page says about progress; an accuracy only where an audit has measured it.

    Parameters
    ----------
    newest : the newest predictions that are there
    """
    audited = [event for event in state.done if event.data.get("via") == "audit"]
    judged = [event for event in audited if "guess" in event.data]
    right = sum(event.data["guess"] == event.data["label"] for event in judged)
    last = judged[-1].seq if judged else 0
    return {
        "explored": None if newest is None else newest.explored,
        "course": state.course[-POINTS:],
        "advice": advised(state, None if newest is None else newest.advice),
        "audit": None
        if not judged
        else {
            "n": len(judged),
            "right": right,
            "interval": exact_interval(right, len(judged)),
            "since": sum(len(e.items) for e in state.done if e.kind == "label" and e.seq > last),
        },
    }


def advised(state: State, advice: Advice | None) -> dict[str, Any] | None:
    """Whether to go on, in words; nothing while there are too few answers to say."""
    if advice is None or len(state.labels) < Settled().least:
        return None
    rest = f" Export, or audit {AUDIT} random items to know the accuracy." if advice.stop else ""
    return {"stop": advice.stop, "words": advice.sentence + rest, "reason": advice.reason}
