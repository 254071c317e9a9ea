"""Requests to Label Studio: tokens, pauses, redirects, and answers that are none."""

import pytest
from fake_label_studio import (
    LEGACY_TOKEN,
    PERSONAL_TOKEN,
    FakeLabelStudio,
    choices_config,
    dropped,
    page,
    passing,
    status,
)

from poise.errors import InputError
from poise.integrations.label_studio import client as module
from poise.integrations.label_studio.api import Api
from poise.integrations.label_studio.client import (
    Client,
    NotFoundError,
    RefusedError,
    UnreachableError,
    checked_address,
    is_personal,
)

PROJECT = "/api/projects/1/"
SECRET = LEGACY_TOKEN


@pytest.fixture
def studio():
    with FakeLabelStudio(choices_config(["left", "right"])).serving() as fake:
        yield fake


@pytest.fixture
def pauses():
    return []


@pytest.fixture
def client(studio, pauses):
    return Client(studio.address, LEGACY_TOKEN, sleep=pauses.append)


def test_a_legacy_token_is_sent_as_it_is(client, studio):
    assert client.get(PROJECT)["title"] == "Fake"
    assert studio.requests == [("GET", PROJECT, f"Token {LEGACY_TOKEN}")]


def test_a_personal_token_is_exchanged_once_and_again_when_it_expires(studio, pauses):
    studio.access_lasts = 3
    client = Client(f"{studio.address}/", f" {PERSONAL_TOKEN}\n", sleep=pauses.append)
    for _ in range(7):
        assert client.get(PROJECT)["title"] == "Fake"
    exchanged = [path for _, path, _ in studio.requests if path == "/api/token/refresh/"]
    assert len(exchanged) == 3
    assert pauses == []
    assert all(PERSONAL_TOKEN not in header for _, _, header in studio.requests)


def test_only_jwts_are_personal_tokens():
    assert is_personal(PERSONAL_TOKEN)
    for token in (LEGACY_TOKEN, "a.b.c", "....", "e30.x", "ÿ.b.c"):
        assert not is_personal(token), token


@pytest.mark.parametrize("token", ["wrong", PERSONAL_TOKEN.replace("c2ln", "d2ln")])
def test_a_wrong_token_is_a_mistake_of_the_user(token, studio, pauses):
    with pytest.raises(InputError, match="does not accept the token in LABEL_STUDIO_API_KEY") as e:
        Client(studio.address, token, sleep=pauses.append).get(PROJECT)
    assert token not in str(e.value)
    assert pauses == []


@pytest.mark.parametrize("token", ["", " \n", "two words", "new\nline", "tökén", "\x00"])
def test_what_cannot_be_a_token_is_refused_without_being_shown(token):
    with pytest.raises(InputError, match="LABEL_STUDIO_API_KEY") as e:
        Client("http://127.0.0.1:1", token)
    assert not token.strip() or token not in str(e.value)


@pytest.mark.parametrize(
    ("code", "kind", "words"),
    [
        (403, InputError, "forbids /api/projects/1/ to the owner of the token"),
        (404, NotFoundError, "does not exist, or the token's owner may not see it"),
        (400, RefusedError, r"refused /api/projects/1/ \(status 400\)"),
        (418, RefusedError, "status 418"),
    ],
)
def test_other_refusals_are_one_line_and_are_not_repeated(
    code, kind, words, client, studio, pauses
):
    studio.faults.append(status(code))
    with pytest.raises(kind, match=words) as e:
        client.get(PROJECT)
    assert "\n" not in str(e.value)
    assert len(studio.requests) == 1
    assert pauses == []


def test_the_servers_explanation_is_shown_without_the_token(client, studio):
    said = f'{{"detail": "no {SECRET}\\u001b[31m because\\n' + "x" * 1000 + '"}'
    studio.faults.append(page(said.encode(), 400, "application/json"))
    with pytest.raises(RefusedError, match=r"no \(token\)") as e:
        client.get(PROJECT)
    text = str(e.value)
    assert SECRET not in text
    assert text.isprintable()
    assert len(text) < 400


def test_a_busy_server_is_asked_again_after_the_pause_it_wants(client, studio, pauses):
    studio.faults += [
        status(429, Retry_After="7"),
        status(503, Retry_After="9999"),
        status(502, Retry_After="Wed, 21 Oct 2026 07:28:00 GMT"),
        status(500, Retry_After="-3"),
    ]
    assert client.get(PROJECT)["title"] == "Fake"
    assert pauses == [7.0, 60.0, 4.0, 8.0]


def test_a_server_that_stays_busy_is_given_up(client, studio, pauses):
    studio.faults += [status(429)] * 5
    with pytest.raises(UnreachableError, match=r"busy or broken \(status 429\): try again later"):
        client.get(PROJECT)
    assert pauses == [1.0, 2.0, 4.0, 8.0]


def test_a_dropped_connection_is_opened_again(client, studio, pauses):
    studio.faults += [passing, dropped, dropped]
    client.get(PROJECT)
    assert client.get(PROJECT)["title"] == "Fake"
    assert pauses == [1.0, 2.0]


def test_a_wrong_address_fails_at_once(pauses):
    with pytest.raises(UnreachableError, match="cannot be reached"):
        Client("http://127.0.0.1:9", LEGACY_TOKEN, sleep=pauses.append).get(PROJECT)
    assert pauses == []


def test_a_creation_is_not_sent_again_when_it_may_have_arrived(client, studio, pauses):
    api = Api(client, 1)
    task = studio.add(text="hello")
    made = {"task": task, "result": [], "score": 0.1, "model_version": "poise"}
    studio.faults.append(status(429))
    api.create([made])
    assert pauses == [1.0]
    for fault in (dropped, status(502)):
        studio.faults.append(fault)
        with pytest.raises(UnreachableError):
            api.create([made])
    assert len(studio.own(task)) == 1
    assert pauses == [1.0]


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("method", ["GET", "PATCH", "POST"])
def test_a_token_never_follows_a_redirect_to_another_host(code, method, client, studio, pauses):
    with FakeLabelStudio("").serving() as other:
        studio.faults.append(status(code, Location=f"{other.address}{PROJECT}"))
        with pytest.raises(InputError, match=f"redirects to {other.address}"):
            client.send(method, PROJECT, None if method == "GET" else {})
        assert other.requests == []


def test_a_redirect_within_the_server_is_followed(client, studio):
    studio.faults.append(status(301, Location=PROJECT))
    assert client.get("/api/projects/1")["title"] == "Fake"


def test_a_redirect_to_a_file_or_in_circles_is_refused(client, studio):
    for target in ("file:///etc/passwd", "http://[broken"):
        studio.faults.append(status(302, Location=target))
        with pytest.raises(InputError, match="redirects to"):
            client.get(PROJECT)
    studio.faults += [status(302, Location=PROJECT)] * 20
    with pytest.raises(InputError, match="redirects to"):
        client.get(PROJECT)


@pytest.mark.parametrize(
    "content",
    [
        b"<!doctype html><title>Sign in</title>",
        b"",
        b"\xff\xfe",
        b"[" * 100_000,
        b"9" * 10_000,
        b'{"title": ',
    ],
)
def test_an_answer_that_is_no_json_is_one_line(content, client, studio):
    studio.faults.append(page(content))
    with pytest.raises(UnreachableError, match="not JSON: check that the address") as e:
        client.get(PROJECT)
    assert "\n" not in str(e.value)


@pytest.mark.parametrize(
    "content", [b"[]", b"3", b"null", b'{"label_config": 3}', b'{"title": "x"}']
)
def test_json_of_another_form_is_one_line(content, client, studio):
    studio.faults.append(page(content))
    with pytest.raises(UnreachableError, match="expected a project with a label_config"):
        Api(client, 1).about()


@pytest.mark.parametrize(
    "content",
    [
        b"[]",
        b'{"tasks": {}, "total": 1}',
        b'{"tasks": [], "total": "1"}',
        b'{"tasks": [], "total": -1}',
        b'{"tasks": [3], "total": 1}',
        b'{"tasks": [{"id": true}], "total": 1}',
        b'{"tasks": [{"data": {}}], "total": 1}',
    ],
)
def test_lists_of_another_form_are_one_line(content, client, studio):
    studio.faults.append(page(content))
    with pytest.raises(UnreachableError, match="answered with JSON of another form"):
        Api(client, 1).tasks()


def test_a_huge_answer_is_cut_off(client, studio, monkeypatch):
    monkeypatch.setattr(module, "MOST_ANSWER_BYTES", 1 << 20)
    studio.faults.append(page(b" " * (4 << 20)))
    with pytest.raises(UnreachableError, match="more than 1 MB"):
        client.get(PROJECT)


def test_an_answer_that_never_ends_is_given_up(client, studio, pauses, monkeypatch):
    client.get(PROJECT)
    monkeypatch.setattr(module, "ANSWER_SECONDS", -1.0)
    with pytest.raises(UnreachableError, match="takes too long"):
        client.get(PROJECT)
    assert len(pauses) == 4


def test_an_answer_that_is_cut_short_is_asked_for_again(client, studio, pauses):
    def short(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b'{"title": "Sho')
        handler.close_connection = True
        return True

    studio.faults += [passing, short]
    client.get(PROJECT)
    assert client.get(PROJECT)["title"] == "Fake"
    assert pauses == [1.0]


@pytest.mark.parametrize(
    "address",
    [
        "label.example",
        "ftp://label.example",
        "file:///etc/passwd",
        "http://",
        "http://host:99999",
        "http://host:0",
        "http://[::1",
        "http://host/?page=1",
        "http://host/#top",
        "http://ho\x1b[31mst",
    ],
)
def test_what_is_no_address_is_refused(address):
    with pytest.raises(InputError, match="is no address of Label Studio") as e:
        checked_address(address)
    assert str(e.value).isprintable()


def test_a_password_in_the_address_is_refused_and_not_shown():
    with pytest.raises(InputError, match="holds a name or a password") as e:
        checked_address("https://anna:hunter2@label.example")
    assert "hunter2" not in str(e.value)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://Label.Example/", "https://Label.Example"),
        (" http://localhost:8080/studio// ", "http://localhost:8080/studio"),
    ],
)
def test_addresses_lose_the_slash_at_their_end(address, expected):
    assert checked_address(address) == expected


@pytest.mark.parametrize(
    "address",
    [
        "https://elsewhere.example/a.png",
        "//elsewhere.example/a.png",
        "data:image/png;base64,iVBORw0KGgo=",
        "s3://bucket/a.png",
        "file:///etc/passwd",
        "http://[broken",
        "http://127.0.0.1:1/a.png",
    ],
)
def test_files_elsewhere_are_not_requested(address, client, studio):
    assert client.content(address) is None
    assert studio.requests == []


def test_files_of_the_server_are_fetched_with_the_token(client, studio):
    studio.files["/data/upload/1/a.png"] = b"pixels"
    for address in ("/data/upload/1/a.png", "data/upload/1/a.png"):
        assert client.content(address) == b"pixels"
    assert client.content(f"{studio.address}/data/upload/1/a.png") == b"pixels"
    assert {header for _, _, header in studio.requests} == {f"Token {LEGACY_TOKEN}"}


@pytest.mark.parametrize("name", ["/data/a b.png", "/data/\nä€.png", "/data/100%25.png?d=a b"])
def test_names_of_files_are_quoted(name, client, studio):
    with pytest.raises(NotFoundError):
        client.content(name)
    assert studio.requests[0][1].isascii()
    assert studio.requests[0][1].startswith("/data/")
