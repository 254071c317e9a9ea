"""How far a project is: explored, changing, audited, and whether to go on."""

from typing import Any

from scipy.stats import beta

from poise.studio.events import Event
from poise.studio.state import State

#: Answers in a row that the model expected, after which more of them will change little.
EXPECTED = 10
#: Share of items whose class may have changed over those answers, on average.
STILL = 0.002
#: Points of the curves that the page draws at most.
POINTS = 200
#: Random items that an audit is advised to ask.
AUDIT = 20


def progress(state: State) -> dict[str, Any]:
    """What the page says about progress; an accuracy only where an audit has measured it."""
    audited = [event for event in state.done if event.data.get("via") == "audit"]
    judged = [event for event in audited if "guess" in event.data]
    right = sum(event.data["guess"] == event.data["label"] for event in judged)
    newest = judged[-1].seq if judged else 0
    return {
        "explored": state.course[-1][1] if state.course else None,
        "course": state.course[-POINTS:],
        "advice": advice(state),
        "audit": None
        if not judged
        else {
            "n": len(judged),
            "right": right,
            "interval": interval(right, len(judged)),
            "since": sum(len(e.items) for e in state.done if e.kind == "label" and e.seq > newest),
        },
    }


def interval(right: int, n: int) -> tuple[float, float]:
    """The exact 95% interval of a share (Clopper and Pearson 1934)."""
    low = float(beta.ppf(0.025, right, n - right + 1)) if right else 0.0
    high = float(beta.ppf(0.975, right + 1, n - right)) if right < n else 1.0
    return low, high


def advice(state: State) -> str:
    """A sentence when further labels change little, else nothing."""
    answers = [e for e in state.done if e.kind == "label" and e.data.get("via") == "question"]
    last = answers[-EXPECTED:]
    if len(last) < EXPECTED or not all(_expected(event) for event in last):
        return ""
    changes = [changed for _, _, changed in state.course[-EXPECTED:]]
    if sum(changes) > STILL * len(changes):
        return ""
    return (
        f"The last {EXPECTED} answers were what the model expected: more labels will change "
        f"little. Export, or audit {AUDIT} random items to know the accuracy."
    )


def _expected(event: Event) -> bool:
    return bool(event.data.get("guess") == event.data["label"])
