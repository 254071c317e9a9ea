"""The table of all items."""

from concurrent.futures import wait
from typing import Any

from poise.studio.web.review import Wanted, review
from poise.studio.web.site import Call, on_project, preparing

#: Seconds that the table waits for predictions by the newest labels, or for the words of all items.
TABLE_WAIT_SECONDS = 2.0


@on_project
def table(call: Call) -> Any:
    project, wanted = call.project, Wanted.of(call.query)
    predicting, judging, words = project.predictions(), project.suspicion(), project.results.words()
    needs_suspicion = wanted.sort == "suspicion" or wanted.show == "suspicious"
    # A search, by words or by likeness, waits for no prediction.
    searching = bool(wanted.text or wanted.like)
    if wanted.text:
        wait([words], TABLE_WAIT_SECONDS)
        if not words.done():
            return preparing(words="The texts are being read for the search.")
    elif not wanted.like:
        wait([predicting], TABLE_WAIT_SECONDS)
    predictions = predicting.result() if predicting.done() else project.newest
    missing = predictions is None and not predicting.done() and not searching
    if missing or (needs_suspicion and not judging.done()):
        return preparing()
    suspicion = judging.result() if judging.done() else None
    return review(project, wanted, predictions, suspicion) | {"fresh": predicting.done()}
