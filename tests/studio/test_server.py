"""The app over HTTP: what it says, and whom it refuses."""

import json
import socket
import threading
import time

import httpx
import pytest
import uvicorn
from crowds import truth

from poise.studio.server import COOKIE, LARGEST, make_app

TOKEN = "the-token-of-this-test"


@pytest.fixture
def stranger(project):
    """Somebody on this machine who does not know the token; over a real socket."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    host = f"127.0.0.1:{listener.getsockname()[1]}"
    app = make_app(project, TOKEN, frozenset({host}))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    while not server.started:
        time.sleep(0.01)
    with httpx.Client(base_url=f"http://{host}", trust_env=False) as made:
        yield made
    server.should_exit = True
    thread.join()
    listener.close()


@pytest.fixture
def client(stranger):
    stranger.cookies.set(COOKIE, TOKEN)
    return stranger


def own(client):
    """The headers of the server's own page."""
    return {"Origin": str(client.base_url).rstrip("/")}


def send(client, body, headers=None, path="/api/events"):
    return client.post(path, json=body, headers=own(client) if headers is None else headers)


def answer(client, state):
    question = state["question"]
    body = {
        "kind": "label",
        "data": {"items": [question["item"]], "label": truth(question["item"])},
        "versions": {question["item"]: question["version"]},
        "client": f"answer to {question['item']}",
    }
    return send(client, body)


def test_labelling_through_the_interface(client):
    state = client.get("/api/state").json()
    assert [one["name"] for one in state["classes"]] == ["left", "right"]
    assert state["question"]["guess"] is None
    for number in range(1, 8):
        response = answer(client, state)
        assert response.status_code == 200
        state = response.json()
        assert state["answers"] == number
    assert state["question"]["guess"] in ("left", "right")
    assert state["question"]["nearest"]
    assert sum(one["count"] for one in state["classes"]) == 7


def test_a_retry_is_harmless_and_a_stale_tab_is_told(client):
    state = client.get("/api/state").json()
    first, second = answer(client, state), answer(client, state)
    assert first.status_code == second.status_code == 200
    assert first.json()["seq"] == second.json()["seq"]
    item = state["question"]["item"]
    late = {
        "kind": "label",
        "data": {"items": [item], "label": "right"},
        "versions": {item: 0},
        "client": "late",
    }
    response = send(client, late)
    assert response.status_code == 409
    assert "changed elsewhere" in response.json()["error"]


def test_undo(client):
    state = client.get("/api/state").json()
    item = state["question"]["item"]
    answer(client, state)
    found = send(client, {"client": "u1"}, path="/api/undo").json()
    assert found["undone"]["data"]["items"] == [item]
    assert found["question"]["item"] == item
    again = send(client, {"client": "u1"}, path="/api/undo").json()
    assert again["undone"] == found["undone"], "a retry takes back nothing more"
    assert send(client, {"client": "u2"}, path="/api/undo").json()["undone"] is None


def test_the_page_and_its_parts_are_served_strictly(client):
    for path, kind in (("/", "text/html"), ("/static/studio.js", "text/javascript")):
        response = client.get(path)
        assert response.status_code == 200
        assert response.headers["content-type"].startswith(kind)
        assert "default-src 'none'" in response.headers["content-security-policy"]
        assert response.headers["x-content-type-options"] == "nosniff"
    assert "<script>" not in client.get("/").text


def test_items_by_id_only(client):
    assert json.loads(client.get("/api/items/item0").text)
    for path in ("nothing", "..%2f..%2fetc%2fpasswd", "%2e%2e", "item0%00"):
        assert client.get(f"/api/items/{path}").status_code == 404
    assert client.get("/static/..%2fserver.py").status_code == 404


def test_export(client):
    state = client.get("/api/state").json()
    for _ in range(6):
        state = answer(client, state).json()
    lines = client.get("/api/export").text.splitlines()
    assert lines[0] == "id,label,by,confidence,time"
    assert len(lines) == 61
    rows = [json.loads(line) for line in client.get("/api/export?format=jsonl").text.splitlines()]
    assert sum(row["by"] == "person" for row in rows) == 6
    assert all(row["confidence"] is None for row in rows if row["by"] == "person")
    assert client.get("/api/export?format=exe").status_code == 422


def test_the_token_becomes_a_cookie_that_scripts_cannot_read(stranger):
    assert stranger.get("/").status_code == 403
    assert stranger.get("/api/state").status_code == 403
    assert stranger.get("/?token=guess").status_code == 403
    entered = stranger.get(f"/?token={TOKEN}")
    assert entered.status_code == 303
    assert entered.headers["location"] == "/"
    cookie = entered.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert stranger.get("/api/state").status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {},
        {"Host": "evil.example"},
        {"Host": "127.0.0.1:1"},
    ],
)
def test_pages_elsewhere_cannot_write(client, project, headers):
    before = project.state.last
    if "Host" in headers:
        headers = headers | own(client)
    response = send(client, {"kind": "class", "data": {"name": "x"}, "client": "c"}, headers)
    assert response.status_code in (403, 421)
    assert project.state.last == before


def test_another_name_is_not_served(client):
    """A page elsewhere whose name points to this machine (DNS rebinding)."""
    assert client.get("/api/state", headers={"Host": "rebound.example:8123"}).status_code == 421


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"", 422),
        (b"not json", 422),
        (b"[]", 422),
        (b"null", 422),
        (b'{"kind": "label"}', 422),
        (b'{"kind": "explode", "data": {}, "client": "c"}', 422),
        (b'{"kind": "ask", "data": {"item": "item0"}, "client": "c"}', 422),
        (b'{"kind": "label", "data": {"items": ["item0"], "label": "no"}, "client": "c"}', 422),
        (b'{"kind": "label", "data": {"items": ["no"], "label": "left"}, "client": "c"}', 422),
        (b'{"kind": "class", "data": {"name": "x"}, "client": "c", "versions": [1]}', 422),
        (b'{"kind": "class", "data": [], "client": "c"}', 422),
        (b"{" * 5_000, 422),
        (b"x" * (LARGEST + 1), 413),
    ],
)
def test_hostile_bodies_change_nothing(client, project, content, status):
    before = project.state.last
    headers = own(client) | {"Content-Type": "application/json"}
    response = client.post("/api/events", content=content, headers=headers)
    assert response.status_code == status
    assert "error" in response.json()
    assert project.state.last == before


def test_forms_of_other_pages_are_refused(client):
    response = client.post("/api/events", data={"kind": "class"}, headers=own(client))
    assert response.status_code == 415
