"""Questions, answers, and how questions are chosen."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

import poise
from poise.errors import InputError, PoiseError
from poise.studio.assisting import judge
from poise.studio.log.events import BY_PERSON, UNDOABLE, Event, check_client
from poise.studio.log.naming import alike
from poise.studio.log.settings import WAYS, check_new_setting
from poise.studio.project import Project
from poise.studio.web import views
from poise.studio.web.guard import Answer
from poise.studio.web.site import REQUEST_WAIT_SECONDS, Call, Site, answer, on_project

#: Kinds of events that a page may send; the server itself asks the questions.
ACCEPTED = UNDOABLE | {"class", "undo", "setting"}


async def state(site: Site, request: Request) -> Response:
    project = site.opening.project
    if project is None:
        return Answer(site.preparing)
    if site.names and "annotator" not in request.query_params:
        return Answer(site.basics)  # the page asks for the name first
    return await answer(Call(site, project, request.query_params).summary)


async def prepare(site: Site, request: Request) -> Response:
    site.opening.start_again()
    return Answer(site.preparing)


@on_project
def question(call: Call) -> Any:
    call.project.wait(call.annotator, REQUEST_WAIT_SECONDS)
    _wait_for_prediction(call.project, call.annotator)
    return call.summary()


@on_project
def ahead(call: Call) -> Any:
    return views.ahead(call.project, call.annotator, REQUEST_WAIT_SECONDS)


@on_project
def record(call: Call) -> Any:
    event, versions = _event(call)
    if event.kind not in ACCEPTED:
        raise InputError(f"a page may not send {event.kind!r}")
    if event.kind == "label" and (
        event.data.get("via", "question") not in BY_PERSON or {"by", "at"} & set(event.data)
    ):
        raise InputError(f"via is {event.data.get('via')!r}: that is for files, see import")
    if event.data.get("via") == "audit" and "of" not in event.data:
        _wait_for_prediction(call.project, event.annotator)
        _add_prediction(call.project, event)
    if event.kind == "setting":
        check_new_setting(event.data["name"], event.data["value"])
    written = call.project.record(event, versions)
    more: dict[str, Any] = {"seq": written.seq}
    if event.kind == "class":
        more["alike"] = alike(event.data["name"], call.project.state.classes)
    return call.summary(**more)


@on_project
def undo(call: Call) -> Any:
    undone = call.project.undo(call.annotator, check_client(call.data.get("client")))
    shown = None if undone is None else {"kind": undone.kind, "data": undone.data}
    return call.summary(undone=shown)


@on_project
def look(call: Call) -> Any:
    annotator, item = call.annotator, call.data.get("item")
    if item is None:
        call.project.leave(annotator, REQUEST_WAIT_SECONDS)
    else:
        call.project.look_at(str(item), annotator)
    return call.summary()


@on_project
def audit(call: Call) -> Any:
    annotator, of = call.annotator, call.data.get("of")
    if of is None:
        call.project.audit(annotator)
    else:
        judge(call.project, annotator, str(of))
    call.project.wait(annotator, REQUEST_WAIT_SECONDS)
    _wait_for_prediction(call.project, annotator)
    return call.summary()


@on_project
def choices(call: Call) -> Any:
    ways = [
        {"name": name, "acquisition": acquisition, "words": words}
        for name, (acquisition, words) in WAYS.items()
    ]
    return {"ways": ways, "acquisitions": poise.acquisitions()}


def _event(call: Call) -> tuple[Event, dict[str, int]]:
    """The event that a page sends, and the versions of its items that the page knew."""
    sent, annotator = call.data, call.annotator
    try:
        data = _without_nulls(sent["data"])
        event = Event(sent["kind"], data, annotator, sent["client"])
        versions = {str(item): int(seen) for item, seen in sent.get("versions", {}).items()}
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        if isinstance(error, PoiseError):
            raise
        raise InputError("expected an object with kind, data and client") from None
    return event, versions


def _without_nulls(data: dict[str, Any]) -> dict[str, Any]:
    """Without a guess or a confidence of null, which a question may have."""
    return {k: v for k, v in data.items() if v is not None or k not in ("guess", "confidence")}


def _wait_for_prediction(project: Project, annotator: str) -> None:
    """Wait until an audit has a prediction to judge; that of some answers ago will do."""
    held = project.state.open.get(annotator)
    if held is not None and held.purpose == "audit" and project.newest is None:
        project.predictions().result(REQUEST_WAIT_SECONDS)


def _add_prediction(project: Project, event: Event) -> None:
    """Add the prediction that an audit's answer judges, if the page did not know it yet."""
    node = project.nodes.get(event.items[0])
    if node is not None and "guess" not in event.data:
        guess, confidence = views.judged(project, node)
        event.data.update(_without_nulls({"guess": guess, "confidence": confidence}))
