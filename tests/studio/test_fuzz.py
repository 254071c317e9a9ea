"""Hostile requests to every address are refused in words, and never make the server fail."""

import asyncio
import json
from contextlib import contextmanager
from urllib.parse import quote

import httpx
import pytest
from crowds import opened

from poise.studio.log.events import KINDS
from poise.studio.log.settings import DEFAULTS, LARGEST_TAU
from poise.studio.web.guard import HEADERS, Doors
from poise.studio.web.handlers.questions import ACCEPTED
from poise.studio.web.openapi import openapi
from poise.studio.web.server import make_app

TEXTS = ("", "²", "٣", "9" * 5000, "-1", "1e999", "NaN", "\x00", "a" * 3000, "[]", "../..", "item0")
TEXTS += ("-0", "1.5", "%", "𝟙", "9" * 19, "\U0001f600")
VALUES = ("²", "9" * 5000, -1, 1e308, "\ud800", "\x00", None, [], {}, [1], {"a": 1}, True, "item0")
VALUES += (["item0"], [["item0"]], 10**400, 2**63, "x" * 5000, [None], {"item0": "x"}, [{}], 1e300)
VALUES += (["\ud800"], {"item0": 1e308}, {"\ud800": 1})
RAW = (b"", b"[" * 100_000, b"{" * 10_000, b'{"data":1e999}', b"\xff", b"NaN", b"9" * 5000)
RAW += (b'{"kind":"setting","data":{"name":"tau","value":1e999},"client":"c"}',)
RAW += (b'{"kind":"class","data":{"name":' + b"[" * 500 + b"]" * 500 + b'},"client":"c"}',)
#: Rows of a file to import, of which one thing is wrong.
LINES = ("id", "source", "label", "by", "time")


class Waiting:
    """A client whose requests are waited for."""

    def __init__(self, runner, client):
        self.runner, self.client = runner, client

    def get(self, path, **options):
        return self.runner.run(self.client.get(path, **options))

    def post(self, path, **options):
        return self.runner.run(self.client.post(path, **options))


@contextmanager
def inside(project, names=False):
    """The app without a socket, to somebody who is in. What fails there is an answer with 500."""
    doors = Doors("token", frozenset({"here:1"}), port=1)
    app = make_app(opened(project), doors, names=names)
    headers = {"Origin": "http://here:1", "Cookie": "poise-1=token"}
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    client = httpx.AsyncClient(transport=transport, base_url="http://here:1", headers=headers)
    with asyncio.Runner() as runner:
        yield Waiting(runner, client)


def bodies(value, path, fields):
    """Objects in which one thing is wrong."""
    usual = {"items": ["item0"], "label": "left", "name": "x", "value": 1, "event": 1}
    usual |= {"to": "y", "into": "left", "names": ["left", "x"], "colour": 1}
    whole = {"kind": "label", "data": {"items": ["item0"], "label": "left"}, "client": "c"}
    yield value
    for name in fields:
        yield whole | {name: value}
    if path != "/api/events":
        return
    for kind in ACCEPTED:
        needed, allowed = KINDS[kind]
        data = {name: usual[name] for name in needed}
        for name in needed | allowed | {"unknown"}:
            yield {"kind": kind, "data": data | {name: value}, "client": f"{kind} {name}"}
    for name in DEFAULTS:
        yield {"kind": "setting", "data": {"name": name, "value": value}, "client": f"set {name}"}


def files(value):
    """Contents of files to import, by their endings."""
    for name in LINES:
        row = {"id": "item0", "label": "left", "by": "ben"} | {name: value}
        yield "x.jsonl", json.dumps(row).encode()
        text = json.dumps(value)
        yield "x.csv", f'id,label,{name}\nitem0,left,"{text}"\n'.encode()


def posts(path, described):
    """What is posted to an address: (query, content)."""
    if path == "/api/import":
        for name in ("x.jsonl", "x.csv", "x.parquet", "²", ""):
            yield from (({"name": name}, content) for content in RAW)
        for value in VALUES:
            yield from (({"name": name}, content) for name, content in files(value))
        return
    fields = described["requestBody"]["content"]["application/json"]["schema"]["properties"]
    yield from (({}, content) for content in RAW)
    for value in VALUES:
        for body in bodies(value, path, fields):
            yield {}, json.dumps(body).encode()


def test_no_request_makes_the_server_fail(project):
    failed = {}

    def look(what, response):
        if response.status_code >= 500:
            failed[what] = (response.status_code, response.text[:100])

    with inside(project) as client:
        for path, methods in openapi()["paths"].items():
            for text in TEXTS if "{" in path else ():
                response = client.get(
                    path.replace("{id}", quote(text)).replace("{number}", quote(text))
                )
                look((path, text), response)
            place = path.replace("{id}", "item0").replace("{number}", "0")
            if "get" in methods:
                for given in methods["get"]["parameters"]:
                    for text in TEXTS:
                        response = client.get(place, params={given["name"]: text})
                        look((path, given["name"], text), response)
                continue
            kind = "application/octet-stream" if path == "/api/import" else "application/json"
            for query, content in posts(path, methods["post"]):
                response = client.post(
                    place, content=content, headers={"Content-Type": kind}, params=query
                )
                look((path, content[:120]), response)
        assert failed == {}
        # Whatever was sent, questions go on.
        assert client.get("/api/question").json()["question"]["item"]


def test_no_annotator_makes_the_server_fail(project):
    with inside(project, names=True) as client:
        for text in TEXTS:
            assert client.get("/api/state", params={"annotator": text}).status_code in (200, 422)
        for value in VALUES:
            content = json.dumps({"client": "c", "annotator": value}).encode()
            headers = {"Content-Type": "application/json"}
            response = client.post("/api/undo", content=content, headers=headers)
            assert response.status_code in (200, 422)


@pytest.mark.parametrize(
    "tau", [1e300, 1e17, 10**400, 1e-300, LARGEST_TAU], ids=lambda tau: f"{float(min(tau, 1e308))}"
)
def test_no_decay_stops_the_questions(project, tau):
    with inside(project) as client:
        body = {"kind": "setting", "data": {"name": "tau", "value": tau}, "client": "c"}
        response = client.post("/api/events", json=body)
        assert response.status_code == (200 if tau <= LARGEST_TAU else 422)
        assert client.get("/api/question").json()["question"]["item"]


def test_an_unexpected_error_is_one_sentence(project, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError

    monkeypatch.setattr("poise.studio.web.views.history", broken)
    with inside(project) as client:
        response = client.get("/api/history")
    assert response.status_code == 500
    assert response.json() == {
        "error": "poise failed (ZeroDivisionError): the terminal that it runs in says more"
    }
    assert {name: response.headers.get(name) for name in HEADERS} == HEADERS
