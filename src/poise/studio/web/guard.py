"""Who may speak to the app: the person at this machine, or whoever knows the password."""

import hmac
import ipaddress
import json
from dataclasses import dataclass, field
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from poise.studio.web.logins import Logins

#: Bytes of a request at most, of a file of labels, and of what strangers may send.
LARGEST = 16_000_000
LARGEST_FILE = 256_000_000
LARGEST_LOGIN = 1_000
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
#: What a browser shows that comes without the token, or with one of an earlier run.
CLOSED = """<!doctype html>
<html lang="en-GB">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>poise</title>
<h1>poise is running here</h1>
<p>To get in, open the whole address that <code>poise label</code> printed in its terminal. It ends
in <code>?token=…</code> and changes whenever poise is started again.</p>
</html>
"""
#: Paths that anybody may see where a password is asked for: the page that asks for it.
FRONT_DOOR = frozenset({"/login", "/static/login.js", "/static/studio.css"})


@dataclass(frozen=True)
class Doors:
    """How one gets in.

    Attributes
    ----------
    token : what the cookie of whoever opens the printed address holds
    hosts : names of this server with their port
    password : asked for where the server is reached from elsewhere; empty on this machine alone
    port : of this server; where a password is asked for, numeric addresses with it are this server
    scheme : http or https
    root : path that a proxy serves this at, such as ``/poise``; else empty
    origin : scheme and name of the proxy, such as ``https://label.example``, if it has its own
    logins : by the password
    """

    token: str = field(repr=False)
    hosts: frozenset[str]
    password: str = field(default="", repr=False)
    port: int = 0
    scheme: str = "http"
    root: str = ""
    origin: str = ""
    logins: Logins = field(default_factory=Logins, repr=False)

    @property
    def cookie(self) -> str:
        """By the port, which cookies do not tell apart: two projects may be open in one browser."""
        return f"poise-{self.port}"

    def is_host(self, host: str) -> bool:
        """Whether a ``Host`` header names this server.

        Elsewhere a page could reach it by a name of its own (DNS rebinding). An address in numbers
        is nobody's name, so it is safe where others may come in.
        """
        if host in self.hosts or self._is_proxy(host):
            return True
        name, _, port = host.rpartition(":")
        try:
            ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return False
        return bool(self.password) and port == str(self.port)

    def is_origin(self, origin: str, host: str) -> bool:
        """Whether a request that writes comes from this server's own page."""
        if self.origin and origin == self.origin:
            return True
        return not self._is_proxy(host) and origin == f"{self.scheme}://{host}"

    def _is_proxy(self, host: str) -> bool:
        return bool(self.origin) and host == self.origin.partition("://")[2]

    def is_token(self, given: str) -> bool:
        """In a time that says nothing about how much of it is right."""
        return hmac.compare_digest(_encoded(given), _encoded(self.token))

    def is_password(self, given: object) -> bool:
        """Likewise."""
        same = isinstance(given, str) and hmac.compare_digest(
            _encoded(given), _encoded(self.password)
        )
        return bool(self.password) and same

    def let_in(self, response: Response, token: str) -> Response:
        """With the cookie that no script can read and no other site sends."""
        response.set_cookie(
            self.cookie,
            token,
            path=self.root or "/",
            httponly=True,
            samesite="strict",
            secure="https" in (self.scheme, self.origin.partition(":")[0]),
        )
        return response

    def is_known(self, request: Request) -> bool:
        """Whether somebody has come in before."""
        given = request.cookies.get(self.cookie, "")
        return self.is_token(given) or self.logins.is_one(given)


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

        # A proxy may pass the path on with its own part or without.
        root, path = self.doors.root, scope["path"]
        if root and path != root and not path.startswith(f"{root}/"):
            path = root + path
        scope = dict(scope) | {"root_path": root, "path": path}
        refused = self._refused(Request(scope), path.removeprefix(root))
        await (refused or self.app)(scope, receive, with_headers)

    def _refused(self, request: Request, path: str) -> Response | None:
        doors = self.doors
        if not doors.is_host(request.headers.get("host", "")):
            return refusal(421, "this server has another name: use the address that poise printed")
        if request.method not in ("GET", "HEAD"):
            refused = self._refused_write(request, path)
            if refused is not None:
                return refused
        if not path:
            return RedirectResponse(f"{doors.root}/", status_code=303)
        given = request.query_params.get("token")
        if path == "/" and given is not None:
            if not doors.is_token(given):
                return HTMLResponse(CLOSED, status_code=403)
            return doors.let_in(RedirectResponse(f"{doors.root}/", status_code=303), doors.token)
        if doors.is_known(request):
            return None
        if doors.password:
            if path in FRONT_DOOR:
                return None
            if path == "/":
                return RedirectResponse(f"{doors.root}/login", status_code=303)
        if path == "/":
            return HTMLResponse(CLOSED, status_code=403)
        return refusal(403, "open the address that poise label printed")

    def _refused_write(self, request: Request, path: str) -> Response | None:
        headers = request.headers
        if not self.doors.is_origin(headers.get("origin", ""), headers["host"]):
            return refusal(403, "a page elsewhere may not write here")
        file = path == "/api/import"
        kind = "application/octet-stream" if file else "application/json"
        if headers.get("content-type", "").split(";")[0] != kind:
            return refusal(415, f"expected {kind}")
        most = LARGEST_FILE if file else LARGEST_LOGIN if path == "/login" else LARGEST
        length = headers.get("content-length", "")
        known = length.isascii() and length.isdigit() and "transfer-encoding" not in headers
        if not known or int(length[:20]) > most:
            return refusal(413, f"a request must say how long it is, at most {most:,} bytes")
        return None


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


class Answer(JSONResponse):
    """JSON in ASCII: a lone surrogate that somebody sent cannot be encoded otherwise."""

    def render(self, content: Any) -> bytes:
        """As bytes."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


def refusal(status: int, words: str, **more: Any) -> Response:
    """An error status with one sentence that says why."""
    return Answer({"error": words} | more, status_code=status)
