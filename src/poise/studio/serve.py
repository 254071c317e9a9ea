"""Listening: on this machine alone, at an address that nobody can guess, unless asked otherwise."""

import secrets
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from poise.data.embeddings.items import extra
from poise.errors import InputError
from poise.studio.lock import only_writer
from poise.studio.opening import Bar, Opening

HERE = "127.0.0.1"


def serve(
    opening: Opening,
    *,
    host: str = HERE,
    port: int = 0,
    password: str = "",
    names: bool = False,
    ready: Callable[[str], None],
    failed: Callable[[Exception], None] = lambda error: None,
    bar: Bar | None = None,
) -> None:
    """Open a project and serve it until interrupted; `ready` is called with the address.

    The page shows how the opening goes, and so does `bar`. If it fails, `failed` is called, and the
    page says why and can try again; the error is raised when the server ends.
    """
    uvicorn = extra("uvicorn", "app", "the labelling app")
    extra("starlette", "app", "the labelling app")
    from poise.studio.guard import Doors
    from poise.studio.server import make_app

    if host != HERE and not password:
        raise InputError(f"others can reach {host}: give a password, or leave --host out")
    listener = _listen(host, port)
    port = listener.getsockname()[1]
    token = secrets.token_urlsafe(24)
    known = {HERE, "localhost"} | ({host, socket.gethostname()} if password else set())
    doors = Doors(token, frozenset(f"{name}:{port}" for name in known), password, port)
    app = make_app(opening, doors, names=names)
    server: Any = uvicorn.Server(
        uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=2)
    )

    def ended() -> None:
        if opening.error is not None:
            failed(opening.error)

    shown = HERE if host in ("0.0.0.0", "::") else host
    address = f"http://{shown}:{port}/" + ("" if password else f"?token={token}")
    try:
        with only_writer(opening.source.place, address), _ended_by_sigterm():
            ready(address)
            opening.start(bar, ended)
            try:
                server.run(sockets=[listener])
            finally:
                opening.close()
    finally:
        listener.close()
    if opening.error is not None:
        raise opening.error


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Let SIGTERM end things in order, as Ctrl-C does.

    The server passes the signal on when it has stopped, and by default that kills the process
    before the log is closed.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may say what a signal does
        return

    def end(number: int, frame: object) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(100)  # whoever comes before the server does waits
    except OSError as error:
        listener.close()
        raise InputError(
            f"{host}, port {port} cannot be listened at ({error.strerror}): choose another"
        ) from None
    return listener
