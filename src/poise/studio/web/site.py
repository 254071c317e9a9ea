"""What every handler knows, and how a request becomes an answer."""

import secrets
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from poise.data.text import parse_json
from poise.errors import InputError, PoiseError
from poise.studio.log.events import check_name
from poise.studio.log.state import StaleError
from poise.studio.log.store import ConflictError, StoreError
from poise.studio.opening import Opening
from poise.studio.project import Project
from poise.studio.web import views
from poise.studio.web.guard import Answer, Doors, refusal

#: Seconds that a request waits for a computation before it is answered without the result.
REQUEST_WAIT_SECONDS = 20.0
#: Above this many bytes, JSON is parsed in a thread, so that the event loop stays free.
LONG_JSON_BYTES = 100_000


@dataclass(frozen=True)
class Site:
    """One running app.

    Attributes
    ----------
    opening : the project, open or still being prepared
    doors : who may use the app
    names : whether people must say who they are
    description : the OpenAPI document
    run : of this process. A page that was open before must not show what it remembers of another
    """

    opening: Opening
    doors: Doors
    names: bool = False
    description: Mapping[str, Any] = field(default_factory=dict)
    run: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def basics(self) -> dict[str, Any]:
        """What the page is told even before there is a project."""
        return {
            "names": self.names,
            "version": 1,
            "password": bool(self.doors.password),
            "run": self.run,
        }

    @property
    def preparing(self) -> dict[str, Any]:
        """What the page shows while the project is being prepared."""
        return self.basics | {"preparing": self.opening.shown()}

    def summary(self, project: Project, annotator: str, **more: Any) -> dict[str, Any]:
        """Where the project stands, with this person's open question."""
        summary = views.summary(project, annotator)
        shown = {"coming": self.opening.coming(), "lacks": self.opening.lacks}
        return self.basics | more | summary | shown | self.opening.ending()

    def checked_name(self, name: object) -> str:
        """The name of the person who sends a request; empty where nobody needs one."""
        if not self.names:
            return ""
        if not isinstance(name, str) or not name:
            raise InputError("say who you are: annotator is missing")
        return check_name(name)


@dataclass(frozen=True)
class Call:
    """A request to a project that is open.

    Attributes
    ----------
    query : parameters of the address
    body : content of a POST
    sent : the JSON object in the body, empty if there is none; None for a GET
    """

    site: Site
    project: Project
    query: Mapping[str, str]
    body: bytes = b""
    sent: dict[str, Any] | None = None

    @property
    def data(self) -> dict[str, Any]:
        """The JSON object in the body."""
        return self.sent or {}

    @property
    def annotator(self) -> str:
        """Who sends this, from the body of a POST or the address of a GET."""
        fields = self.query if self.sent is None else self.sent
        return self.site.checked_name(fields.get("annotator"))

    def summary(self, **more: Any) -> dict[str, Any]:
        """Where the project stands, with the sender's open question."""
        return self.site.summary(self.project, self.annotator, **more)


Handler = Callable[[Site, Request], Awaitable[Response]]


def on_project(work: Callable[[Call], Any]) -> Handler:
    """A handler for an open project; `work` runs in a thread, and returns data or a response."""

    @wraps(work)
    async def handler(site: Site, request: Request) -> Response:
        project = site.opening.project
        if project is None:
            return refusal(503, "the project is being prepared", preparing=site.opening.shown())
        if request.method != "POST":
            return await answer(work, Call(site, project, request.query_params))
        body = await request.body()
        is_json = request.headers.get("content-type", "").startswith("application/json")
        sent = await json_object(body) if is_json else {}
        return await answer(work, Call(site, project, request.query_params, body, sent))

    return handler


async def json_object(body: bytes) -> dict[str, Any]:
    """The JSON object in a body; an empty one if it holds anything else."""
    try:
        if len(body) < LONG_JSON_BYTES:
            sent = parse_json(body)
        else:
            sent = await run_in_threadpool(parse_json, body)
    except ValueError:
        return {}
    return sent if isinstance(sent, dict) else {}


async def answer(work: Callable[..., Any], *arguments: Any) -> Response:
    """What `work` returns, or its error as a status that the page understands."""
    try:
        result = await run_in_threadpool(work, *arguments)
    except (StaleError, ConflictError) as error:
        return refusal(409, str(error))
    except InputError as error:
        return refusal(422, str(error))
    except StoreError as error:
        return refusal(507, str(error))
    except PoiseError as error:
        return refusal(500, str(error))
    except (TimeoutError, CancelledError):
        return refusal(503, "the model needs more time, or poise is ending: try again")
    return result if isinstance(result, Response) else Answer(result)


def preparing(**more: str) -> Response:
    """A result that is still being computed: ask again."""
    return Answer({"preparing": True} | more, status_code=202)


def whole_number(text: str) -> int | None:
    """A whole number in ASCII digits, if it is one."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else None
