"""The map: points of all items, and what is known about each."""

from typing import Any

from starlette.responses import Response

from poise.errors import InputError
from poise.studio.project import Project
from poise.studio.web import views
from poise.studio.web.site import (
    REQUEST_WAIT_SECONDS,
    Call,
    on_project,
    preparing,
    whole_number,
)

BYTES = "application/octet-stream"


@on_project
def layouts(call: Call) -> Any:
    shown = [
        {"name": name, "title": title, "ready": call.project.results.has_layout(name)}
        for name, title in views.LAYOUTS.items()
    ]
    return {"n": len(call.project.catalogue), "layouts": shown}


@on_project
def points(call: Call) -> Any:
    name = call.query.get("layout", "pca")
    if name not in views.LAYOUTS:
        raise InputError(f"layout is {name!r}: expected {' or '.join(views.LAYOUTS)}")
    future = call.project.results.layout(name)
    if name != "pca" and not future.done():
        return preparing()
    plane = future.result(REQUEST_WAIT_SECONDS)
    return Response(plane.astype("<f4").tobytes(), media_type=BYTES)


@on_project
def values(call: Call) -> Any:
    content = views.map_values(call.project)
    return preparing() if content is None else Response(content, media_type=BYTES)


@on_project
def labels(call: Call) -> Any:
    return views.map_labels(call.project)


@on_project
def item(call: Call) -> Any:
    return views.map_item(call.project, _node(call.project, call.query.get("node")))


@on_project
def items(call: Call) -> Any:
    nodes = call.data.get("nodes")
    if not isinstance(nodes, list):
        raise InputError("expected an object with nodes")
    ids = call.project.catalogue.ids
    return {"items": [ids[_node(call.project, node)] for node in nodes]}


def _node(project: Project, value: object) -> int:
    """A node of the project, from a number or the digits of one."""
    node = value if type(value) is int else whole_number(value) if isinstance(value, str) else None
    if node is None or not 0 <= node < len(project.catalogue):
        raise InputError(f"node is {str(value)[:20]!r}: expected 0 to {len(project.catalogue) - 1}")
    return node
