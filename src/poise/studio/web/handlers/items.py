"""The content of items, and what else is known about them."""

from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from poise.studio.source.catalogue import GoneError
from poise.studio.web import views
from poise.studio.web.guard import refusal
from poise.studio.web.site import REQUEST_WAIT_SECONDS, Call, Site, on_project, whole_number

#: Sides of a picture that may be asked for; the largest is for looking closely.
SMALLEST_SIDE_PIXELS, LARGEST_SIDE_PIXELS = 16, 16_384


async def content(site: Site, request: Request) -> Response:
    catalogue = site.opening.catalogue
    if catalogue is None:
        return refusal(503, "the items are being read")
    node = catalogue.nodes.get(request.path_params["id"])
    if node is None:
        return refusal(404, "there is no such item")
    size = request.query_params.get("size", "1200")
    side = whole_number(size)
    if side is None or not SMALLEST_SIDE_PIXELS <= side <= LARGEST_SIDE_PIXELS:
        limits = f"{SMALLEST_SIDE_PIXELS} to {LARGEST_SIDE_PIXELS}"
        return refusal(422, f"size is {size[:20]!r}: expected {limits} pixels")
    # With --key, or with another project at this port later, an id can stand for other content, so
    # the browser asks whether what it has kept is still current.
    headers = {"Cache-Control": "private, no-cache", "ETag": catalogue.tag(node, side)}
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    try:
        media_type, body = await run_in_threadpool(catalogue.content, node, side)
    except GoneError as error:
        return refusal(410, str(error))
    return Response(body, media_type=media_type, headers=headers)


async def glimpse(site: Site, request: Request) -> Response:
    number = whole_number(request.path_params["number"])
    if number is None or number >= len(site.opening.glimpses):
        return refusal(404, "there is no such picture")
    media_type, body = site.opening.glimpses[number]
    return Response(body, media_type=media_type)


@on_project
def about(call: Call) -> Any:
    return views.about(call.project, call.query.get("item", ""), REQUEST_WAIT_SECONDS)


@on_project
def left_out(call: Call) -> Any:
    return views.left_out(call.project)


@on_project
def history(call: Call) -> Any:
    return views.history(call.project, call.annotator)
