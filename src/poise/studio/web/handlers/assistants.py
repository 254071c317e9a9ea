"""Programs that answer questions: `poise assist` talks to these addresses."""

from typing import Any

from poise.errors import InputError
from poise.studio import assisting
from poise.studio.asking.assistants import standings
from poise.studio.web.site import Call, on_project, whole_number


@on_project
def listed(call: Call) -> Any:
    return {"assistants": [each.as_json() for each in standings(call.project.state)]}


@on_project
def introduce(call: Call) -> Any:
    name, audit = _text(call, "name"), call.data.get("audit")
    if type(audit) is not int:
        raise InputError(f"audit is {audit!r}: expected a number of answers")
    assisting.introduce(call.project, name, audit)
    return assisting.questions(call.project, name, 0)


@on_project
def questions(call: Call) -> Any:
    limit = whole_number(call.query.get("limit", str(assisting.MAX_QUESTIONS)))
    if limit is None:
        raise InputError("limit must be a whole number")
    return assisting.questions(call.project, call.query.get("name", ""), limit)


@on_project
def take(call: Call) -> Any:
    label = None if call.data.get("class") is None else _text(call, "class")
    recorded = assisting.take(
        call.project,
        _text(call, "name"),
        _text(call, "id"),
        label,
        call.data.get("confidence"),
        may_name=call.data.get("new_classes") is True,
    )
    return {"recorded": recorded, "classes": list(call.project.state.classes)}


def _text(call: Call, name: str) -> str:
    value = call.data.get(name)
    if not isinstance(value, str) or not value:
        raise InputError(f"{name} is missing: expected a text")
    return value
