"""Listening: on this machine alone, at an address that nobody can guess."""

import secrets
import socket
from collections.abc import Callable

from poise.data.embeddings.items import extra
from poise.errors import InputError
from poise.studio.project import Project


def serve(project: Project, port: int, ready: Callable[[str], None]) -> None:
    """Serve a project until interrupted; `ready` is called with the address."""
    uvicorn = extra("uvicorn", "app", "the labelling app")
    extra("starlette", "app", "the labelling app")
    from poise.studio.server import make_app

    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.bind(("127.0.0.1", port))
        listener.listen(100)  # whoever comes before the server does waits
    except OSError as error:
        listener.close()
        raise InputError(f"port {port} is not free ({error.strerror}): choose another") from None
    port = listener.getsockname()[1]
    token = secrets.token_urlsafe(24)
    hosts = frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})
    app = make_app(project, token, hosts)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False))
    ready(f"http://127.0.0.1:{port}/?token={token}")
    try:
        server.run(sockets=[listener])
    finally:
        project.close()
        listener.close()
