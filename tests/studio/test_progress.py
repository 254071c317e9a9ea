"""Progress of a project; no accuracy without a measurement."""

import numpy as np

from poise.active.accuracy import exact_interval
from poise.active.stopping import Advice
from poise.studio.asking.predictions import Predictions
from poise.studio.asking.progress import progress
from poise.studio.log.events import Event
from poise.studio.log.state import fold


def answers(*pairs, via="question", changed=0.0):
    """Events of questions and their answers: what the model guessed, and what was said."""
    events = [Event("class", {"name": name}) for name in "ab"]
    for number, (guess, label) in enumerate(pairs):
        item = f"{via}{number}"
        events.append(Event("ask", {"item": item, "explored": 0.5, "changed": changed}))
        data = {"items": [item], "label": label, "via": via, "guess": guess, "confidence": 0.9}
        events.append(Event("label", data))
    return numbered(events)


def numbered(events):
    """The state after events."""
    return fold(Event(e.kind, e.data, seq=i) for i, e in enumerate(events, start=1))


def predicted(advice):
    """Predictions that say nothing but whether to go on."""
    nothing = np.zeros(0)
    return Predictions((), nothing, nothing, nothing, None, advice, 0.0)


def test_no_accuracy_without_an_audit():
    assert progress(answers(*[("a", "a")] * 30), None)["audit"] is None


def test_an_audit_counts_correct_predictions():
    found = progress(answers(("a", "a"), ("a", "b"), ("b", "b"), via="audit"), None)["audit"]
    assert (found["n"], found["right"], found["since"]) == (3, 2, 0)
    assert found["interval"] == exact_interval(2, 3)


def test_advice_once_there_are_enough_answers():
    go_on, stop = Advice(False, "Keep labelling.", "why"), Advice(True, "You can stop.", "why")
    many, few = answers(*[("a", "a")] * 80), answers(*[("a", "a")] * 79)
    assert progress(many, None)["advice"] is None
    assert progress(few, predicted(stop))["advice"] is None
    assert progress(many, predicted(go_on))["advice"] == {
        "stop": False,
        "words": "Keep labelling.",
        "reason": "why",
    }
    found = progress(many, predicted(stop))["advice"]
    assert found["words"].startswith("You can stop. Export, or audit 20 random items")


def test_skipped_audit_items_widen_the_interval():
    """Two right, one wrong, one skipped and one set aside: from 2 of 5 to 4 of 5."""
    events = [Event("class", {"name": name}) for name in "ab"]
    for number, (guess, label) in enumerate([("a", "a"), ("b", "b"), ("a", "b")]):
        data = {"items": [f"item{number}"], "label": label, "via": "audit", "guess": guess}
        events.append(Event("label", data))
    for number, kind in enumerate(("skip", "unsure")):
        events.append(Event(kind, {"items": [f"hard{number}"], "via": "audit", "guess": "a"}))
    found = progress(numbered(events), None)["audit"]
    assert (found["n"], found["right"], found["unknown"]) == (5, 2, 2)
    assert found["interval"] == (exact_interval(2, 5)[0], exact_interval(4, 5)[1])


def test_corrected_or_cleared_audit_labels_count_as_they_are_now():
    events = [Event("class", {"name": name}) for name in "ab"]
    for number in range(3):
        data = {"items": [f"item{number}"], "label": "a", "via": "audit", "guess": "b"}
        events.append(Event("label", data))
    events.append(Event("label", {"items": ["item0"], "label": "b", "via": "review"}))
    events.append(Event("clear", {"items": ["item1"]}))
    found = progress(numbered(events), None)["audit"]
    assert (found["n"], found["right"], found["unknown"]) == (3, 1, 1)
