"""Progress callbacks and what is made of them."""

from poise.progress import no_steps, paced, shifted, without_note


def test_no_steps_accepts_every_call():
    assert no_steps("reading")(1, 2) is None


def test_without_note_drops_the_note():
    calls = []
    noted = without_note(lambda done, total: calls.append((done, total)))
    noted(1, 2, "loss 0.5")
    assert calls == [(1, 2)]
    assert without_note(None) is None


def test_shifted_counts_what_was_done_before():
    calls = []
    shifted(lambda done, total: calls.append((done, total)), 10, 50)(3, 7)
    assert calls == [(13, 50)]


def test_paced_waits_between_calls_but_never_drops_the_last(monkeypatch):
    calls = []
    monkeypatch.setattr("poise.progress.PACE_SECONDS", float("inf"))
    advance = paced(lambda done, total: calls.append((done, total)), 5)
    for done in range(1, 6):
        advance(done)
    assert calls == [(1, 5), (5, 5)]
