"""What is said about how far a project is; no accuracy that was not measured."""

import numpy as np

from poise.active.accuracy import exact_interval
from poise.active.stopping import Advice
from poise.studio.events import Event
from poise.studio.predictions import Predictions
from poise.studio.progress import progress
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


def predicted(advice):
    """Predictions that say nothing but whether to go on."""
    nothing = np.zeros(0)
    return Predictions((), nothing, nothing, nothing, None, advice, 0.0)


def test_no_accuracy_without_an_audit():
    assert progress(answers(*[("a", "a")] * 30), None)["audit"] is None


def test_an_audit_counts_what_was_guessed_right():
    found = progress(answers(("a", "a"), ("a", "b"), ("b", "b"), via="audit"), None)["audit"]
    assert (found["n"], found["right"], found["since"]) == (3, 2, 0)
    assert found["interval"] == exact_interval(2, 3)


def test_advice_once_there_are_answers_enough():
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
