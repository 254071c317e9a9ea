"""What is said about how far a project is; no accuracy that was not measured."""

import pytest
from scipy.stats import binom

from poise.studio.events import Event
from poise.studio.progress import EXPECTED, interval, progress
from poise.studio.state import fold


def answers(*pairs, via="question", changed=0.0):
    """Events of questions and their answers: what the model guessed, and what was said."""
    events = [Event("class", {"name": name}) for name in "ab"]
    for number, (guess, label) in enumerate(pairs):
        item = f"{via}{number}"
        events.append(Event("ask", {"item": item, "explored": 0.5, "changed": changed}))
        data = {"items": [item], "label": label, "via": via, "guess": guess, "confidence": 0.9}
        events.append(Event("label", data))
    return fold(Event(e.kind, e.data, seq=i) for i, e in enumerate(events, start=1))


@pytest.mark.parametrize(("right", "n"), [(0, 5), (3, 7), (18, 20), (20, 20), (500, 1000)])
def test_the_interval_is_exact(right, n):
    """Just at its ends the observed number has a tail of 2.5%."""
    low, high = interval(right, n)
    if right:
        assert binom.sf(right - 1, n, low) == pytest.approx(0.025)
    else:
        assert low == 0
    if right < n:
        assert binom.cdf(right, n, high) == pytest.approx(0.025)
    else:
        assert high == 1


def test_no_accuracy_without_an_audit():
    assert progress(answers(*[("a", "a")] * 30))["audit"] is None


def test_an_audit_counts_what_was_guessed_right():
    found = progress(answers(("a", "a"), ("a", "b"), ("b", "b"), via="audit"))["audit"]
    assert (found["n"], found["right"], found["since"]) == (3, 2, 0)


def test_advice_when_the_model_expects_every_answer():
    assert "audit 20 random items" in progress(answers(*[("a", "a")] * EXPECTED))["advice"]
    assert progress(answers(*[("a", "a")] * (EXPECTED - 1)))["advice"] == ""
    assert progress(answers(("a", "b"), *[("a", "a")] * (EXPECTED - 1)))["advice"] == ""
    assert progress(answers(*[("a", "a")] * EXPECTED, changed=0.05))["advice"] == ""
