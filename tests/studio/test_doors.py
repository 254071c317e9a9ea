"""Access: logins, certificates, proxies and large requests."""

import json
import re
import shutil
import socket
import ssl
import subprocess
import threading
from contextlib import contextmanager

import httpx
import pytest
import uvicorn
from browser import opened as pictures
from crowds import opened
from test_server import TOKEN, own, send, served
from test_server import client as client  # a fixture
from test_server import stranger as stranger  # a fixture

from poise.errors import InputError
from poise.studio.opening import Opening, Source
from poise.studio.web.guard import MAX_LOGIN_BYTES
from poise.studio.web.logins import (
    FREE_ATTEMPTS,
    HOUR_SECONDS,
    LOGIN_SECONDS,
    MAX_ADDRESSES,
    MAX_LOGINS,
    MAX_PAUSE_SECONDS,
    Logins,
)
from poise.studio.web.openapi import openapi
from poise.studio.web.serve import proxied, serve


class Clock:
    """Time that passes when told."""

    now = 1000.0

    def __call__(self):
        return self.now


def tried(logins, address):
    """Try a wrong password; whether it was looked at."""
    if logins.wait(address):
        return False
    logins.wrong(address)
    return True


class TestLogins:
    def test_guesses_slow_down_their_own_address_only(self):
        clock = Clock()
        logins = Logins(clock)
        assert sum(tried(logins, "192.0.2.1") for _ in range(100)) == FREE_ATTEMPTS + 1
        assert logins.wait("192.0.2.2") == 0, "an address of its own"
        looked_at = 0
        for _ in range(int(HOUR_SECONDS)):
            clock.now += 1
            looked_at += tried(logins, "192.0.2.1")
        assert looked_at <= HOUR_SECONDS / MAX_PAUSE_SECONDS + 10
        assert logins.wait("192.0.2.1") <= MAX_PAUSE_SECONDS
        assert logins.wait("192.0.2.2") == 0

    def test_many_addresses_share_one_pause(self):
        clock = Clock()
        logins = Logins(clock)
        guessers = [f"192.0.2.{number}" for number in range(50)]
        for _ in range(FREE_ATTEMPTS):
            assert all(tried(logins, one) for one in guessers)
        for _ in range(20):
            clock.now += MAX_PAUSE_SECONDS
            assert sum(tried(logins, one) for one in guessers) == 1

    def test_wrong_passwords_expire_after_an_hour(self):
        clock = Clock()
        logins = Logins(clock)
        for _ in range(20):
            tried(logins, "192.0.2.1")
            clock.now += MAX_PAUSE_SECONDS
        clock.now += 2 * HOUR_SECONDS
        assert sum(tried(logins, "192.0.2.1") for _ in range(100)) == FREE_ATTEMPTS + 1
        assert logins.wait("192.0.2.1") == 1

    def test_addresses_of_one_network_count_together(self):
        logins = Logins(Clock())
        found = [tried(logins, f"2001:db8::{number:x}") for number in range(20)]
        assert sum(found) == FREE_ATTEMPTS + 1
        assert logins.wait("2001:db8:1::1") == 0
        assert logins.wait("::ffff:192.0.2.1") == 0
        assert logins.wait("a name") == 0

    def test_memory_is_bounded(self):
        logins = Logins(Clock())
        for number in range(MAX_ADDRESSES + 10):
            logins.wrong(str(number))
        first = logins.begin()
        kept = [logins.begin() for _ in range(MAX_LOGINS)]
        assert not logins.is_valid(first), "the oldest ends"
        assert all(map(logins.is_valid, kept))

    def test_sessions_end(self):
        clock = Clock()
        logins = Logins(clock)
        one, other = logins.begin(), logins.begin()
        assert one != other
        logins.end(one)
        assert (logins.is_valid(one), logins.is_valid(other)) == (False, True)
        clock.now += LOGIN_SECONDS
        assert not logins.is_valid(other)
        assert not logins.is_valid("")


def test_every_login_has_its_own_session(project):
    with served(opened(project), password="open sesame") as one:
        assert send(one, {"password": "open sesame"}, path="/login").status_code == 200
        first = dict(one.cookies)
        assert TOKEN not in first.values()
        one.cookies.clear()
        assert send(one, {"password": "open sesame"}, path="/login").status_code == 200
        assert dict(one.cookies) != first
        assert send(one, {}, path="/logout").status_code == 200
        assert not one.cookies
        assert one.get("/api/state").status_code == 403
        one.cookies.update(first)
        assert one.get("/api/state").status_code == 200, "the other session goes on"
        assert one.get("/api/state").json()["password"] is True


def test_guesses_lock_out_nobody_who_is_logged_in(project):
    with served(opened(project), password="open sesame") as client:
        assert send(client, {"password": "open sesame"}, path="/login").status_code == 200
        known = dict(client.cookies)
        client.cookies.clear()
        found = [send(client, {"password": "x"}, path="/login").status_code for _ in range(9)]
        assert found == [403] * (FREE_ATTEMPTS + 1) + [429] * (8 - FREE_ATTEMPTS)
        right = send(client, {"password": "open sesame"}, path="/login")
        assert right.status_code == 429, "from the guesser's own address"
        assert "wait" in right.json()["error"]
        client.cookies.update(known)
        assert client.get("/api/state").status_code == 200


@pytest.mark.parametrize("password", ["\ud800", ["open sesame"], None, 1, {"a": 1}])
def test_odd_passwords_are_wrong_passwords(project, password):
    with served(opened(project), password="open sesame") as client:
        content = json.dumps({"password": password}).encode()
        headers = own(client) | {"Content-Type": "application/json"}
        assert client.post("/login", content=content, headers=headers).status_code == 403


def test_strangers_may_only_send_a_password(project):
    with served(opened(project), password="open sesame") as client:
        long = {"password": "x" * MAX_LOGIN_BYTES}
        assert send(client, long, path="/login").status_code == 413
        headers = own(client) | {"Content-Type": "application/json"}
        pieces = client.post("/login", content=iter([b"{}"]), headers=headers)
        assert pieces.status_code == 413, "of no known length"


def test_requests_with_two_lengths_are_refused(project):
    """One could be checked and the other one read."""
    with served(opened(project), password="open sesame") as client:
        host = f"127.0.0.1:{client.base_url.port}"
        lines = [
            "POST /login HTTP/1.1",
            f"Host: {host}",
            f"Origin: http://{host}",
            "Content-Type: application/json",
            "Content-Length: 2",
            "Transfer-Encoding: chunked",
        ]
        with socket.create_connection(("127.0.0.1", client.base_url.port), timeout=20) as plain:
            plain.sendall("\r\n".join([*lines, "", "2", "{}", "0", "", ""]).encode())
            assert plain.recv(100).split()[1] in (b"400", b"413")


def test_large_bodies_are_parsed_beside_the_loop(client, monkeypatch):
    threads = set()

    def noted(content):
        threads.add(threading.current_thread().name)
        return {}

    monkeypatch.setattr("poise.studio.web.site.parse_json", noted)
    send(client, {"client": "x"}, path="/api/undo")
    (loop,) = threads
    send(client, {"client": "x" * 200_000}, path="/api/undo")
    assert len(threads) == 2
    assert loop in threads


def test_without_the_token_the_page_explains_itself(stranger):
    for path in ("/", "/?token=old"):
        response = stranger.get(path)
        assert response.status_code == 403
        assert response.headers["content-type"].startswith("text/html")
        assert "open the whole address that <code>poise label</code> printed" in response.text
    assert "error" in stranger.get("/api/state").json()


@pytest.mark.parametrize("password", ["", "open sesame"])
def test_health_is_open_to_everybody_and_says_nothing_else(project, password):
    with served(opened(project), password=password) as client:
        answer = client.get("/api/health")
        assert (answer.status_code, answer.json()) == (200, {"ok": True})
        assert not answer.cookies
        assert client.get("/api/health", headers={"Host": "evil.example"}).status_code == 421
        assert send(client, {}, path="/api/health").status_code != 200
        assert client.get("/api/health/").status_code == 403, "only this one address"


def test_health_is_described_as_open():
    operation = openapi()["paths"]["/api/health"]["get"]
    assert operation["security"] == []
    assert "security" not in openapi()["paths"]["/api/state"]["get"]


# A proxy ----------------------------------------------------------------------------------------


@contextmanager
def behind(client, root, strip, host):
    """A proxy that serves the app at a path of its own, with that path passed on or not."""
    app = str(client.base_url).rstrip("/")

    async def proxy(scope, receive, send):
        path = scope["raw_path"].decode()
        assert path.startswith(root)
        headers = [(n, v) for n, v in scope["headers"] if n != b"host"]
        if host is not None:
            headers.append((b"host", host.encode()))
        body = b""
        while (message := await receive()).get("more_body"):
            body += message["body"]
        body += message.get("body", b"")
        query = f"?{scope['query_string'].decode()}" if scope["query_string"] else ""
        target = f"{app}{path.removeprefix(root) if strip else path}{query}"
        async with httpx.AsyncClient(trust_env=False) as way:
            found = await way.request(scope["method"], target, headers=headers, content=body)
        kept = [(n.lower(), v) for n, v in found.headers.raw]
        await send({"type": "http.response.start", "status": found.status_code, "headers": kept})
        await send({"type": "http.response.body", "body": found.content})

    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(proxy, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


@pytest.mark.parametrize("strip", [True, False])
@pytest.mark.parametrize("keeps_host", [True, False])
def test_behind_a_proxy(project, strip, keeps_host):
    origin = "http://label.example"
    with served(opened(project), root="/tools/poise", origin=origin) as client:
        host = "label.example" if keeps_host else None
        with behind(client, "/tools/poise", strip, host) as port:
            place = f"http://127.0.0.1:{port}/tools/poise"
            with httpx.Client(trust_env=False) as browser:
                if not strip:  # else the proxy must add the slash: only it can tell
                    assert browser.get(place).headers["location"] == "/tools/poise/"
                entered = browser.get(f"{place}/?token={TOKEN}")
                assert entered.headers["location"] == "/tools/poise/"
                assert "Path=/tools/poise;" in entered.headers["set-cookie"]
                page = browser.get(f"{place}/")
                assert page.status_code == 200
                assert browser.get(f"{place}/static/app.js").status_code == 200
                described = browser.get(f"{place}/api/openapi.json").json()
                assert described["servers"] == [{"url": "/tools/poise"}]
                assert browser.get(f"{place}/api/question").json()["question"]["item"]
                body = {"kind": "class", "data": {"name": "new"}, "client": "c"}
                for given, status in ((origin, 200), ("http://evil.example", 403), ("", 403)):
                    headers = {"Origin": given} if given else {}
                    response = browser.post(f"{place}/api/events", json=body, headers=headers)
                    assert response.status_code == status


def test_the_page_uses_no_absolute_paths(client):
    pages = [client.get(path).text for path in ("/", "/static/login.html")]
    names = {name for text in pages for name in re.findall(r'"/?static/([\w.-]+)"', text)}
    assert "app.js" in names
    known = set()
    while names:
        known |= names
        parts = [client.get(f"/static/{name}").text for name in names]
        pages += parts
        found = {name for text in parts for name in re.findall(r'from "\./([\w.-]+)"', text)}
        found |= {name for text in parts for name in re.findall(r'import\("\./([\w.-]+)"', text)}
        names = found - known
    for text in pages:
        assert not re.findall(r"""["'`(]/(?:api|static|login|logout)\b""", text)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("", ("", "")),
        ("/", ("", "")),
        ("/poise/", ("", "/poise")),
        ("https://Label.example/poise", ("https://label.example", "/poise")),
        ("https://label.example:443", ("https://label.example", "")),
        ("http://label.example:8080/a/b/", ("http://label.example:8080", "/a/b")),
    ],
)
def test_root_paths_are_parsed(given, expected):
    assert proxied(given) == expected


@pytest.mark.parametrize("given", ["poise", "/a b", "//evil.example", "ftp://a/b", "/a?b", "/a;b"])
def test_malformed_root_paths_are_refused(given):
    with pytest.raises(InputError, match="expected a path such as /poise"):
        proxied(given)


def test_the_page_behind_a_proxy(visits, start, photos, folder):
    app = start(pictures(photos, folder), root="/tools/poise")
    page = visits.open(app.address)
    page.keyboard.press("Escape")  # the card of the keys
    app.answer(page, 2)
    assert page.url.endswith("/tools/poise/")
    for screen, part in (("map", "#map canvas"), ("review", "#review img"), ("export", "#export")):
        page.locator(f'nav [data-screen="{screen}"]').click()
        page.locator(part).first.wait_for()


# HTTPS ------------------------------------------------------------------------------------------


@pytest.fixture
def certificate(tmp_path):
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    order = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*order.split(), *names, *files], check=True, capture_output=True)
    return certificate, key


def test_https(photos, tmp_path, certificate, command):
    files = [f"--certfile={certificate[0]}", f"--keyfile={certificate[1]}"]
    app = command(photos, "--project", tmp_path / "p.poise", *files)
    assert app.address.startswith("https://127.0.0.1:")
    trusted = ssl.create_default_context(cafile=certificate[0])
    with httpx.Client(verify=trusted, trust_env=False) as browser:
        entered = browser.get(app.address)
        assert "secure" in entered.headers["set-cookie"].lower()
        place = app.address.partition("?")[0].rstrip("/")
        assert browser.get(f"{place}/").status_code == 200
        body = {"client": "c"}
        for origin, status in ((place.replace("https", "http"), 403), (place, (200, 503))):
            response = browser.post(f"{place}/api/undo", json=body, headers={"Origin": origin})
            assert response.status_code in (status if isinstance(status, tuple) else (status,))


def test_an_unusable_certificate_is_refused(tmp_path, certificate):
    other = tmp_path / "other.pem"
    other.write_text("nothing")
    gone = tmp_path / "gone.pem"
    for pair in ((other, certificate[1]), (gone, other), certificate[::-1]):
        with pytest.raises(InputError, match="cannot be used") as caught:
            serve(Opening(Source("digits")), certificate=pair, ready=print)
        assert "\n" not in str(caught.value)


def test_addresses_for_other_machines_are_printed(photos, tmp_path, command):
    folder = tmp_path / "p.poise"
    app = command(photos, "--project", folder, "--host=0.0.0.0", POISE_PASSWORD="open sesame")
    text = "".join(
        iter(app.process.stdout.readline, "Press Ctrl-C to stop; every answer is saved.\n")
    )
    assert app.address.startswith("http://127.0.0.1:")
    assert "From other machines, with the password:" in text
    assert f"http://{socket.gethostname()}:" in text
