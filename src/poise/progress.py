"""How far a job is: the callbacks that everything slow takes as ``progress=``."""

import time
from collections.abc import Callable

#: Called now and then with how much is done and how much there is: ``progress(done, total)``.
Progress = Callable[[int, int], None]
#: The same with a note of a few words, often empty: ``progress(done, total, note)``.
NotedProgress = Callable[[int, int, str], None]
#: Begins a step of a job by its name; the result reports the progress of that step.
Begin = Callable[[str], Progress]

#: Seconds between two calls of a paced callback.
PACE_SECONDS = 0.05


def no_progress(done: int, total: int) -> None:
    """A `Progress` for callers that want none."""


def no_steps(name: str) -> Progress:
    """A `Begin` for callers that want no progress."""
    return no_progress


def without_note(progress: Progress | None) -> NotedProgress | None:
    """A `NotedProgress` that drops the note."""
    return None if progress is None else lambda done, total, note: progress(done, total)


def shifted(progress: Progress, before: int, total: int) -> Progress:
    """Progress of a part of a step: `before` was done already, of `total` in the whole step."""
    return lambda done, _: progress(before + done, total)


def paced(progress: Progress, total: int) -> Callable[[int], None]:
    """A callback for every single item that calls `progress` now and then, and for the last."""
    last = float("-inf")

    def advance(done: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= PACE_SECONDS or done == total:
            last = now
            progress(done, total)

    return advance
