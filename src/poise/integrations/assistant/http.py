"""Requests over HTTP: only to the address that was given, without redirects or proxies."""

import http.client
import json
import time
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import urlsplit

from poise.errors import InputError
from poise.integrations.assistant.protocol import MAX_ANSWER_BYTES, Failure

CHUNK_BYTES = 65_536


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Leaves a redirect as it is, so that it becomes an error with its status."""

    def redirect_request(self, *_: Any) -> None:
        return None


def opener() -> urllib.request.OpenerDirector:
    """Opens exactly the address that it is given."""
    return urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirects())


def reason(error: Exception) -> str:
    """Why an address cannot be reached, in a few words."""
    inner = getattr(error, "reason", None) or error
    return str(getattr(inner, "strerror", None) or inner) or type(inner).__name__


class Endpoint:
    """An HTTP endpoint that answers: each question is a POST.

    Parameters
    ----------
    url : the only address that is asked
    seconds : how long it may take for an answer
    """

    def __init__(self, url: str, seconds: float) -> None:
        self.url, self.seconds = _checked(url), seconds
        self._opener = opener()

    def ask(self, question: dict[str, Any]) -> bytes:
        """The body of the answer."""
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        body = json.dumps(question).encode()
        request = urllib.request.Request(self.url, body, headers, method="POST")
        try:
            with self._opener.open(request, timeout=self.seconds) as response:
                return self._read(response, time.monotonic() + self.seconds)
        except urllib.error.HTTPError as error:
            error.close()
            redirect = ", a redirect, which is not followed" if 300 <= error.code < 400 else ""
            raise Failure(f"answered with status {error.code}{redirect}") from None
        except (OSError, http.client.HTTPException) as error:
            if isinstance(error, TimeoutError) or isinstance(_inner(error), TimeoutError):
                raise Failure(f"gave no answer within {self.seconds:g} s") from None
            raise Failure(f"could not be reached ({reason(error)})") from None

    def reset(self) -> None:
        """Nothing is kept between two questions."""

    def close(self) -> None:
        """Nothing is open."""

    def _read(self, response: http.client.HTTPResponse, end: float) -> bytes:
        answer = b""
        while chunk := response.read1(CHUNK_BYTES):
            answer += chunk
            if len(answer) > MAX_ANSWER_BYTES:
                raise Failure(f"sent more than {MAX_ANSWER_BYTES:,} bytes for one answer")
            if time.monotonic() > end:
                raise TimeoutError
        return answer


def _inner(error: Exception) -> object:
    return getattr(error, "reason", None)


def _checked(url: str) -> str:
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good or any(letter.isspace() for letter in url):
        raise InputError(f"--url is {url!r}: expected an address such as http://127.0.0.1:8000/")
    return url
