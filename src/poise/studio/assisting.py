"""What a program that answers questions is asked, and what becomes of its answers."""

from collections.abc import Sequence
from typing import Any, Protocol

from poise.errors import InputError
from poise.studio.asking.assistants import is_open, items_to_answer, standing
from poise.studio.asking.progress import AUDIT_ITEMS
from poise.studio.exchange import new_classes
from poise.studio.log.events import Event, check_name
from poise.studio.log.state import State
from poise.studio.project import Project
from poise.studio.source.catalogue import Catalogue

#: Most questions that are handed out at once.
MAX_QUESTIONS = 64


class Answerable(Protocol):
    """A project whose questions a program may answer."""

    @property
    def catalogue(self) -> Catalogue: ...
    @property
    def state(self) -> State: ...
    def record_all(self, events: Sequence[Event]) -> None: ...


def introduce(project: Answerable, name: str, audit: int) -> None:
    """Note who answers, and how many of its answers people judge before the others count."""
    if audit < 1:
        raise InputError(f"audit is {audit}: expected a number of answers, 1 or more")
    if project.state.assistants.audits.get(check_name(name)) != audit:
        project.record_all([Event("assistant", {"name": name, "audit": audit})])


def questions(project: Answerable, name: str, limit: int = MAX_QUESTIONS) -> dict[str, Any]:
    """The next items for an assistant, the classes, and where it stands."""
    state, catalogue = project.state, project.catalogue
    _check_known(state, name)
    items = items_to_answer(state, name, catalogue.ids)
    chosen = items[: min(limit, MAX_QUESTIONS)]
    return {
        "kind": catalogue.kind,
        "questions": [
            {"id": item, "source": catalogue.sources[catalogue.nodes[item]]} for item in chosen
        ],
        "left": len(items),
        "classes": list(state.classes),
        "standing": standing(state, name).as_json(),
    }


def take(
    project: Answerable,
    name: str,
    item: str,
    label: str | None,
    confidence: float | None = None,
    *,
    may_name: bool = False,
) -> bool:
    """Record an answer; `label` is None if the assistant does not know.

    An answer to a question that is no longer open is left out: a person's label wins, and an item
    is answered once. What was sent twice counts once, also after a crash.

    Parameters
    ----------
    may_name : whether the answer may make a class

    Returns
    -------
    whether it was recorded
    """
    state = project.state
    _check_known(state, name)
    if item not in project.catalogue.nodes:
        raise InputError(f"there is no item {item[:60]!r}: the source may have changed")
    if not is_open(state, item) or state.assistants.has_answer(item, name):
        return False
    data: dict[str, Any] = {"item": item, "by": name}
    if label is not None:
        data["label"] = label
    if confidence is not None:
        data["confidence"] = confidence
    made = new_classes(state, [label]) if may_name and label is not None else []
    project.record_all([*made, Event("assist", data)])
    return True


def judge(project: Project, annotator: str, name: str) -> str:
    """Ask a person about random items that an assistant answered; the first is returned."""
    _check_known(project.state, name)
    now = standing(project.state, name)
    left = now.audit - now.judged
    return project.audit(annotator, left if left > 0 else AUDIT_ITEMS, of=name)


def _check_known(state: State, name: str) -> None:
    if name not in state.assistants.audits:
        raise InputError(f"there is no assistant {name[:60]!r}: introduce it first")
