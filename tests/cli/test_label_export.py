"""``poise label`` and ``poise export``: mistakes cost a line; exporting needs no app."""

import csv

import pytest

from poise.cli.main import main
from poise.studio.events import Event
from poise.studio.opening import Opening, Source


@pytest.fixture
def run(capsys):
    def command(*arguments):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        out, err = capsys.readouterr()
        return ended.value.code, out, err

    return command


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing.csv"], "there is no nothing.csv"),
        (["nosuch"], "there is no nosuch"),
        (["digits", "--embed", "nope"], "no embedding is called 'nope'"),
        (["digits", "--classes", "a,a"], "names a class twice"),
        (["digits", "--overlap", "2"], "--overlap needs --annotators"),
        (["digits", "--import", "nofile.csv"], "there is no file nofile.csv"),
        (["digits", "--port", "80000"], "80000 is not in the range"),
        (["digits", "--features", "no.npy"], "there is no file no.npy"),
        (["digits", "--feature-names", "names.csv"], "give that too"),
        (["digits", "--vectors", "x", "--features", "x.npy"], "both give vectors"),
        (["digits", "--vectors", "x", "--embed", "pca"], "others were given: leave one out"),
        (["digits", "--metric", "nope"], "'nope' is not one of"),
    ],
)
def test_mistakes_open_no_page(run, arguments, words):
    code, out, err = run("label", *arguments, "--no-browser")
    assert code == 2
    assert words in err
    assert "http://" not in out
    assert err.count("\n") == 1


def test_help_shows_how_to_give_vectors(run):
    code, out, _ = run("label", "--help")
    assert code == 0
    assert "poise label items.parquet --column title,body --vectors embedding" in out
    assert "poise label photos/ --features X.npy" in out


@pytest.fixture
def labelled(tmp_path):
    folder = tmp_path / "digits.poise"
    project = Opening(Source("digits", folder, classes=("a", "b"))).open()
    for place, name in ((0, "a"), (700, "b")):
        data = {"items": [project.catalogue.ids[place]], "label": name}
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


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([".", "-o", "x.csv"], "has no events.db"),
        (["digits.poise", "-o", "x.exe"], "must end in .csv, .jsonl or .parquet"),
        (["digits.poise"], "missing option '-o'"),
    ],
)
def test_mistakes_export_nothing(run, labelled, monkeypatch, arguments, words):
    monkeypatch.chdir(labelled.parent)
    code, _, err = run("export", *arguments)
    assert code == 2
    assert words in err
