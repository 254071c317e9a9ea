"""A small HTTP client for Label Studio: time-outs, retries, tokens that reach one server only."""

import base64
import http.client
import json
import math
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import SplitResult, quote, urlencode, urljoin, urlsplit

from poise.errors import DataError, InputError

TIMEOUT_SECONDS = 30.0
#: Longest time for a whole answer, however slowly it arrives.
ANSWER_SECONDS = 300.0
MOST_ANSWER_BYTES = 64 << 20
CHUNK_BYTES = 1 << 16
ATTEMPTS = 5
#: Longest pause before another attempt, also where the server asks for a longer one.
LONGEST_PAUSE_SECONDS = 60.0
TOO_MANY_REQUESTS, SERVER_ERROR = 429, 500
#: States of a server that may be over soon.
PASSING = frozenset({TOO_MANY_REQUESTS, SERVER_ERROR, 502, 503, 504})
REDIRECTS = frozenset({301, 302, 303, 307, 308})
UNAUTHORISED, FORBIDDEN, NOT_FOUND = 401, 403, 404
#: Longest part of a server's own message that is shown.
DETAIL_CHARACTERS = 200
#: Characters of an address that are sent as they are, beside letters and digits.
URL_CHARACTERS = "/%?&=#:;@!$'()*+,~[]"
TOKEN_VARIABLE = "LABEL_STUDIO_API_KEY"


class UnreachableError(DataError):
    """The server did not answer, or not with what its API documents; it may do so later."""


class BrokenError(UnreachableError):
    """The server fails at this request; it may answer others."""


class NotFoundError(InputError):
    """What was asked for is not there, or not visible with this token."""


class RefusedError(InputError):
    """The server understood a request and refused it."""


class Client:
    """Requests to one server, with a token that is sent nowhere else.

    Parameters
    ----------
    address : of the server: https://label.example, or with a path below which it lives
    token : a legacy token, or a personal access token, which is exchanged for short-lived ones
    sleep : waits that many seconds
    """

    def __init__(
        self, address: str, token: str, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.address = checked_address(address)
        self._origin = _origin(urlsplit(self.address))
        self._token = checked_token(token)
        self._access = ""
        self._has_answered = False
        self._sleep = sleep
        self._opener = urllib.request.build_opener(_SameOrigin(self._origin))

    def get(self, path: str, **parameters: Any) -> Any:
        """The JSON at a path of the API."""
        query = f"?{urlencode(parameters)}" if parameters else ""
        return self._parsed(path, self._answer("GET", path + query))

    def send(self, method: str, path: str, body: Any = None, *, repeatable: bool = True) -> Any:
        """Send JSON and return the JSON of the answer, or None where it is empty.

        Parameters
        ----------
        repeatable : whether the request may be sent again if it is unknown whether it arrived
        """
        content = self._answer(method, path, body, repeatable=repeatable)
        return self._parsed(path, content) if content.strip() else None

    def content(self, address: str) -> bytes | None:
        """The bytes of a file that this server serves; None for an address elsewhere."""
        try:
            whole = urlsplit(urljoin(f"{self.address}/", address.strip()))
            if _origin(whole) != self._origin:
                return None
        except ValueError:  # an address that is none
            return None
        path = quote(
            whole._replace(scheme="", netloc="", fragment="").geturl(), safe=URL_CHARACTERS
        )
        return self._answer("GET", path, from_root=True)

    def _answer(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        repeatable: bool = True,
        from_root: bool = False,
    ) -> bytes:
        """The body of the answer; waits and tries again while the server is busy or away."""
        address = f"{self._origin}{path}" if from_root else f"{self.address}{path}"
        renewed = False
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return self._once(method, address, body, {"Authorization": self._authorisation()})
            except urllib.error.HTTPError as error:
                self._has_answered = True
                with error:
                    if error.code == UNAUTHORISED and self._access and not renewed:
                        self._access, renewed = "", True  # it has expired
                        continue
                    wanted = error.code in PASSING and (
                        repeatable or error.code == TOO_MANY_REQUESTS
                    )
                    if not wanted or attempt == ATTEMPTS:
                        raise self._error(error, path) from None
                    pause = _asked_pause(error.headers) or 2.0 ** (attempt - 1)
            except (OSError, http.client.HTTPException) as error:
                # A wrong address fails at once; a server that has answered may be starting again.
                if not (repeatable and self._has_answered) or attempt == ATTEMPTS:
                    raise self._away(error) from None
                pause = 2.0 ** (attempt - 1)
            self._sleep(min(pause, LONGEST_PAUSE_SECONDS))
        raise UnreachableError(f"{self.address} keeps asking to log in again: try later")

    def _once(self, method: str, address: str, body: Any, headers: Mapping[str, str]) -> bytes:
        """Send one request and read its answer, which may be neither too long nor too slow."""
        data = None if body is None else json.dumps(body).encode()
        extra = {} if data is None else {"Content-Type": "application/json"}
        headers = {"Accept": "application/json", **extra, **headers}
        try:
            request = urllib.request.Request(address, data, headers, method=method)
            response = self._opener.open(request, timeout=TIMEOUT_SECONDS)
        except ValueError:  # the target of a redirect, if it is no address
            raise InputError(f"{self.address} redirects to what is no address") from None
        self._has_answered = True
        end = time.monotonic() + ANSWER_SECONDS
        content = bytearray()
        with response:
            while chunk := response.read1(CHUNK_BYTES):
                content += chunk
                if len(content) > MOST_ANSWER_BYTES:
                    raise UnreachableError(
                        f"{self.address} sent more than {MOST_ANSWER_BYTES >> 20} MB in one "
                        "answer: more than poise reads"
                    )
                if time.monotonic() > end:
                    raise TimeoutError("the answer takes too long")
            length = response.headers.get("Content-Length", "")
        if length.isdigit() and len(content) < int(length):
            raise http.client.IncompleteRead(bytes(content), int(length) - len(content))
        return bytes(content)

    def _authorisation(self) -> str:
        """The value of the header; a personal access token is exchanged first."""
        if not is_personal(self._token):
            return f"Token {self._token}"
        if not self._access:
            path = "/api/token/refresh/"
            content = self._once("POST", self.address + path, {"refresh": self._token}, {})
            given = self._parsed(path, content)
            access = given.get("access") if isinstance(given, dict) else None
            if not isinstance(access, str) or not _is_header_safe(access):
                raise UnreachableError(f"{self.address}{path} gave no access token")
            self._access = access
        return f"Bearer {self._access}"

    def _parsed(self, path: str, content: bytes) -> Any:
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            what = "a web page" if content.lstrip()[:1] == b"<" else "something"
            raise UnreachableError(
                f"{self.address}{path.partition('?')[0]} answered with {what} that is not JSON: "
                "check that the address is the one of Label Studio"
            ) from None

    def _error(self, error: urllib.error.HTTPError, path: str) -> Exception:
        """What a refusal means for the user."""
        where, code = self.address, error.code
        if code == UNAUTHORISED:
            return InputError(
                f"{where} does not accept the token in {TOKEN_VARIABLE}: copy it again from "
                "Account & Settings, or ask whether this kind of token is switched on"
            )
        if code == FORBIDDEN:
            return InputError(
                f"{where} forbids {path.partition('?')[0]} to the owner of the token in "
                f"{TOKEN_VARIABLE}: ask for access to the project"
            )
        if code == NOT_FOUND:
            return NotFoundError(
                f"{where}{path.partition('?')[0]} does not exist, or the token's owner may not "
                "see it: check the address and the number of the project"
            )
        if code in REDIRECTS:
            target = _shown(error.headers.get("Location", ""))
            return InputError(
                f"{where} redirects to {target or 'nowhere'}: the token is not sent there; "
                "if you trust that address, give it instead"
            )
        if code in PASSING:
            kind = BrokenError if code == SERVER_ERROR else UnreachableError
            return kind(f"{where} is busy or broken (status {code}): try again later")
        return RefusedError(
            f"{where} refused {path.partition('?')[0]} (status {code}){self._detail(error)}"
        )

    def _detail(self, error: urllib.error.HTTPError) -> str:
        """The server's own explanation, if it gave one in JSON; never with the token in it."""
        try:
            said = json.loads(error.read(CHUNK_BYTES))
        except (ValueError, RecursionError, OSError, http.client.HTTPException):
            return ""
        detail = said.get("detail") if isinstance(said, dict) else None
        if not isinstance(detail, str):
            return ""
        for secret in filter(None, (self._token, self._access)):
            detail = detail.replace(secret, "(token)")
        return f": {_shown(detail)}"

    def _away(self, error: Exception) -> UnreachableError:
        reason = _shown(str(getattr(error, "reason", error)) or type(error).__name__)
        return UnreachableError(
            f"{self.address} cannot be reached ({reason}): check the address and whether Label "
            "Studio runs there"
        )


class _SameOrigin(urllib.request.HTTPRedirectHandler):
    """Follows redirects within one server, and only for requests that change nothing."""

    def __init__(self, origin: str) -> None:
        self._own = origin

    def redirect_request(
        self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        if req.get_method() != "GET" or _origin(urlsplit(newurl)) != self._own:
            return None  # urllib raises an HTTPError with the status
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def checked_address(address: str) -> str:
    """The address of a server without a slash at its end, or an `InputError`."""
    try:
        parts = urlsplit(address.strip())
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or parts.query or parts.fragment or not address.strip().isprintable():
        raise InputError(
            f"{_shown(address)!r} is no address of Label Studio: expected one such as "
            "https://label.example or http://localhost:8080"
        )
    if parts.username is not None or parts.password is not None:
        raise InputError(
            f"the address holds a name or a password: leave it out, and set {TOKEN_VARIABLE} to "
            "the token"
        )
    return parts.geturl().rstrip("/")


def checked_token(token: str) -> str:
    """The token without blanks around it, or an `InputError` that does not show it."""
    token = token.strip()
    if not token:
        raise InputError(
            f"no token: set the environment variable {TOKEN_VARIABLE} to the token from Account & "
            "Settings in Label Studio"
        )
    if not _is_header_safe(token):
        raise InputError(f"{TOKEN_VARIABLE} holds no token: it has blanks or unusual characters")
    return token


def is_personal(token: str) -> bool:
    """Whether it is a personal access token, a JWT; legacy tokens are hexadecimal numbers."""
    parts = token.split(".")
    if len(parts) != 3:
        return False
    try:
        header = json.loads(base64.urlsafe_b64decode(parts[0] + "=" * (-len(parts[0]) % 4)))
    except ValueError:
        return False
    return isinstance(header, dict)


def _is_header_safe(value: str) -> bool:
    return bool(value) and value.isascii() and value.isprintable() and " " not in value


def _origin(parts: SplitResult) -> str:
    """Scheme, host and port, in one spelling."""
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)
    host = (parts.hostname or "").lower()
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}:{port}"


def _asked_pause(headers: Any) -> float | None:
    """Seconds to wait, if the server named a number."""
    try:
        seconds = float(headers.get("Retry-After", ""))
    except ValueError:
        return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def _shown(text: str) -> str:
    """Foreign text for a message: one short line without control characters."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= DETAIL_CHARACTERS else f"{line[:DETAIL_CHARACTERS]}..."
