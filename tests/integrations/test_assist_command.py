"""``poise assist`` with scripted programs and endpoints, on this machine alone."""

import json
import os
import shlex
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections import Counter
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from poise.cli.main import main
from poise.studio.borrowing import borrowed_state
from poise.studio.log.events import Event
from poise.studio.log.lock import only_writer
from poise.studio.log.store import EventStore
from poise.studio.opening import Opening, Source

N_ITEMS = 30


@pytest.fixture
def project(tmp_path):
    """Thirty rows of numbers, the first of which says the class; two classes and one label."""
    X = np.random.default_rng(0).normal(size=(N_ITEMS, 3)).round(3)
    X[:, 0] = np.arange(N_ITEMS) % 2
    np.save(tmp_path / "X.npy", X)
    folder = tmp_path / "X.poise"
    opened = Opening(Source(str(tmp_path / "X.npy"), folder, classes=("even", "odd"))).open()
    opened.record(Event("label", {"items": [opened.catalogue.ids[0]], "label": "even"}))
    opened.close()
    return folder


@pytest.fixture
def script(tmp_path):
    """Write a program; `body` handles the object `question` and may print."""

    def write(body, *, before=""):
        path = tmp_path / "ask.py"
        path.write_text(
            f"import json, os, sys, time\n{textwrap.dedent(before)}\n"
            "def say(**answer): print(json.dumps(answer), flush=True)\n"
            "for line in sys.stdin:\n"
            "    question = json.loads(line)\n"
            "    item = question['id']\n" + textwrap.indent(textwrap.dedent(body), "    ")
        )
        return f"{shlex.quote(sys.executable)} {shlex.quote(str(path))}"

    return write


@pytest.fixture
def run(capsys):
    def command(*arguments):
        with pytest.raises(SystemExit) as ended:
            main(["assist", *map(str, arguments)])
        out, err = capsys.readouterr()
        return ended.value.code, out, err

    return command


RIGHT = "say(id=item, **{'class': 'odd' if question['vector'][0] else 'even'}, confidence=0.75)\n"


def stated(folder):
    state = borrowed_state(folder)
    answers = state.assistants.answers
    return {item: (each.by, state.known.name(each.number)) for item, each in answers.items()}


def test_a_program_answers_every_open_question(project, script, run):
    code, out, err = run(project, "--command", script(RIGHT), "--name", "parity")
    assert code == 0, err
    assert f"{N_ITEMS - 1} answered, 0 not known" in err
    assert out == "parity: 29 answers, which do not count yet: people have 20 more to judge.\n"
    found = stated(project)
    assert Counter(found.values()) == {("parity", "odd"): 15, ("parity", "even"): 14}
    state = borrowed_state(project)
    assert len(state.labels) == 1
    assert {each.confidence for each in state.assistants.answers.values()} == {0.75}
    code, _, err = run(project, "--command", script(RIGHT), "--name", "parity")
    assert "0 answered, 0 not known" in err, "nothing is asked twice"


def test_the_question_has_all_that_the_protocol_says(project, script, run, tmp_path):
    asked = tmp_path / "asked.json"
    body = f"open({str(asked)!r}, 'a').write(line)\nsay(id=item, skip=True)\n"
    code, _, err = run(project, "--command", script(body), "--budget", "2")
    assert code == 0, err
    assert "0 answered, 2 not known" in err
    first, second = map(json.loads, asked.read_text().splitlines())
    assert set(first) == {"id", "kind", "source", "vector", "classes"}
    assert (first["kind"], first["classes"]) == ("vector", ["even", "odd"])
    assert first["id"] != second["id"]
    assert {label for _, label in stated(project).values()} == {None}
    assert {name for name, _ in stated(project).values()} == {Path(sys.executable).name}


def test_pictures_are_files_and_texts_are_texts(script, run, tmp_path):
    table = tmp_path / "texts.csv"
    table.write_text("text\n" + "".join(f"line {i} é\n" for i in range(12)))
    folder = tmp_path / "texts.poise"
    source = Source(str(table), folder, classes=("a", "b"), embedding="tfidf", column="text")
    Opening(source).open().close()
    body = "assert question['text'].endswith('é')\nsay(id=item, **{'class': 'a'})\n"
    code, _, err = run(folder, "--command", script(body))
    assert (code, len(stated(folder))) == (0, 12), err
    folder = tmp_path / "digits.poise"
    Opening(Source("digits", folder, classes=("a", "b"))).open().close()
    body = """
    with open(question['path'], 'rb') as file:
        assert file.read(4) == b'\\x89PNG'
    assert question['kind'] == 'image'
    say(id=item, **{'class': 'a'})
    """
    code, _, err = run(folder, "--command", script(body), "--budget", "3")
    assert (code, len(stated(folder))) == (0, 3), err


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("print('hello', flush=True)\n", "answered with 'hello', which is not JSON"),
        ("print('[1]', flush=True)\n", "answered with '[1]': expected a JSON object"),
        ("print('[' * 100000, flush=True)\n", "which is not JSON"),
        ("say(id='other', **{'class': 'odd'})\n", 'answered about the id "other"'),
        ("say(id=item)\n", 'gave neither "class" with a name nor "skip": true'),
        ("say(id=item, **{'class': 7})\n", 'gave neither "class"'),
        ("say(id=item, **{'class': 'odd'}, confidence=7)\n", "gave the confidence 7"),
        (
            "say(id=item, **{'class': 'nope'})\n",
            'named the class "nope", which does not exist: expected one of even, odd, or '
            "--new-classes",
        ),
        ("sys.stdout.buffer.write(b'\\xff\\n')\nsys.stdout.flush()\n", "bytes that are not UTF-8"),
        ("sys.stdout.write('x' * 3_000_000)\n", "wrote more than 1,000,000 bytes for one answer"),
        ("time.sleep(60)\n", "gave no answer within 0.5 s"),
        (
            "print('out of memory', file=sys.stderr)\nsys.exit(3)\n",
            "ended with exit code 3; its last line on stderr: out of memory",
        ),
        ("os.kill(os.getpid(), 9)\n", "was ended by signal 9"),
    ],
)
def test_what_a_program_does_wrong_ends_in_one_line(project, script, run, body, words):
    limits = ("--failures", "1", "--timeout", "0.5" if "sleep" in body else "30")
    code, _, err = run(project, "--command", script(body), *limits)
    assert code == 1
    assert err.count("\n") == 1
    assert "failed 2 times; the last time it " in err
    assert words in err
    assert err.endswith(". 0 answers are kept\n")
    assert stated(project) == {}


def test_a_program_that_dies_is_started_again(project, script, run):
    code, _, err = run(project, "--command", script(RIGHT + "sys.exit(0)\n"), "--failures", "20")
    assert code == 0, err
    assert len(stated(project)) == N_ITEMS - 1 - int(err.split(" failed")[0].split()[-1])
    assert len(stated(project)) >= 10


def test_a_failure_is_passed_over_and_asked_again_by_the_next_run(project, script, run):
    marked = "if question['vector'][1] > 0: say(id='other')\nelse:\n    " + RIGHT
    code, _, err = run(project, "--command", script(marked), "--failures", "30", "--name", "a")
    assert code == 0, err
    some = len(stated(project))
    assert 5 < some < 25
    assert f"{some} answered, 0 not known, {N_ITEMS - 1 - some} failed" in err
    code, _, err = run(project, "--command", script(RIGHT), "--name", "a")
    assert f"{N_ITEMS - 1 - some} answered, 0 not known\n" in err


def test_new_classes_are_allowed_on_request(project, script, run):
    body = "say(id=item, **{'class': 'prime'})\n"
    code, _, err = run(project, "--command", script(body), "--new-classes", "--budget", "3")
    assert code == 0, err
    assert list(borrowed_state(project).classes) == ["even", "odd", "prime"]


def test_a_program_that_does_not_read_is_no_deadlock(project, script, run):
    command = script("", before="time.sleep(60)\n")
    code, _, err = run(project, "--command", command, "--timeout", "0.3", "--failures", "0")
    assert code == 1
    assert "gave no answer within 0.3 s" in err


def test_a_program_leaves_no_process_behind(project, tmp_path, run):
    path = tmp_path / "ask.sh"
    beats = tmp_path / "beats"
    path.write_text(f"#!/bin/sh\nwhile :; do echo beat >> '{beats}'; sleep 0.05; done | cat\n")
    path.chmod(0o755)
    code, _, err = run(project, "--command", path, "--timeout", "0.5", "--failures", "0")
    assert code == 1, err
    before = beats.read_text()
    time.sleep(0.3)
    assert beats.read_text() == before != ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "give either --command or --url"),
        (["--command", "a", "--url", "http://127.0.0.1/"], "give either --command or --url"),
        (["--command", "'"], "cannot be split into words"),
        (["--command", " "], "--command is empty"),
        (["--command", "./nosuch"], "./nosuch cannot be started (No such file or directory)"),
        (["--url", "ftp://127.0.0.1/"], "expected an address such as"),
        (["--url", "file:///etc/passwd"], "expected an address such as"),
        (["--command", "a", "--name", "person"], "has another meaning"),
        (["--command", "a", "--audit", "3"], "3 is not in the range"),
    ],
)
def test_mistakes_are_said_in_one_line(project, run, arguments, words):
    code, _, err = run(project, *arguments)
    assert code == 2
    assert words in err
    assert err.count("\n") == 1


def test_other_folders_and_projects_without_classes_are_refused(run, script, tmp_path):
    code, _, err = run(tmp_path, "--status")
    assert (code, "is not a poise project" in err) == (2, True)
    np.save(tmp_path / "Y.npy", np.random.default_rng(0).normal(size=(20, 3)))
    Opening(Source(str(tmp_path / "Y.npy"), tmp_path / "Y.poise")).open().close()
    code, _, err = run(tmp_path / "Y.poise", "--command", script(RIGHT))
    assert code == 2
    assert "label a few items first, or add --new-classes" in err


def test_two_runs_at_once_are_refused(project, run, script):
    with only_writer(project, ""):
        code, _, err = run(project, "--command", script(RIGHT))
    assert code == 2
    assert f"is in use by another poise (process {os.getpid()}): stop that one first" in err


def test_the_status_is_for_people_and_programs(project, run, script):
    assert run(project, "--status") == (0, "No assistant has answered yet.\n", "")
    run(project, "--command", script(RIGHT), "--name", "parity", "--audit", "10")
    store = EventStore(project / "events.db")
    for item in list(stated(project))[:10]:
        label = stated(project)[item][1]
        data = {"items": [item], "label": label, "via": "audit", "of": "parity"}
        store.append(Event("label", data))
    store.close()
    code, out, _ = run(project, "--status")
    assert code == 0
    assert "10 of 10 judged answers were right (69% to 100%), so its answers count." in out
    (found,) = json.loads(run(project, "--status", "--json")[1])
    assert (found["name"], found["answered"], found["judged"]) == ("parity", 29, 10)
    assert found["interval"] == pytest.approx([0.6915, 1.0], abs=1e-4)
    assert found["spreads"] is True


# Interruptions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_what_was_answered_survives_an_interruption(project, script, run, how):
    command = script("time.sleep(0.1)\n" + RIGHT)
    arguments = ["assist", str(project), "--command", command, "--name", "slow"]
    start = "from poise.cli.main import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", start, *arguments], stderr=subprocess.PIPE, text=True
    )
    end = time.monotonic() + 60
    while len(stated(project)) < 5 and time.monotonic() < end:
        time.sleep(0.05)
    process.send_signal(how)
    _, err = process.communicate(timeout=30)
    if how == signal.SIGINT:
        assert process.returncode == 130
        assert "finished work is kept: run the same command again to resume" in err
    before = stated(project)
    assert 5 <= len(before) < N_ITEMS - 1
    code, _, err = run(project, "--command", script(RIGHT), "--name", "slow")
    assert code == 0, err
    after = stated(project)
    assert len(after) == N_ITEMS - 1
    assert before.items() <= after.items()
    store = EventStore.copy_of(project / "events.db")
    items = [event.data["item"] for event in store.events() if event.kind == "assist"]
    store.close()
    assert len(items) == len(set(items)) == N_ITEMS - 1


# HTTP -------------------------------------------------------------------------------------------


@pytest.fixture
def endpoint():
    """Serve `answer(question) -> (status, headers, body)` on this machine."""
    servers = []

    def serve(answer):
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                length = int(self.headers["Content-Length"])
                status, headers, body = answer(json.loads(self.rfile.read(length)))
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                with suppress(OSError):  # nobody waits any more
                    self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}/ask"

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


def right(question):
    label = "odd" if question["vector"][0] else "even"
    return 200, {}, json.dumps({"id": question["id"], "class": label}).encode()


def test_an_endpoint_answers(project, run, endpoint):
    url = endpoint(right)
    code, out, err = run(project, "--url", url)
    assert code == 0, err
    assert len(stated(project)) == N_ITEMS - 1
    assert out.startswith(url.split("/")[2])


def test_what_an_endpoint_does_wrong_ends_in_one_line(project, run, endpoint):
    reached = []

    def elsewhere(question):
        reached.append(question)
        return right(question)

    other = endpoint(elsewhere)

    def slow(question):
        time.sleep(1.5)
        return right(question)

    for answer, words in (
        (lambda question: (500, {}, b"{}"), "answered with status 500"),
        (lambda question: (302, {"Location": other}, b""), "a redirect, which is not followed"),
        (lambda question: (307, {"Location": other}, b""), "a redirect, which is not followed"),
        (lambda question: (200, {}, b"\xff"), "bytes that are not UTF-8"),
        (lambda question: (200, {}, b"x" * 2_000_000), "sent more than 1,000,000 bytes"),
        (slow, "gave no answer within 0.3 s"),
    ):
        url = endpoint(answer)
        code, _, err = run(project, "--url", url, "--failures", "1", "--timeout", "0.3")
        assert code == 1
        assert words in err
        assert err.count("\n") == 1
    assert reached == []
    code, _, err = run(project, "--url", "http://127.0.0.1:9/", "--failures", "0")
    assert code == 1
    assert "could not be reached (Connection refused)" in err
