"""The app over HTTP: its answers and its refusals."""

import json
import re
import socket
import threading
import time
from contextlib import contextmanager
from unittest.mock import ANY

import httpx
import numpy as np
import pytest
import uvicorn
from crowds import make_project, opened, truth
from starlette.routing import Route

from poise.studio.exchange import FIELDS
from poise.studio.log.events import Event
from poise.studio.opening import Opening, Source
from poise.studio.web.guard import MAX_REQUEST_BYTES, Doors
from poise.studio.web.openapi import openapi
from poise.studio.web.server import make_app

TOKEN = "the-token-of-this-test"


@contextmanager
def served(opening, password="", names=False, **options):
    """The app over a real socket, to somebody who does not know the token."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    hosts = frozenset({f"localhost:{port}", f"127.0.0.1:{port}"})
    doors = Doors(TOKEN, hosts, password, port, **options)
    app = make_app(opening, doors, names=names)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as made:
            yield made
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


def enter(client):
    """With the cookie that the token in the address is exchanged for."""
    client.cookies.set(f"poise-{client.base_url.port}", TOKEN)


@pytest.fixture
def stranger(project):
    with served(opened(project)) as made:
        yield made


@pytest.fixture
def client(stranger):
    enter(stranger)
    return stranger


def own(client):
    """The headers of the server's own page."""
    return {"Origin": str(client.base_url).rstrip("/")}


def send(client, body, headers=None, path="/api/events"):
    return client.post(path, json=body, headers=own(client) if headers is None else headers)


def state_of(client):
    """Where the project stands, once there is a question with its reasons."""
    return client.get("/api/question").json()


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
    state = state_of(client)
    assert [one["name"] for one in state["classes"]] == ["left", "right"]
    assert state["question"]["guess"] is None
    for number in range(1, 8):
        response = answer(client, state)
        assert response.status_code == 200
        assert response.json()["answers"] == number
        state = state_of(client)
    assert state["question"]["guess"] in ("left", "right")
    assert state["question"]["nearest"]
    assert sum(one["count"] for one in state["classes"]) == 7


def test_a_retry_is_harmless_and_a_stale_tab_is_told(client):
    state = state_of(client)
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
    state = state_of(client)
    item = state["question"]["item"]
    answer(client, state)
    found = send(client, {"client": "u1"}, path="/api/undo").json()
    assert found["undone"]["data"]["items"] == [item]
    assert found["question"]["item"] == item
    again = send(client, {"client": "u1"}, path="/api/undo").json()
    assert again["undone"] == found["undone"], "a retry takes back nothing more"
    assert send(client, {"client": "u2"}, path="/api/undo").json()["undone"] is None


def test_the_page_and_its_parts_are_served_strictly(client):
    for path, kind in (("/", "text/html"), ("/static/app.js", "text/javascript")):
        response = client.get(path)
        assert response.status_code == 200
        assert response.headers["content-type"].startswith(kind)
        assert "default-src 'none'" in response.headers["content-security-policy"]
        assert response.headers["x-content-type-options"] == "nosniff"
    assert "<script>" not in client.get("/").text


def test_a_browser_never_shows_what_an_item_held_before(tmp_path):
    """With --key ids stay when contents change; another project may come to the same port."""
    table, tags = tmp_path / "texts.csv", []
    for text in ("old words", "new words"):
        table.write_text(f"key,text\n1,{text}\n2,b\n3,c\n4,d\n")
        source = Source(str(table), tmp_path / "p.poise", key="key", embedding="tfidf")
        made = Opening(source).open()
        with served(opened(made)) as stranger:
            enter(stranger)
            seen = {"If-None-Match": tags[-1]} if tags else {}
            response = stranger.get("/api/items/1", headers=seen)
            assert response.text == text
            assert "no-cache" in response.headers["cache-control"]
            tags.append(response.headers["etag"])
            again = stranger.get("/api/items/1", headers={"If-None-Match": tags[-1]})
            assert (again.status_code, again.content) == (304, b"")
        made.close()
    assert tags[0] != tags[1]


def test_every_run_has_its_own_id(project):
    runs = set()
    for _ in range(2):
        with served(opened(project)) as stranger:
            enter(stranger)
            runs.add(stranger.get("/api/state").json()["run"])
    assert len(runs) == 2


def test_items_by_id_only(client):
    assert json.loads(client.get("/api/items/item0").text)
    for path in ("nothing", "..%2f..%2fetc%2fpasswd", "%2e%2e", "item0%00"):
        assert client.get(f"/api/items/{path}").status_code == 404
    assert client.get("/static/..%2fserver.py").status_code == 404


def test_export(client):
    state = state_of(client)
    for _ in range(6):
        answer(client, state)
        state = state_of(client)
    lines = client.get("/api/export").text.splitlines()
    assert lines[0] == ",".join(FIELDS)
    assert len(lines) == 61
    rows = [json.loads(line) for line in client.get("/api/export?format=jsonl").text.splitlines()]
    assert sum(row["by"] == "person" for row in rows) == 6
    assert all(row["confidence"] is None for row in rows if row["by"] == "person")
    assert client.get("/api/export?format=exe").status_code == 422
    assert client.get("/api/export?include=some").status_code == 422
    shown = client.get("/api/export/preview?include=labelled").json()
    assert (len(shown["rows"]), shown["count"]) == (4, 6)


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
def test_pages_of_other_sites_cannot_write(client, project, headers):
    before = project.state.last
    if "Host" in headers:
        headers = headers | own(client)
    response = send(client, {"kind": "class", "data": {"name": "x"}, "client": "c"}, headers)
    assert response.status_code in (403, 421)
    assert project.state.last == before


def test_other_host_names_are_refused(client):
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
        (b"x" * (MAX_REQUEST_BYTES + 1), 413),
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


def label_events(client, number):
    for _ in range(number):
        answer(client, state_of(client))


def test_following_questions_are_sent_ahead(client):
    label_events(client, 4)
    state = state_of(client)
    ahead = client.get("/api/ahead").json()
    assert ahead["item"] == state["question"]["item"]
    assert set(ahead["answers"]) == {"left", "right"}
    assert ahead["new"]["item"] != state["question"]["item"]
    while ahead["none"] is None:  # thought of last
        ahead = client.get("/api/ahead").json()
    assert ahead["none"]["item"] != state["question"]["item"]
    after = answer(client, state).json()["question"]
    foreseen = ahead["answers"][truth(state["question"]["item"])]
    assert after["item"] == foreseen["item"]
    assert after["guess"] == foreseen["guess"]


def test_the_map(client, project):
    label_events(client, 4)
    found = client.get("/api/map").json()
    assert found["n"] == 60
    points = np.frombuffer(client.get("/api/map/points").content, dtype="<f4")
    assert points.shape == (120,)
    assert np.abs(points).max() <= 1
    while client.get("/api/map/points?layout=eigenmaps").status_code == 202:
        time.sleep(0.02)
    assert client.get("/api/map").json()["layouts"][1]["ready"]
    while (response := client.get("/api/map/values")).status_code == 202:
        time.sleep(0.02)
    labels, guesses = np.frombuffer(response.content[:240], dtype="<u2").reshape(2, 60)
    known = np.frombuffer(response.content[240:], dtype=np.uint8)
    assert (labels > 0).sum() == 4
    assert set(guesses) <= {1, 2}
    assert len(known) == 60
    one = client.get("/api/map/item?node=3").json()
    assert one["item"] == "item3"
    assert send(client, {"nodes": [0, 5]}, path="/api/map/items").json() == {
        "items": ["item0", "item5"]
    }
    assert len(client.get("/api/map/labels").json()["labels"]) == 4
    for bad in ("node=60", "node=-1", "node=x", ""):
        assert client.get(f"/api/map/item?{bad}").status_code == 422
    assert client.get("/api/map/points?layout=none").status_code == 422


def rows(client, query=""):
    while (response := client.get(f"/api/review?limit=100&{query}")).status_code == 202:
        time.sleep(0.02)
    assert response.status_code == 200, response.text
    return response.json()["rows"]


def test_review_filters_sorts_and_finds_the_wrong_label(client):
    label_events(client, 12)
    state = state_of(client)
    wrong = rows(client, "show=predicted")[0]["item"]
    other = "right" if truth(wrong) == "left" else "left"
    data = {"items": [wrong], "label": other, "via": "review"}
    send(client, {"kind": "label", "data": data, "client": "wrong"})
    send(client, {"kind": "unsure", "data": {"items": [state["question"]["item"]]}, "client": "x"})
    assert len(rows(client)) == 60
    assert len(rows(client, "show=labelled")) == 13
    assert [row["item"] for row in rows(client, "show=unsure")] == [state["question"]["item"]]
    assert rows(client, "show=suspicious")[0]["item"] == wrong
    assert rows(client, "sort=suspicion")[0]["item"] == wrong
    sure = [row["confidence"] for row in rows(client, "show=predicted&sort=confidence")]
    assert sure == sorted(sure)
    lefts = rows(client, "class=left")
    assert all((row["label"] or row["guess"]) == "left" for row in lefts)
    assert [row["source"] for row in rows(client, "text=ROW 60")] == ["row 60"]
    assert rows(client, "show=labelled&sort=time")[0]["item"] == wrong
    low = rows(client, "show=predicted&from=0.9")
    assert all(row["confidence"] >= 0.9 for row in low)
    for bad in ("show=x", "sort=x", "limit=0", "limit=9999", "offset=-1", "from=x"):
        assert client.get(f"/api/review?{bad}").status_code == 422


def test_audits_hide_nothing_and_measure_what_is_exported(client):
    label_events(client, 5)
    for number in range(1, 6):
        state = send(client, {}, path="/api/audit").json()
        question = state["question"]
        assert question["purpose"] == "audit"
        assert question["explained"]
        data = {
            "items": [question["item"]],
            "label": truth(question["item"]),
            "via": "audit",
            "guess": question["guess"],
            "confidence": question["confidence"],
        }
        body = {"kind": "label", "data": data, "client": f"audit {number}"}
        state = send(client, body).json()
    audit = state["progress"]["audit"]
    assert audit["n"] == 5
    low, high = audit["interval"]
    assert low < audit["right"] / 5 <= high


def test_import_is_lossless(client, tmp_path):
    label_events(client, 6)
    for kind in ("csv", "jsonl", "parquet"):
        path = f"/api/export?format={kind}"
        before = client.get(path).content
        headers = own(client) | {"Content-Type": "application/octet-stream"}
        again = client.post(f"/api/import?name=x.{kind}", content=before, headers=headers).json()
        assert again == {"imported": 0, "unchanged": 6, "unknown": 0, "predictions": 54}
        other = make_project(tmp_path / kind)
        with served(opened(other)) as stranger:
            enter(stranger)
            headers = own(stranger) | {"Content-Type": "application/octet-stream"}
            found = stranger.post(f"/api/import?name=x.{kind}", content=before, headers=headers)
            assert found.json() == {"imported": 6, "unchanged": 0, "unknown": 0, "predictions": 54}
            query = "format=jsonl&include=labelled"
            theirs = stranger.get(f"/api/export?{query}").content
            assert theirs == client.get(f"/api/export?{query}").content
        other.close()


def test_an_import_is_all_or_nothing(client, project):
    before = len(project.store.events())
    content = b"id,label,by\nitem0,good,\nitem1,bad\x01name,\nitem2,good,\n"
    headers = own(client) | {"Content-Type": "application/octet-stream"}
    response = client.post("/api/import?name=x.csv", content=content, headers=headers)
    assert response.status_code == 422
    assert len(project.store.events()) == before
    assert project.state.labels == {}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.exe", b"id,label"),
        ("x.csv", b"a,b\n1,2"),
        ("x.csv", b"\xff\xfe\x00"),
        ("x.jsonl", b"[1]\n"),
        ("x.jsonl", b"{"),
        ("x.parquet", b"PAR1"),
    ],
)
def test_files_that_hold_no_labels_are_refused_in_words(client, project, name, content):
    before = project.state.last
    headers = own(client) | {"Content-Type": "application/octet-stream"}
    response = client.post(f"/api/import?name={name}", content=content, headers=headers)
    assert response.status_code == 422
    assert response.json()["error"]
    assert project.state.last == before


def test_names_are_required_where_several_people_label(project):
    with served(opened(project), names=True) as client:
        enter(client)
        assert "question" not in client.get("/api/state").json(), "who is it?"
        assert client.get("/api/question").status_code == 422
        assert client.get("/api/state?annotator=model").status_code == 422
        mine = client.get("/api/question?annotator=anna").json()["question"]["item"]
        theirs = client.get("/api/question?annotator=ben").json()["question"]["item"]
        assert mine != theirs
        data = {"items": [mine], "label": truth(mine)}
        body = {"kind": "label", "data": data, "client": "1", "annotator": "anna"}
        assert send(client, body).status_code == 200
        assert send(client, body | {"annotator": ""}).status_code == 422
        assert project.state.labels[mine].annotator == "anna"


def test_others_need_the_password(project):
    with served(opened(project), password="open sesame") as client:
        assert client.get("/").headers["location"] == "/login"
        assert client.get("/login").status_code == 200
        assert client.get("/static/login.js").status_code == 200
        assert client.get("/static/app.js").status_code == 403
        assert client.get("/api/state").status_code == 403
        assert send(client, {"password": "guess"}, path="/login").status_code == 403
        assert send(client, {"password": ""}, path="/login").status_code == 403
        assert send(client, {}, path="/login").status_code == 403
        assert client.get("/api/state").status_code == 403
        assert send(client, {"password": "open sesame"}, path="/login").status_code == 200
        assert client.get("/api/state").status_code == 200
        assert client.get("/api/state", headers={"Host": "rebound.example"}).status_code == 421


def test_without_a_password_nobody_logs_in(client):
    client.cookies.clear()
    assert send(client, {"password": ""}, path="/login").status_code == 403


def test_while_a_project_is_prepared(tmp_path):
    opening = Opening(Source("somewhere"))
    opening.begin("reading")(1, 4)
    with served(opening) as client:
        enter(client)
        shown = client.get("/api/state").json()["preparing"]
        assert shown["steps"] == [{"name": "reading", "share": 0.25, "left": ANY}]
        assert client.get("/api/question").status_code == 503
        assert client.get("/api/items/x").status_code == 503


def test_openapi_describes_exactly_the_served_addresses(project):
    app = make_app(opened(project), Doors(TOKEN, frozenset()))
    served_ones = {
        (method.lower(), re.sub(r":\w+}", "}", route.path))
        for route in app.routes
        if isinstance(route, Route) and route.path.startswith("/api/")
        for method in route.methods - {"HEAD"}
    }
    described = {(m, path) for path, methods in openapi()["paths"].items() for m in methods}
    assert described == served_ones


def test_the_page_cannot_send_labels_by_others(client, project):
    data = {"items": ["item0"], "label": "left", "via": "import", "by": "somebody"}
    response = send(client, {"kind": "label", "data": data, "client": "c"})
    assert response.status_code == 422
    assert not project.state.labels


def test_the_server_gives_a_new_class_its_key(client, project):
    """The first free key; a digit gets its own; after ten of them there are codes."""
    sent = {"kind": "class", "data": {"name": "up", "for": "answer"}, "client": "c1"}
    first, retry = send(client, sent), send(client, sent)
    assert first.json()["seq"] == retry.json()["seq"], "a retry makes no other class"
    made = [event.data for event in project.store.events() if event.kind == "class"]
    assert made[-1] == {"name": "up", "for": "answer", "key": "3"}

    def create(name, **data):
        body = {"kind": "class", "data": {"name": name} | data, "client": f"create {name} {data}"}
        response = send(client, body)
        assert response.status_code == 200
        return {each["name"]: each for each in response.json()["classes"]}[name]

    assert create("7")["key"] == "7"
    assert create("down")["key"] == "4"
    assert create("bound", key="x")["key"] == "x"
    assert create("down")["key"] == "4", "a class that exists keeps its key"
    keys = [create(name)["key"] for name in "abcde"]
    assert keys == ["5", "6", "8", "9", "0"]
    full = create("one more")
    assert (full["key"], full["code"]) == ("", "k1")


def test_a_class_that_exists_has_its_key_again_after_a_restart(tmp_path):
    project = make_project(tmp_path)
    for name in ("a", "b"):
        project.record(Event("class", {"name": name}))
    shown = project.state.known.shown()
    project.close()
    again = make_project(tmp_path)
    assert again.state.known.shown() == shown
    assert [each.key for each in shown] == ["1", "2"]
    again.close()
