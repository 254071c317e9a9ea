"""The app over HTTP, for one machine: every request is somebody's who holds the token."""

import csv
import hmac
import io
import json
from collections import Counter
from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from poise.errors import InputError, PoiseError
from poise.studio.events import Event
from poise.studio.project import Project
from poise.studio.state import StaleError
from poise.studio.store import ConflictError, StoreError

COOKIE = "poise"
#: Bytes of a request at most.
LARGEST = 1_000_000
STATIC = {"studio.css": "text/css", "studio.js": "text/javascript"}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
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
#: What a page may send; questions are put by the server.
ACCEPTED = frozenset({"class", "label", "skip", "unsure", "clear", "undo"})

Next = Callable[[Request], Awaitable[Response]]


class Guard(BaseHTTPMiddleware):
    """Refuses whoever is not the person at this machine.

    The name in ``Host`` must be this server's, or a page elsewhere could reach it by a name of its
    own (DNS rebinding); what writes must come from this server's page; and every request carries
    the token: once in the address that the command opened, then in a cookie that no script reads.
    """

    def __init__(self, app: Any, token: str, hosts: frozenset[str]) -> None:
        super().__init__(app)
        self.token, self.hosts = token, hosts

    async def dispatch(self, request: Request, call_next: Next) -> Response:
        """One request."""
        response = self._refusal(request) or await call_next(request)
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        return response

    def _refusal(self, request: Request) -> Response | None:
        if request.headers.get("host") not in self.hosts:
            return _said(421, "this server has another name: use the address that poise printed")
        if request.method not in ("GET", "HEAD"):
            origin = request.headers.get("origin")
            if origin not in {f"http://{host}" for host in self.hosts}:
                return _said(403, "a page elsewhere may not write here")
            if request.headers.get("content-type", "").split(";")[0] != "application/json":
                return _said(415, "expected application/json")
            length = request.headers.get("content-length", "")
            if not length.isdigit() or int(length) > LARGEST:
                return _said(413, f"a request holds at most {LARGEST:,} bytes")
        given = request.query_params.get("token")
        if request.url.path == "/" and given is not None:
            if not self._same(given):
                return _said(403, "this address is not valid any more: start poise label again")
            entered = RedirectResponse("/", status_code=303)
            entered.set_cookie(COOKIE, self.token, httponly=True, samesite="strict")
            return entered
        if not self._same(request.cookies.get(COOKIE, "")):
            return _said(403, "open the address that poise label printed")
        return None

    def _same(self, token: str) -> bool:
        return hmac.compare_digest(token.encode(), self.token.encode())


def make_app(project: Project, token: str, hosts: frozenset[str]) -> Starlette:
    """The app of one project; `hosts` are its names with their port."""

    async def page(request: Request) -> Response:
        return Response(_static("index.html"), media_type="text/html")

    async def static(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in STATIC:
            return _said(404, "there is no such file")
        return Response(_static(name), media_type=STATIC[name])

    async def state(request: Request) -> Response:
        return await _answer(lambda: summary(project))

    async def item(request: Request) -> Response:
        index = project.index.get(request.path_params["id"])
        if index is None:
            return _said(404, "there is no such item")
        kind, content = await run_in_threadpool(project.catalogue.content, index)
        return Response(
            content, media_type=kind, headers={"Cache-Control": "private, max-age=86400"}
        )

    async def events(request: Request) -> Response:
        try:
            sent = await request.json()
            event = Event(sent["kind"], sent["data"], client=sent["client"])
            versions = {str(item): int(seen) for item, seen in sent.get("versions", {}).items()}
        except PoiseError as error:
            return _said(422, str(error))
        except (ValueError, KeyError, TypeError, AttributeError):
            return _said(422, "expected an object with kind, data and client")
        if event.kind not in ACCEPTED:
            return _said(422, f"a page may not send {event.kind!r}")

        def record() -> dict[str, Any]:
            written = project.record(event, versions)
            return {"seq": written.seq} | summary(project)

        return await _answer(record)

    async def undo(request: Request) -> Response:
        try:
            client = str((await request.json())["client"])
        except (ValueError, KeyError, TypeError):
            return _said(422, "expected an object with client")

        def take_back() -> dict[str, Any]:
            undone = project.undo(client=client)
            shown = None if undone is None else {"kind": undone.kind, "data": undone.data}
            return {"undone": shown} | summary(project)

        return await _answer(take_back)

    async def export(request: Request) -> Response:
        kind = request.query_params.get("format", "csv")
        if kind not in ("csv", "jsonl"):
            return _said(422, f"format is {kind!r}: expected csv or jsonl")
        text = await run_in_threadpool(exported, project, kind)
        name = f'attachment; filename="labels.{kind}"'
        return Response(text, media_type="text/plain", headers={"Content-Disposition": name})

    return Starlette(
        routes=[
            Route("/", page),
            Route("/static/{name}", static),
            Route("/api/state", state),
            Route("/api/items/{id}", item),
            Route("/api/events", events, methods=["POST"]),
            Route("/api/undo", undo, methods=["POST"]),
            Route("/api/export", export),
        ],
        middleware=[Middleware(Guard, token=token, hosts=hosts)],
    )


def summary(project: Project) -> dict[str, Any]:
    """All that the page shows, with the question that is open."""
    question = project.question()
    state, ids = project.state, project.catalogue.ids
    counts = Counter(found.label for found in state.labels.values())
    asked = None
    if question is not None:
        item = ids[question.node]
        asked = {
            "item": item,
            "version": state.version.get(item, 0),
            "guess": question.guess,
            "confidence": question.confidence,
            "known_less": question.known_less,
            "decides": question.decides,
            "nearest": [
                {"item": ids[node], "label": state.labels[ids[node]].label}
                for node in question.nearest
                if ids[node] in state.labels
            ],
        }
    return {
        "project": project.catalogue.name,
        "kind": project.catalogue.kind,
        "items": len(ids),
        "answers": len(state.labels),
        "unsure": len(state.unsure),
        "skipped": len(state.skipped),
        "classes": [
            {"name": name, "key": key, "count": counts[name]} for name, key in state.classes.items()
        ],
        "undoable": state.undoable("") is not None,
        "question": asked,
    }


FIELDS = ("id", "label", "by", "confidence", "time")


def exported(project: Project, kind: str) -> str:
    """Every item's class, given or predicted."""
    guesses, confidences = project.predictions()
    rows: list[tuple[Any, ...]] = []
    for index, item in enumerate(project.catalogue.ids):
        given = project.state.labels.get(item)
        if given is not None:
            rows.append((item, given.label, given.annotator or "person", None, given.time))
        elif guesses:
            rows.append((item, guesses[index], "model", round(float(confidences[index]), 4), None))
    if kind == "jsonl":
        lines = (
            json.dumps(dict(zip(FIELDS, row, strict=True)), ensure_ascii=False) for row in rows
        )
        return "".join(f"{line}\n" for line in lines)
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(FIELDS)
    writer.writerows(["" if value is None else value for value in row] for row in rows)
    return buffer.getvalue()


async def _answer(work: Callable[[], dict[str, Any]]) -> Response:
    """What `work` gives, or its error as a status that the page understands."""
    try:
        return JSONResponse(await run_in_threadpool(work))
    except (StaleError, ConflictError) as error:
        return _said(409, str(error))
    except InputError as error:
        return _said(422, str(error))
    except StoreError as error:
        return _said(507, str(error))


def _said(status: int, words: str) -> Response:
    return JSONResponse({"error": words}, status_code=status)


def _static(name: str) -> str:
    return files("poise.studio").joinpath("static", name).read_text(encoding="utf-8")
