"""The server of the app: by default for this machine alone, at an address with a secret token."""

import re
import secrets
import signal
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from poise.errors import InputError
from poise.extras import needed
from poise.studio.log.lock import only_writer
from poise.studio.opening import Bar, Opening
from poise.studio.web.allocator import give_memory_back

THIS_MACHINE = "127.0.0.1"
#: Where a proxy serves the app: scheme, name, port and path, of which only the path is required.
ROOT = re.compile(r"(?:(https?)://([\w.-]+)(?::(\d{1,5}))?)?((?:/[\w.~-]+)*)/?", re.ASCII)


def serve(
    opening: Opening,
    *,
    host: str = THIS_MACHINE,
    port: int = 0,
    password: str = "",
    names: bool = False,
    certificate: tuple[Path, Path] | None = None,
    root_path: str = "",
    ready: Callable[[list[str]], None],
    failed: Callable[[Exception], None] = lambda error: None,
    bar: Bar | None = None,
) -> None:
    """Open a project and serve it until interrupted.

    The page shows the progress of the opening. If that fails, the page says why and can try again;
    the error is raised when the server ends.

    Parameters
    ----------
    names : whether people must say who they are
    certificate : a certificate and its key, to serve by HTTPS
    root_path : where a proxy serves the app: a path, or a whole address if the proxy has a name of
        its own
    ready : called with the addresses of the page
    failed : called if the opening fails
    bar : shows the progress on the terminal
    """
    uvicorn = needed("uvicorn", "app", "the labelling app")
    give_memory_back()
    needed("starlette", "app", "the labelling app")
    from poise.studio.web.guard import Doors
    from poise.studio.web.server import make_app

    if host != THIS_MACHINE and not password:
        raise InputError(f"others can reach {host}: set a password, or leave --host out")
    origin, root = proxied(root_path)
    if certificate is not None:
        _check_certificate(*certificate)
    listener = _listen(host, port)
    port = listener.getsockname()[1]
    token = secrets.token_urlsafe(24)
    known = {THIS_MACHINE, "localhost"} | ({host, socket.gethostname()} if password else set())
    scheme = "http" if certificate is None else "https"
    hosts = frozenset(f"{name}:{port}" for name in known)
    doors = Doors(token, hosts, password, port, scheme, root, origin)
    app = make_app(opening, doors, names=names)
    server: Any = uvicorn.Server(
        uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=2,
            proxy_headers=bool(root_path),  # only a proxy may state another client address
            ssl_certfile=None if certificate is None else certificate[0],
            ssl_keyfile=None if certificate is None else certificate[1],
        )
    )

    def ended() -> None:
        if opening.error is not None:
            failed(opening.error)

    end = "" if password else f"?token={token}"
    origins = [f"{scheme}://{_bracketed(name)}:{port}" for name in _reached_as(host)]
    addresses = [f"{each}{root}/{end}" for each in ([origin] if origin else origins)]
    try:
        with only_writer(opening.source.project_folder, addresses[0]), _ended_by_sigterm():
            ready(addresses)
            opening.start(bar, ended)
            try:
                server.run(sockets=[listener])
            finally:
                opening.close()
    finally:
        listener.close()
    if opening.error is not None:
        raise opening.error


def proxied(root_path: str) -> tuple[str, str]:
    """Scheme and name of the proxy, empty if only a path is given; and the path without a slash."""
    match = ROOT.fullmatch(root_path)
    if match is None:
        raise InputError(
            f"--root-path is {root_path!r}: expected a path such as /poise, or the whole address "
            "such as https://label.example/poise"
        )
    scheme, name, port, path = match.groups()
    if scheme is None:
        return "", path
    usual = {"http": "80", "https": "443"}[scheme]  # which browsers leave out
    return f"{scheme}://{name.lower()}" + (f":{port}" if port not in (None, usual) else ""), path


def _check_certificate(certificate: Path, key: Path) -> None:
    try:
        # With an empty password, so that OpenSSL does not ask for one on the terminal.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, lambda: "")
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
        raise InputError(
            f"{certificate} and {key} cannot be used ({reason}): expected a certificate in PEM "
            "format and its private key, not encrypted"
        ) from None


def _reached_as(host: str) -> list[str]:
    """Names of the server in addresses, this machine's own first."""
    if host not in ("0.0.0.0", "::"):
        return [host]
    names = [THIS_MACHINE, socket.gethostname()]
    # The address of the interface that leads to other networks; connecting sends nothing.
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))
        names.append(probe.getsockname()[0])
    return list(dict.fromkeys(names))


def _bracketed(name: str) -> str:
    return f"[{name}]" if ":" in name else name


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Make SIGTERM end the program in order, as Ctrl-C does.

    The server raises the signal again when it has stopped. By default that kills the process before
    the log is closed.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may handle signals
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
        listener.listen(100)  # requests before the server is up wait
    except OSError as error:
        listener.close()
        raise InputError(
            f"cannot listen on {host}, port {port} ({error.strerror}): choose another port or host"
        ) from None
    return listener
