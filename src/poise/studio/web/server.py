"""The app as a web application; `routes.py` lists its addresses."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from anyio import to_thread
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response

from poise.studio.opening import Opening
from poise.studio.web.guard import HEADERS, Doors, Guard, refusal
from poise.studio.web.openapi import openapi
from poise.studio.web.routes import routes
from poise.studio.web.site import Site

#: Requests that are handled, or wait, at the same time.
MAX_THREADS = 200


def make_app(opening: Opening, doors: Doors, *, names: bool = False) -> Starlette:
    """The app of one project; with `names`, people must say who they are."""
    return Starlette(
        routes=routes(Site(opening, doors, names, openapi(doors.root))),
        middleware=[Middleware(Guard, doors=doors)],
        exception_handlers={Exception: _failed},
        lifespan=_with_enough_threads,
    )


@asynccontextmanager
async def _with_enough_threads(app: Starlette) -> AsyncIterator[None]:
    """Threads for everybody: a page that waits for a question holds one or two of them."""
    to_thread.current_default_thread_limiter().total_tokens = MAX_THREADS
    yield


async def _failed(request: Request, error: Exception) -> Response:
    """One sentence for an unexpected error; the server logs it with its traceback."""
    words = f"poise failed ({type(error).__name__}): the terminal that it runs in says more"
    response = refusal(500, words)
    response.headers.update(HEADERS)  # this response does not pass the guard
    return response
