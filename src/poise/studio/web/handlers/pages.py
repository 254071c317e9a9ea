"""The page's own files, logging in and out, and the description of the interface."""

import math
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response

from poise.studio.web.guard import Answer, refusal
from poise.studio.web.site import Site, json_object

MEDIA_TYPES = {"css": "text/css", "js": "text/javascript", "html": "text/html"}
FILES = {file.name: file for file in files("poise.studio").joinpath("static").iterdir()}


async def start_page(site: Site, request: Request) -> Response:
    return _file("index.html")


async def login_page(site: Site, request: Request) -> Response:
    return _file("login.html")


async def static(site: Site, request: Request) -> Response:
    return _file(request.path_params["name"])


async def login(site: Site, request: Request) -> Response:
    doors = site.doors
    sent = await json_object(await request.body())
    address = "" if request.client is None else request.client.host
    seconds = math.ceil(doors.logins.wait(address))
    if seconds:
        return refusal(429, f"too many wrong passwords: wait {seconds} s, then try again")
    if not doors.is_password(sent.get("password")):
        doors.logins.wrong(address)
        return refusal(403, "this is not the password")
    return doors.let_in(Answer({"ok": True}), doors.logins.begin())


async def logout(site: Site, request: Request) -> Response:
    doors = site.doors
    doors.logins.end(request.cookies.get(doors.cookie, ""))
    response = Answer({"ok": True})
    response.delete_cookie(doors.cookie, path=doors.root or "/")
    return response


async def health(site: Site, request: Request) -> Response:
    return Answer({"ok": True})


async def description(site: Site, request: Request) -> Response:
    return Answer(site.description)


def _file(name: str) -> Response:
    """A file of the page, by its exact name."""
    media_type = MEDIA_TYPES.get(name.rpartition(".")[2])
    file = FILES.get(name)
    if file is None or media_type is None:
        return refusal(404, "there is no such file")
    return Response(file.read_bytes(), media_type=media_type)
