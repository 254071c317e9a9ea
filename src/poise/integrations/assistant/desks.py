"""Where the questions come from: the app that is running, or the project's folder."""

import http.client
import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from poise.errors import InputError, RunError
from poise.integrations.assistant.http import opener, reason
from poise.progress import Begin
from poise.studio import assisting
from poise.studio.borrowing import LOG, borrowed_source, check_log
from poise.studio.exchange import known_labels
from poise.studio.log.events import Event
from poise.studio.log.lock import address_in_use, only_writer
from poise.studio.log.state import apply, check, fold
from poise.studio.log.store import EventStore
from poise.studio.source.catalogue import Catalogue, GoneError

#: How long a request to the app may take, and the pause while it prepares the project.
APP_SECONDS, PREPARING_SECONDS = 60.0, 0.5


class Desk(Protocol):
    """Hands out questions and takes answers."""

    def introduce(self, name: str, audit: int) -> None: ...
    def questions(self, name: str) -> dict[str, Any]: ...
    def content(self, item: str) -> tuple[str, bytes] | None:
        """Media type and bytes of an item; None if it is gone."""

    def take(
        self, name: str, item: str, label: str | None, confidence: float | None, may_name: bool
    ) -> bool: ...


@contextmanager
def desk_of(folder: Path, begin: Begin) -> Iterator[Desk]:
    """The desk of a project: the running app, else the folder, which nobody else uses meanwhile."""
    address = address_in_use(folder)
    if address is not None:
        yield AppDesk(address)
        return
    check_log(folder)
    with only_writer(folder, ""), FolderDesk.opened(folder, begin) as desk:
        yield desk


class AppDesk:
    """The app that is running.

    Parameters
    ----------
    address : of its page, with the token if it has one
    """

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self.origin = f"{parts.scheme}://{parts.netloc}"
        self.root, self._opener = parts.path.rstrip("/"), opener()
        self._headers = {"Origin": self.origin}
        token = parse_qs(parts.query).get("token", [""])[0]
        if token:
            self._enter(f"/?{urlencode({'token': token})}", None)
        else:
            self._enter("/login", {"password": _password()})

    def introduce(self, name: str, audit: int) -> None:
        """Note who answers."""
        self._send("/api/assistants", {"name": name, "audit": audit})

    def questions(self, name: str) -> dict[str, Any]:
        """The next questions."""
        asked: dict[str, Any] = self._send(f"/api/assistants/questions?{urlencode({'name': name})}")
        return asked

    def content(self, item: str) -> tuple[str, bytes] | None:
        """What an item shows, as the page shows it."""
        try:
            with self._open(f"/api/items/{quote(item, safe='')}", None) as response:
                return response.headers.get_content_type(), response.read()
        except urllib.error.HTTPError as error:
            if error.code in (404, 410):
                return None
            raise RunError(f"the app refuses an item: {_words(error)}") from None

    def take(
        self, name: str, item: str, label: str | None, confidence: float | None, may_name: bool
    ) -> bool:
        """Record an answer."""
        answer = {"name": name, "id": item, "class": label, "confidence": confidence}
        sent = self._send("/api/assistants/answers", answer | {"new_classes": may_name})
        return bool(sent["recorded"])

    def _enter(self, path: str, body: dict[str, Any] | None) -> None:
        """Get the cookie that every request carries."""
        try:
            with self._open(path, body) as response:
                headers = response.headers
        except urllib.error.HTTPError as error:
            headers = error.headers
            if error.code != http.client.SEE_OTHER:
                raise InputError(f"the app does not let poise assist in: {_words(error)}") from None
        self._headers["Cookie"] = str(headers["Set-Cookie"]).partition(";")[0]

    def _send(self, path: str, body: dict[str, Any] | None = None) -> Any:
        while True:
            try:
                with self._open(path, body) as response:
                    return json.load(response)
            except urllib.error.HTTPError as error:
                if error.code != http.client.SERVICE_UNAVAILABLE:
                    is_ours = error.code in (http.client.CONFLICT, http.client.UNPROCESSABLE_ENTITY)
                    raise (InputError if is_ours else RunError)(_words(error)) from None
                with error:
                    failed = json.load(error).get("preparing", {}).get("error")
                if failed:
                    raise RunError(f"the app could not prepare the project: {failed}") from None
                time.sleep(PREPARING_SECONDS)

    def _open(self, path: str, body: dict[str, Any] | None) -> Any:
        content = None if body is None else json.dumps(body).encode()
        headers = self._headers | ({} if body is None else {"Content-Type": "application/json"})
        request = urllib.request.Request(f"{self.origin}{self.root}{path}", content, headers)
        try:
            return self._opener.open(request, timeout=APP_SECONDS)
        except urllib.error.HTTPError:
            raise
        except (OSError, http.client.HTTPException) as error:
            raise RunError(
                f"the app at {self.origin} does not answer ({reason(error)}): finished work is "
                "kept, run the same command again"
            ) from None


class FolderDesk:
    """A project that no app has open; nothing is embedded or predicted.

    Parameters
    ----------
    store : the log, which nobody else writes to
    """

    def __init__(self, catalogue: Catalogue, store: EventStore) -> None:
        self.catalogue, self.store = catalogue, store
        self.state = fold(store.events())
        self.record_all(known_labels(self))

    @classmethod
    @contextmanager
    def opened(cls, folder: Path, begin: Begin) -> Iterator["FolderDesk"]:
        """The desk of a folder, for the length of a `with` block."""
        with borrowed_source(folder) as source:
            catalogue = source.read(begin("reading"), lambda content: None, None, None)
            store = EventStore(folder / LOG)
            try:
                yield cls(catalogue, store)
            finally:
                store.close()

    def record_all(self, events: Sequence[Event]) -> None:
        """Write events: all of them, or none."""
        state = self.state
        for event in events:
            check(state, event)
            state = apply(state, event, list)
        for written in self.store.append(*events):
            self.state = apply(self.state, written, self.store.events)

    def introduce(self, name: str, audit: int) -> None:
        """Note who answers."""
        assisting.introduce(self, name, audit)

    def questions(self, name: str) -> dict[str, Any]:
        """The next questions."""
        return assisting.questions(self, name)

    def content(self, item: str) -> tuple[str, bytes] | None:
        """What an item shows, as the page would show it."""
        try:
            return self.catalogue.content(self.catalogue.nodes[item])
        except GoneError:
            return None

    def take(
        self, name: str, item: str, label: str | None, confidence: float | None, may_name: bool
    ) -> bool:
        """Record an answer."""
        return assisting.take(self, name, item, label, confidence, may_name=may_name)


def _password() -> str:
    password = os.environ.get("POISE_PASSWORD", "")
    if not password:
        raise InputError("the app asks for a password: set the environment variable POISE_PASSWORD")
    return password


def _words(error: urllib.error.HTTPError) -> str:
    """Why the app refuses a request."""
    with error:
        try:
            return str(json.load(error)["error"])
        except (ValueError, KeyError, TypeError):
            return f"the app answered with status {error.code}"
