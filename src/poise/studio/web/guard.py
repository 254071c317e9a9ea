"""Access to the app: for the person at this machine, or for whoever knows the password."""

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

#: Largest request, largest file of labels, and largest request to log in.
MAX_REQUEST_BYTES = 16_000_000
MAX_FILE_BYTES = 256_000_000
MAX_LOGIN_BYTES = 1_000
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
#: Shown to a browser without the token, or with that of an earlier run.
CLOSED = """<!doctype html>
<html lang="en-GB">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>poise</title>
<h1>poise is running here</h1>
<p>To use it, open the whole address that <code>poise label</code> printed in its terminal. It ends
in <code>?token=…</code> and changes each time poise is started.</p>
</html>
"""
#: Where there is a password, paths that need none: the login page.
FRONT_DOOR = frozenset({"/login", "/static/login.js", "/static/studio.css"})
#: Open to everybody: it says only that the app is running.
HEALTH = "/api/health"


@dataclass(frozen=True)
class Doors:
    """The ways into the app.

    Attributes
    ----------
    token : in the printed address, then in the cookie of the browser that opened it
    hosts : names of this server with their port
    password : for a server that others can reach; empty if it serves this machine alone
    port : of this server. With a password, any numeric address with this port is this server
    scheme : http or https
    root : path at which a proxy serves the app, such as ``/poise``; else empty
    origin : scheme and name of the proxy, such as ``https://label.example``, if it has its own
    logins : of people who gave the password
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
        """With the port, which cookies ignore: one browser may have two projects open."""
        return f"poise-{self.port}"

    def is_host(self, host: str) -> bool:
        """Whether a ``Host`` header names this server.

        Otherwise a foreign page could reach it by a name of its own (DNS rebinding). A numeric
        address is no such name, so it is allowed where there is a password.
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
        """Whether a write comes from this server's own page."""
        if self.origin and origin == self.origin:
            return True
        return not self._is_proxy(host) and origin == f"{self.scheme}://{host}"

    def _is_proxy(self, host: str) -> bool:
        return bool(self.origin) and host == self.origin.partition("://")[2]

    def is_token(self, candidate: str) -> bool:
        """Whether this is the token, in constant time."""
        return hmac.compare_digest(_encoded(candidate), _encoded(self.token))

    def is_password(self, candidate: object) -> bool:
        """Whether this is the password, in constant time."""
        same = isinstance(candidate, str) and hmac.compare_digest(
            _encoded(candidate), _encoded(self.password)
        )
        return bool(self.password) and same

    def let_in(self, response: Response, token: str) -> Response:
        """Add the cookie, which no script can read and no other site can send."""
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
        """Whether the sender has a valid cookie."""
        cookie = request.cookies.get(self.cookie, "")
        return self.is_token(cookie) or self.logins.is_valid(cookie)


class Guard:
    """Refuses unauthorised requests before their bodies are read."""

    def __init__(self, app: ASGIApp, doors: Doors) -> None:
        self.app, self.doors = app, doors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        # A proxy may pass the path on with or without its own part.
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
        token = request.query_params.get("token")
        if path == "/" and token is not None:
            if not doors.is_token(token):
                return HTMLResponse(CLOSED, status_code=403)
            return doors.let_in(RedirectResponse(f"{doors.root}/", status_code=303), doors.token)
        if path == HEALTH or doors.is_known(request):
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
            return refusal(403, "pages of other sites may not write here")
        file = path == "/api/import"
        kind = "application/octet-stream" if file else "application/json"
        if headers.get("content-type", "").split(";")[0] != kind:
            return refusal(415, f"expected {kind}")
        limit = MAX_FILE_BYTES if file else MAX_REQUEST_BYTES
        limit = MAX_LOGIN_BYTES if path == "/login" else limit
        length = headers.get("content-length", "")
        known = length.isascii() and length.isdigit() and "transfer-encoding" not in headers
        if not known or int(length[:20]) > limit:
            return refusal(413, f"a request must state its length, at most {limit:,} bytes")
        return None


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


class Answer(JSONResponse):
    """JSON in ASCII, since a lone surrogate in a request could not be encoded in UTF-8."""

    def render(self, content: Any) -> bytes:
        """As bytes."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


def refusal(status: int, words: str, **more: Any) -> Response:
    """An error status with one sentence that says why."""
    return Answer({"error": words} | more, status_code=status)
