"""The state of a log when a project is opened."""

from poise.studio.log.events import Event
from poise.studio.log.settings import DEFAULTS
from poise.studio.log.state import State, apply, fold
from poise.studio.log.store import EventStore


def begin(store: EventStore) -> State:
    """The state of a log; a new project writes down how it chooses questions.

    So it goes on in the same way when a later version has another default.
    """
    log = store.events()
    state = fold(log)
    named = any(e.kind == "setting" and e.data["name"] == "acquisition" for e in log)
    if named or state.labels:
        return state
    value = DEFAULTS["acquisition"]
    (written,) = store.append(Event("setting", {"name": "acquisition", "value": value}))
    return apply(state, written, store.events)
