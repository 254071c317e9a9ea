"""Who may speak to the app: the person at this machine, or whoever knows the password."""

import hmac
import ipaddress
from dataclasses import dataclass, field
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: Bytes of a request at most, and of a file of labels.
LARGEST = 16_000_000
LARGEST_FILE = 256_000_000
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
#: Paths that anybody may see where a password is asked for: the page that asks for it.
FRONT_DOOR = frozenset({"/login", "/static/login.js", "/static/studio.css"})


@dataclass(frozen=True)
class Doors:
    """How one gets in.

    Attributes
    ----------
    token : what the cookie holds
    hosts : names of this server with their port
    password : asked for where the server is reached from elsewhere; empty on this machine alone
    port : of this server; where a password is asked for, numeric addresses with it are this server
    """

    token: str = field(repr=False)
    hosts: frozenset[str]
    password: str = field(default="", repr=False)
    port: int = 0

    @property
    def cookie(self) -> str:
        """By the port, which cookies do not tell apart: two projects may be open in one browser."""
        return f"poise-{self.port}"

    def is_host(self, host: str) -> bool:
        """Whether a ``Host`` header names this server.

        Elsewhere a page could reach it by a name of its own (DNS rebinding). An address in numbers
        is nobody's name, so it is safe where others may come in.
        """
        if host in self.hosts:
            return True
        name, _, port = host.rpartition(":")
        try:
            ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return False
        return bool(self.password) and port == str(self.port)

    def is_token(self, given: str) -> bool:
        """In a time that says nothing about how much of it is right."""
        return hmac.compare_digest(given.encode(), self.token.encode())

    def is_password(self, given: str) -> bool:
        """Likewise."""
        return bool(self.password) and hmac.compare_digest(given.encode(), self.password.encode())

    def let_in(self, response: Response) -> Response:
        """With the cookie that no script can read and no other site sends."""
        response.set_cookie(self.cookie, self.token, httponly=True, samesite="strict")
        return response


class Guard:
    """Refuses whoever has no business here, before anything is read."""

    def __init__(self, app: ASGIApp, doors: Doors) -> None:
        self.app, self.doors = app, doors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._refusal(Request(scope))
        await (refusal or self.app)(scope, receive, with_headers)

    def _refusal(self, request: Request) -> Response | None:
        doors, path = self.doors, request.url.path
        if not doors.is_host(request.headers.get("host", "")):
            return said(421, "this server has another name: use the address that poise printed")
        if request.method not in ("GET", "HEAD"):
            if request.headers.get("origin") != f"http://{request.headers['host']}":
                return said(403, "a page elsewhere may not write here")
            file = path == "/api/import"
            kind = "application/octet-stream" if file else "application/json"
            if request.headers.get("content-type", "").split(";")[0] != kind:
                return said(415, f"expected {kind}")
            length, most = request.headers.get("content-length", ""), LARGEST
            if file:
                most = LARGEST_FILE
            if not length.isdigit() or int(length) > most:
                return said(413, f"a request holds at most {most:,} bytes")
        given = request.query_params.get("token")
        if path == "/" and given is not None:
            if not doors.is_token(given):
                return said(403, "this address is not valid any more: start poise label again")
            return doors.let_in(RedirectResponse("/", status_code=303))
        if doors.is_token(request.cookies.get(doors.cookie, "")):
            return None
        if doors.password:
            if path in FRONT_DOOR:
                return None
            if path == "/":
                return RedirectResponse("/login", status_code=303)
        return said(403, "open the address that poise label printed")


def said(status: int, words: str, **more: Any) -> Response:
    """A refusal as one sentence."""
    return JSONResponse({"error": words} | more, status_code=status)
