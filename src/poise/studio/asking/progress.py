"""Progress of a project: how much is explored, its audited accuracy, and whether to go on."""

from typing import Any

from poise.active.accuracy import exact_interval
from poise.active.stopping import Advice, Settled
from poise.studio.asking.predictions import Predictions
from poise.studio.log.state import State

#: Items in an audit.
AUDIT_ITEMS = 20
#: Most points of the curves that the page draws.
MAX_CURVE_POINTS = 200


def progress(state: State, newest: Predictions | None) -> dict[str, Any]:
    """What the page shows about progress; an accuracy only if an audit has measured it.

    Parameters
    ----------
    newest : the newest predictions that are ready
    """
    return {
        "explored": None if newest is None else newest.explored,
        "course": state.course[-MAX_CURVE_POINTS:],
        "advice": advised(state, None if newest is None else newest.advice),
        "audit": audited(state),
    }


def audited(state: State) -> dict[str, Any] | None:
    """The accuracy that audits have measured; None without an audit.

    Items that were skipped or set aside, or that have lost their label since, are unknown. They are
    the hard ones, so they are not left out: the interval extends from all of them predicted wrongly
    to all of them predicted correctly.
    """
    done = [e for e in state.done if e.data.get("via") == "audit" and "guess" in e.data]
    if not done:
        return None
    known = [e for e in done if e.kind == "label" and e.items[0] in state.labels]
    right = sum(e.data["guess"] == state.labels[e.items[0]].label for e in known)
    n, newest = len(done), done[-1].seq
    unknown = n - len(known)
    low, high = exact_interval(right, n)[0], exact_interval(right + unknown, n)[1]
    return {
        "n": n,
        "right": right,
        "unknown": unknown,
        "interval": (low, high),
        "since": sum(len(e.items) for e in state.done if e.kind == "label" and e.seq > newest),
    }


def advised(state: State, advice: Advice | None) -> dict[str, Any] | None:
    """Whether to go on, in words; None while there are too few answers to say."""
    if advice is None or len(state.labels) < Settled().least:
        return None
    rest = (
        f" Export, or audit {AUDIT_ITEMS} random items to measure the accuracy."
        if advice.stop
        else ""
    )
    return {"stop": advice.stop, "words": advice.sentence + rest, "reason": advice.reason}
