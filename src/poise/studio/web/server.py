"""The app over HTTP. What each address does is written in `openapi.py`, for people and programs."""

import math
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import CancelledError, wait
from contextlib import asynccontextmanager
from dataclasses import asdict
from importlib.resources import files
from typing import Any

from anyio import to_thread
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import poise
from poise.data.text import parse_json
from poise.errors import InputError, PoiseError
from poise.studio import exchange
from poise.studio.log.events import BY_PERSON, UNDOABLE, Event, check_client, check_name
from poise.studio.log.naming import alike
from poise.studio.log.settings import WAYS, check_new_setting
from poise.studio.log.state import StaleError
from poise.studio.log.store import ConflictError, StoreError
from poise.studio.opening import Opening
from poise.studio.project import Project
from poise.studio.source.catalogue import GoneError
from poise.studio.web import views
from poise.studio.web.guard import HEADERS, Answer, Doors, Guard, said
from poise.studio.web.openapi import openapi
from poise.studio.web.review import Wanted, review

#: What a page may send; questions are put by the server.
ACCEPTED = UNDOABLE | {"class", "undo", "setting"}
#: Seconds that a request waits for something to be computed before it is answered as it is.
PATIENT = 20.0
#: Seconds that the table waits for predictions by the newest labels, if there are earlier ones.
SOON = 2.0
#: Pixels of the longer side of a picture at most, for whoever looks closely.
LARGEST_SIDE = 16_384
#: Bytes of JSON above which it is parsed in a thread: others wait for the event loop.
LONG_JSON = 100_000
#: Requests that are worked at or wait at the same time.
THREADS = 200
TYPES = {"css": "text/css", "js": "text/javascript", "html": "text/html"}

Handler = Callable[[Request], Awaitable[Response]]


def make_app(opening: Opening, doors: Doors, *, names: bool = False) -> Starlette:
    """The app of one project; with `names`, everybody says who they are."""

    def annotator(request: Request, sent: dict[str, Any] | None = None) -> str:
        given = request.query_params.get("annotator", "") if sent is None else sent.get("annotator")
        if not names:
            return ""
        if not isinstance(given, str) or not given:
            raise InputError("say who you are: annotator is missing")
        return check_name(given)

    # A page that was open before must not show what it remembers of another run.
    shared = {
        "names": names,
        "version": 1,
        "password": bool(doors.password),
        "run": secrets.token_hex(8),
    }

    def standing(project: Project, who: str, **more: Any) -> dict[str, Any]:
        return shared | more | views.summary(project, who) | {"coming": opening.coming()}

    def page(name: str) -> Handler:
        async def handler(request: Request) -> Response:
            return _static(name)

        return handler

    async def static(request: Request) -> Response:
        return _static(request.path_params["name"])

    async def login(request: Request) -> Response:
        sent = await _sent(request)
        address = "" if request.client is None else request.client.host
        seconds = math.ceil(doors.logins.wait(address))
        if seconds:
            return said(429, f"too many wrong passwords: wait {seconds} s, then try again")
        if not doors.is_password(sent.get("password")):
            doors.logins.wrong(address)
            return said(403, "this is not the password")
        return doors.let_in(Answer({"ok": True}), doors.logins.begin())

    async def logout(request: Request) -> Response:
        doors.logins.end(request.cookies.get(doors.cookie, ""))
        response = Answer({"ok": True})
        response.delete_cookie(doors.cookie, path=doors.root or "/")
        return response

    def with_project(
        work: Callable[[Project, Request, dict[str, Any]], Any], *, posted: bool = False
    ) -> Handler:
        async def handler(request: Request) -> Response:
            if opening.project is None:
                return said(503, "the project is being prepared", preparing=opening.shown())
            project = opening.project
            return await _answer(work, project, request, await _sent(request) if posted else {})

        return handler

    async def state(request: Request) -> Response:
        if opening.project is None:
            return Answer(shared | {"preparing": opening.shown()})
        if names and "annotator" not in request.query_params:
            return Answer(shared)  # the page asks for the name first
        project = opening.project
        return await _answer(lambda: standing(project, annotator(request)))

    async def item(request: Request) -> Response:
        catalogue = opening.catalogue
        if catalogue is None:
            return said(503, "the items are being read")
        index = catalogue.nodes.get(request.path_params["id"])
        if index is None:
            return said(404, "there is no such item")
        size = request.query_params.get("size", "1200")
        if _number(size) is None or not 16 <= int(size) <= LARGEST_SIDE:
            return said(422, f"size is {size[:20]!r}: expected 16 to {LARGEST_SIDE} pixels")
        # An id need not be a content's own (--key, or another project at this port later on), so
        # what a browser has kept is compared with what is there now.
        headers = {"Cache-Control": "private, no-cache", "ETag": catalogue.tag(index, int(size))}
        if request.headers.get("if-none-match") == headers["ETag"]:
            return Response(status_code=304, headers=headers)
        try:
            kind, content = await run_in_threadpool(catalogue.content, index, int(size))
        except GoneError as error:
            return said(410, str(error))
        return Response(content, media_type=kind, headers=headers)

    async def glimpse(request: Request) -> Response:
        number = _number(request.path_params["number"])
        if number is None or number >= len(opening.glimpses):
            return said(404, "there is no such picture")
        kind, content = opening.glimpses[number]
        return Response(content, media_type=kind)

    def question(project: Project, request: Request, _: Any) -> Any:
        who = annotator(request)
        project.wait(who, PATIENT)
        _judged(project, who)
        return standing(project, who)

    def ahead(project: Project, request: Request, _: Any) -> Any:
        return views.ahead(project, annotator(request), PATIENT)

    def record(project: Project, request: Request, sent: dict[str, Any]) -> Any:
        who = annotator(request, sent)
        try:
            event = Event(sent["kind"], _given(sent["data"]), who, sent["client"])
            versions = {str(item): int(seen) for item, seen in sent.get("versions", {}).items()}
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            if isinstance(error, PoiseError):
                raise
            raise InputError("expected an object with kind, data and client") from None
        if event.kind not in ACCEPTED:
            raise InputError(f"a page may not send {event.kind!r}")
        if event.kind == "label" and (
            event.data.get("via", "question") not in BY_PERSON or {"by", "at"} & set(event.data)
        ):
            raise InputError(f"via is {event.data.get('via')!r}: that is for files, see import")
        if event.data.get("via") == "audit":
            _judged(project, who)
            _judge(project, event)
        if event.kind == "setting":
            check_new_setting(event.data["name"], event.data["value"])
        written = project.record(event, versions)
        found = standing(project, who, seq=written.seq)
        if event.kind == "class":
            found["alike"] = alike(event.data["name"], project.state.classes)
        return found

    def undo(project: Project, request: Request, sent: dict[str, Any]) -> Any:
        who = annotator(request, sent)
        undone = project.undo(who, check_client(sent.get("client")))
        shown = None if undone is None else {"kind": undone.kind, "data": undone.data}
        return standing(project, who, undone=shown)

    def look(project: Project, request: Request, sent: dict[str, Any]) -> Any:
        who = annotator(request, sent)
        if sent.get("item") is None:
            project.leave(who, PATIENT)
        else:
            project.look_at(str(sent["item"]), who)
        return standing(project, who)

    def audit(project: Project, request: Request, sent: dict[str, Any]) -> Any:
        who = annotator(request, sent)
        project.audit(who)
        project.wait(who, PATIENT)
        _judged(project, who)
        return standing(project, who)

    async def prepare(request: Request) -> Response:
        opening.start_again()
        return Answer(shared | {"preparing": opening.shown()})

    def about(project: Project, request: Request, _: Any) -> Any:
        return views.about(project, request.query_params.get("item", ""), PATIENT)

    def left_out(project: Project, request: Request, _: Any) -> Any:
        return views.left_out(project)

    def history(project: Project, request: Request, _: Any) -> Any:
        return views.history(project, annotator(request))

    def map_(project: Project, request: Request, _: Any) -> Any:
        layouts = [
            {"name": name, "title": title, "ready": project.has_layout(name)}
            for name, title in views.LAYOUTS.items()
        ]
        return {"n": len(project.catalogue), "layouts": layouts}

    def points(project: Project, request: Request, _: Any) -> Any:
        name = request.query_params.get("layout", "pca")
        if name not in views.LAYOUTS:
            raise InputError(f"layout is {name!r}: expected {' or '.join(views.LAYOUTS)}")
        future = project.layout(name)
        if name != "pca" and not future.done():
            return _preparing()
        return Response(
            future.result(PATIENT).astype("<f4").tobytes(), media_type="application/octet-stream"
        )

    def values(project: Project, request: Request, _: Any) -> Any:
        found = views.map_values(project)
        if found is None:
            return _preparing()
        return Response(found, media_type="application/octet-stream")

    def labelled(project: Project, request: Request, _: Any) -> Any:
        return views.map_labels(project)

    def choices(project: Project, request: Request, _: Any) -> Any:
        ways = [{"name": n, "acquisition": a, "words": w} for n, (a, w) in WAYS.items()]
        return {"ways": ways, "acquisitions": poise.acquisitions()}

    def at_index(project: Project, request: Request, _: Any) -> Any:
        return views.map_item(project, _place(project, request.query_params.get("index")))

    def at_indices(project: Project, request: Request, sent: dict[str, Any]) -> Any:
        indices = sent.get("indices")
        if not isinstance(indices, list):
            raise InputError("expected an object with indices")
        ids = project.catalogue.ids
        return {"items": [ids[_place(project, index)] for index in indices]}

    def table(project: Project, request: Request, _: Any) -> Any:
        wanted = Wanted.of(request.query_params)
        future, against, words = project.predictions(), project.suspicion(), project.words()
        needs = wanted.sort == "suspicion" or wanted.show == "suspicious"
        # Whoever types or looks for something alike waits for no prediction.
        finding = bool(wanted.text or wanted.like)
        if wanted.text:
            wait([words], SOON)
            if not words.done():
                return _preparing(words="The texts are being read for the search.")
        elif not wanted.like:
            wait([future], SOON)
        predictions = future.result() if future.done() else project.newest
        missing = predictions is None and not future.done() and not finding
        if missing or (needs and not against.done()):
            return _preparing()
        known = against.result() if against.done() else None
        return review(project, wanted, predictions, known) | {"fresh": future.done()}

    def exported(project: Project, request: Request) -> tuple[str, list[exchange.Row], bool]:
        kind = request.query_params.get("format", "csv")
        include = request.query_params.get("include", "all")
        if kind not in exchange.FORMATS:
            raise InputError(f"format is {kind!r}: expected {', '.join(exchange.FORMATS)}")
        if include not in ("all", "labelled"):
            raise InputError(f"include is {include!r}: expected all or labelled")
        predictions = project.predictions().result() if include == "all" else None
        exact = request.query_params.get("exact", "no")
        if exact not in ("yes", "no"):
            raise InputError(f"exact is {exact!r}: expected yes or no")
        return kind, exchange.rows(project, predictions), exact == "yes"

    def export(project: Project, request: Request, _: Any) -> Any:
        kind, rows, exact = exported(project, request)
        name = f'attachment; filename="labels.{kind}"'
        return Response(
            exchange.written(rows, kind, exact=exact),
            media_type="application/octet-stream",
            headers={"Content-Disposition": name},
        )

    def preview(project: Project, request: Request, _: Any) -> Any:
        kind, rows, exact = exported(project, request)
        shown = "jsonl" if kind == "jsonl" else "csv"
        text = exchange.written(rows[:3], shown, exact=exact or kind == "parquet").decode()
        return {"rows": text.splitlines(), "count": len(rows)}

    async def import_(request: Request) -> Response:
        if opening.project is None:
            return said(503, "the project is being prepared")
        project, content = opening.project, await request.body()
        name = request.query_params.get("name", "")
        return await _answer(
            lambda: asdict(exchange.take_in(project, exchange.read(content, name)))
        )

    async def described(request: Request) -> Response:
        return Answer(openapi(doors.root))

    return Starlette(
        routes=[
            Route("/", page("index.html")),
            Route("/login", page("login.html"), methods=["GET"]),
            Route("/login", login, methods=["POST"]),
            Route("/logout", logout, methods=["POST"]),
            Route("/static/{name}", static),
            Route("/api/openapi.json", described),
            Route("/api/state", state),
            Route("/api/question", with_project(question)),
            Route("/api/ahead", with_project(ahead)),
            Route("/api/history", with_project(history)),
            Route("/api/prepare", prepare, methods=["POST"]),
            Route("/api/about", with_project(about)),
            Route("/api/left-out", with_project(left_out)),
            Route("/api/items/{id:path}", item),
            Route("/api/glimpses/{number}", glimpse),
            Route("/api/events", with_project(record, posted=True), methods=["POST"]),
            Route("/api/undo", with_project(undo, posted=True), methods=["POST"]),
            Route("/api/look", with_project(look, posted=True), methods=["POST"]),
            Route("/api/audit", with_project(audit, posted=True), methods=["POST"]),
            Route("/api/map", with_project(map_)),
            Route("/api/map/points", with_project(points)),
            Route("/api/map/values", with_project(values)),
            Route("/api/map/labels", with_project(labelled)),
            Route("/api/choices", with_project(choices)),
            Route("/api/map/item", with_project(at_index)),
            Route("/api/map/items", with_project(at_indices, posted=True), methods=["POST"]),
            Route("/api/review", with_project(table)),
            Route("/api/export", with_project(export)),
            Route("/api/export/preview", with_project(preview)),
            Route("/api/import", import_, methods=["POST"]),
        ],
        middleware=[Middleware(Guard, doors=doors)],
        exception_handlers={Exception: _failed},
        lifespan=_with_room,
    )


@asynccontextmanager
async def _with_room(app: Starlette) -> AsyncIterator[None]:
    """Threads enough for everybody: a page that waits for a question holds one or two of them."""
    to_thread.current_default_thread_limiter().total_tokens = THREADS
    yield


async def _sent(request: Request) -> dict[str, Any]:
    """The object that a request holds; an empty one if it holds none."""
    content = await request.body()
    try:
        sent = (
            parse_json(content)
            if len(content) < LONG_JSON
            else await run_in_threadpool(parse_json, content)
        )
    except ValueError:
        return {}
    return sent if isinstance(sent, dict) else {}


async def _answer(work: Callable[..., Any], *arguments: Any) -> Response:
    """What `work` gives, or its error as a status that the page understands."""
    try:
        found = await run_in_threadpool(work, *arguments)
    except (StaleError, ConflictError) as error:
        return said(409, str(error))
    except InputError as error:
        return said(422, str(error))
    except StoreError as error:
        return said(507, str(error))
    except PoiseError as error:
        return said(500, str(error))
    except (TimeoutError, CancelledError):
        return said(503, "the model needs more time, or poise is ending: try again")
    return found if isinstance(found, Response) else Answer(found)


def _given(data: dict[str, Any]) -> dict[str, Any]:
    """Without a guess or a confidence that is null, as the question says them."""
    return {k: v for k, v in data.items() if v is not None or k not in ("guess", "confidence")}


def _judged(project: Project, who: str) -> None:
    """Wait until an audit has a prediction to judge; that of some answers ago will do."""
    held = project.state.open.get(who)
    if held is not None and held.purpose == "audit" and project.newest is None:
        project.predictions().result(PATIENT)


def _judge(project: Project, event: Event) -> None:
    """Add the prediction that an audit's answer judges, if the page did not know it yet."""
    node = project.index.get(event.items[0])
    if node is not None and "guess" not in event.data:
        guess, confidence = views.judged(project, node)
        event.data.update(_given({"guess": guess, "confidence": confidence}))


def _place(project: Project, index: object) -> int:
    number = index if type(index) is int else _number(index) if isinstance(index, str) else None
    if number is None or not 0 <= number < len(project.catalogue):
        raise InputError(
            f"index is {str(index)[:20]!r}: expected 0 to {len(project.catalogue) - 1}"
        )
    return number


def _number(text: str) -> int | None:
    """A whole number in ASCII digits, if it is one."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else None


async def _failed(request: Request, error: Exception) -> Response:
    """One sentence for what nobody foresaw; the server logs it with its traceback."""
    words = f"poise failed ({type(error).__name__}): the terminal that it runs in says more"
    response = said(500, words)
    response.headers.update(HEADERS)  # this one does not pass the guard
    return response


def _preparing(**more: str) -> Response:
    return Answer({"preparing": True} | more, status_code=202)


def _static(name: str) -> Response:
    """A file of the page, by its exact name."""
    kind = TYPES.get(name.rpartition(".")[2])
    file = FILES.get(name)
    if file is None or kind is None:
        return said(404, "there is no such file")
    return Response(file.read_bytes(), media_type=kind)


FILES = {file.name: file for file in files("poise.studio").joinpath("static").iterdir()}
