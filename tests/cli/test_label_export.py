"""``poise label``, ``export`` and ``backup``: errors take one line; no app has to run."""

import csv
import shutil
import signal
import subprocess
import sys
import time

import httpx
import pytest

from poise.studio.log.events import Event
from poise.studio.log.store import EventStore
from poise.studio.opening import Opening, Source


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing.csv"], "there is no nothing.csv"),
        (["nosuch"], "there is no nosuch"),
        (["digits", "--embed", "nope"], "no embedding is called 'nope'"),
        (["digits", "--classes", "a,a"], "--classes lists a class twice"),
        (["digits", "--overlap", "2"], "--overlap needs --annotators"),
        (["digits", "--import", "nofile.csv"], "there is no file nofile.csv"),
        (["digits", "--port", "80000"], "80000 is not in the range"),
        (["digits", "--features", "no.npy"], "there is no file no.npy"),
        (["digits", "--feature-names", "names.csv"], "add that option"),
        (["digits", "--vectors", "x", "--features", "x.npy"], "both give vectors"),
        (["digits", "--vectors", "x", "--embed", "pca"], "others were given: leave one out"),
        (["digits", "--metric", "nope"], "'nope' is not one of"),
    ],
)
def test_errors_open_no_page(run, arguments, words):
    code, out, err = run("label", *arguments, "--no-browser")
    assert code == 2
    assert words in err
    assert "http://" not in out
    assert err.count("\n") == 1


def test_help_shows_how_to_use_your_own_vectors(run):
    code, out, _ = run("label", "--help")
    assert code == 0
    assert "poise label items.parquet --column title,body --vectors embedding" in out
    assert "poise label photos/ --features X.npy" in out


@pytest.fixture
def labelled(tmp_path):
    folder = tmp_path / "digits.poise"
    project = Opening(Source("digits", folder, classes=("a", "b"))).open()
    for node, name in ((0, "a"), (700, "b")):
        data = {"items": [project.catalogue.ids[node]], "label": name}
        project.record(Event("label", data))
    project.close()
    return folder


def test_a_project_is_exported(run, labelled, tmp_path):
    target = tmp_path / "labels.csv"
    code, _, err = run("export", str(labelled), "-o", str(target))
    assert code == 0, err
    with target.open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 1797
    assert [row["label"] for row in rows if row["by"] == "person"] == ["a", "b"]
    run("export", str(labelled), "-o", str(target), "--labelled")
    assert len(target.read_text().splitlines()) == 3


@pytest.mark.parametrize("kept", [True, False], ids=["kept", "gone"])
def test_exporting_labels_needs_no_graph(run, labelled, tmp_path, monkeypatch, kept):
    def never(*_, **__):
        raise AssertionError("nothing is embedded, no graph is made or loaded, no model is asked")

    for name in (
        "poise.studio.opening.prepare",
        "poise.studio.opening.Project",
        "poise.Graph.load",
        "poise.knn_graph",
    ):
        monkeypatch.setattr(name, never)
    target = tmp_path / "labels.csv"
    for name in () if kept else ("features.npy", "graph.npz"):
        (labelled / name).unlink()
    before = contents(labelled)
    code, _, err = run("export", str(labelled), "-o", str(target), "--labelled")
    assert code == 0, err
    with target.open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["label"], row["by"]) for row in rows] == [("a", "person"), ("b", "person")]
    assert contents(labelled) == before


def test_exported_labels_are_the_same_with_and_without_predictions(run, tmp_path):
    table = tmp_path / "texts.csv"
    table.write_text("text,label\n" + "".join(f"words {i},{'ab'[i % 2]}\n" for i in range(9)))
    folder = tmp_path / "texts.poise"
    project = Opening(Source(str(table), folder, embedding="tfidf")).open()
    project.record(Event("clear", {"items": [project.catalogue.ids[0]]}))
    project.close()
    with table.open("a") as file:
        file.write("later words,a\n")  # labelled by the source, and not in the log yet
    lines = []
    for options in ([], ["--labelled"]):
        target = tmp_path / "labels.csv"
        code, _, err = run("export", str(folder), "-o", str(target), *options)
        assert code == 0, err
        with target.open() as rows:
            read = csv.DictReader(rows)
            lines.append([(r["id"], r["label"], r["by"]) for r in read if r["by"] != "model"])
    assert len(lines[0]) == 9
    assert lines[0] == lines[1]


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_exporting_writes_nothing_into_the_project(run, labelled, tmp_path):
    for name in ("features.npy", "graph.npz"):  # missing files are rebuilt elsewhere
        (labelled / name).unlink()
    before = contents(labelled)
    labelled.chmod(0o500)
    try:
        code, _, err = run("export", str(labelled), "-o", str(tmp_path / "labels.csv"))
    finally:
        labelled.chmod(0o700)
    assert code == 0, err
    assert contents(labelled) == before


def test_the_answers_are_backed_up(run, labelled, tmp_path):
    target = tmp_path / "copy.db"
    code, out, err = run("backup", str(labelled), "-o", str(target))
    assert code == 0, err
    copied = EventStore(target)
    assert f"{len(copied.events())} events" in out
    assert sum(event.kind == "label" for event in copied.events()) == 2
    copied.close()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([".", "-o", "x.db"], "has no events.db"),
        (["digits.poise", "-o", "digits.poise/events.db"], "give another name"),
        (["digits.poise", "-o", "."], "give another name"),
        (["digits.poise", "-o", "digits.poise/events.db/x.db"], "choose another place"),
    ],
)
def test_errors_back_up_nothing(run, labelled, monkeypatch, arguments, words):
    monkeypatch.chdir(labelled.parent)
    before = contents(labelled)
    code, _, err = run("backup", *arguments)
    assert code in (1, 2)
    assert words in err
    assert err.count("\n") == 1
    assert contents(labelled) == before


@pytest.fixture
def running(tmp_path):
    """A real server: its process and its address."""
    command = [sys.executable, "-m", "poise", "label", "digits", "--no-browser"]
    command += ["--project", str(tmp_path / "p.poise")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        lines = iter(process.stdout.readline, "")
        address = next(line.strip() for line in lines if "http://" in line)
        yield process, address
        process.kill()


def saved(address, n):
    """Record `n` answers, each confirmed as saved by the server."""
    origin, _, token = address.partition("/?token=")
    with httpx.Client(base_url=origin, trust_env=False, timeout=60) as client:
        client.get("/", params={"token": token})
        while "preparing" in client.get("/api/state").json():
            time.sleep(0.1)
        for i in range(n):
            body = {"kind": "class", "data": {"name": f"class {i}"}, "client": f"client {i}"}
            response = client.post("/api/events", json=body, headers={"Origin": origin})
            assert response.status_code == 200, response.text


def test_after_sigterm_the_database_file_alone_has_everything(running, tmp_path):
    process, address = running
    saved(address, 12)
    process.send_signal(signal.SIGTERM)
    process.wait(30)
    shutil.copy(tmp_path / "p.poise" / "events.db", tmp_path / "alone.db")
    copied = EventStore(tmp_path / "alone.db")
    assert sum(event.kind == "class" for event in copied.events()) == 12
    copied.close()


def test_a_second_server_names_the_address_of_the_first(running, tmp_path, run):
    process, address = running
    second = ("label", "digits", "--no-browser", "--project", str(tmp_path / "p.poise"))
    code, out, err = run(*second)
    assert code == 2
    assert f"process {process.pid}" in err
    assert address in err
    assert "http://" not in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([".", "-o", "x.csv"], "has no events.db"),
        (["digits.poise", "-o", "x.exe"], "must end in .csv, .jsonl or .parquet"),
        (["digits.poise"], "missing option '-o'"),
    ],
)
def test_errors_export_nothing(run, labelled, monkeypatch, arguments, words):
    monkeypatch.chdir(labelled.parent)
    code, _, err = run("export", *arguments)
    assert code == 2
    assert words in err
