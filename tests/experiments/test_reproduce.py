"""``poise reproduce``: several experiments, one report, whatever fails."""

import json
from dataclasses import replace

import pytest

from poise.cli import main as cli
from poise.cli.progress import duration
from poise.errors import DataError, InputError
from poise.experiments.experiment import Experiment, Method
from poise.experiments.paper import experiments as paper
from poise.experiments.paper import reproduce

METHODS = (
    Method("norm", group=paper.PAPER),
    Method("sm", "margin", 0.0, group=paper.PAPER),
    Method("random", "random", 0.0, group=paper.PAPER),
)


@pytest.fixture
def small(tmp_path, monkeypatch):
    """Two experiments in place of the paper's: blobs of 24 points, and damaged data."""
    monkeypatch.setenv("POISE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("POISE_DATA", raising=False)
    blobs = Experiment("blobs", {"name": "blobs", "size": 12}, METHODS, k=8, budget=6, seeds=(2, 3))
    (tmp_path / "lost.npz").write_bytes(b"lost")
    lost = replace(blobs, name="box", data=str(tmp_path / "lost.npz"))
    monkeypatch.setattr(paper, "EXPERIMENTS", {"blobs": blobs, "box": lost})
    monkeypatch.setattr(reproduce, "EXPERIMENTS", {"blobs": blobs, "box": lost})
    return blobs, lost


def test_an_experiment_that_cannot_run_does_not_stop_the_others(small, tmp_path):
    page, problems = reproduce.reproduce(small, tmp_path / "report", command="poise reproduce")
    assert page.is_file()
    text = page.read_text(encoding="utf-8")
    assert "∅</span> not testable here" in text
    assert "lost.npz cannot be read" in text
    assert (tmp_path / "report" / "summary.csv").read_text().count("\nblobs,") == 6
    (problem,) = problems
    assert problem.startswith("box: ")
    assert "lost.npz cannot be read" in problem
    assert not (tmp_path / "report" / "records" / "box").exists()
    (kept,) = reproduce.kept(tmp_path / "report").values()
    assert kept.complete


def test_the_command_prints_its_results(small, tmp_path, capsys):
    words = ["reproduce", "blobs", "--trials", "2", "--jobs", "1", "-o", str(tmp_path / "report")]
    for _ in range(2):  # the second time there is nothing left to run
        with pytest.raises(SystemExit) as end:
            cli.main(words)
        assert end.value.code == 0
        said = capsys.readouterr()
        assert "about" in said.err
        assert "index.html" in said.out
    header = json.loads((tmp_path / "report/records/blobs/experiment.json").read_text())
    assert len(header["about"]["runs"]) == 1


def test_records_of_other_parameters_are_refused_at_once(small, tmp_path):
    reproduce.reproduce(small[:1], tmp_path)
    with pytest.raises(InputError, match="budget was 6 and is now 5"):
        reproduce.kept(tmp_path, [replace(small[0], budget=5)])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["blob"], "no figure is called 'blob': did you mean blobs?"),
        (["all", "blobs"], "leave out blobs"),
        (["blobs", "-o", "FILE"], "is not a folder"),
        (["blobs", "--report-only"], "leave out blobs"),
        (["--estimate", "--report-only"], "leave out --estimate"),
        (["--report-only", "-o", "NONE"], "there are no records in"),
    ],
)
def test_mistakes_cost_one_line(small, tmp_path, capsys, words, message):
    (tmp_path / "file").touch()
    places = {"FILE": str(tmp_path / "file"), "NONE": str(tmp_path / "none")}
    words = [places.get(word, word) for word in words]
    with pytest.raises(SystemExit) as end:
        cli.main(["reproduce", *words])
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_the_forms_on_500_candidates_are_timed_once(small, tmp_path, monkeypatch):
    blobs = small[0]
    monkeypatch.setattr(reproduce, "TIMED", "blobs")
    reproduce.reproduce([blobs], tmp_path)
    timings = json.loads((tmp_path / "records" / "timings.json").read_text())
    assert set(timings) == {"vopt-subset", "sigmaopt-subset"}
    (tmp_path / "records" / "timings.json").write_text('{"vopt-subset": 123.0}')
    page, _ = reproduce.reproduce([blobs], tmp_path)
    assert "123 seconds per query" in page.read_text(encoding="utf-8")


def test_nothing_can_be_run(small, tmp_path, monkeypatch):
    def broken(*_: object, **__: object) -> None:
        raise DataError("what was sent has a wrong checksum and was deleted: try again")

    monkeypatch.setattr(Experiment, "load", broken)
    with pytest.raises(DataError, match=r"blobs: what was sent.*; box: what was sent"):
        reproduce.reproduce(small, tmp_path / "report")
    assert not (tmp_path / "report").exists()


def test_a_report_shows_experiments_with_different_numbers_of_trials(small, tmp_path, monkeypatch):
    blobs = small[0]
    other = replace(blobs, name="box", seeds=(2, 3, 5))
    monkeypatch.setattr(reproduce, "EXPERIMENTS", {"blobs": blobs, "box": other})
    reproduce.reproduce([blobs], tmp_path)
    page, _ = reproduce.reproduce([other], tmp_path)
    text = page.read_text(encoding="utf-8")
    assert "means of 2 trials" in text
    assert "means of 3 trials" in text
    assert [len(one.experiment.seeds) for one in reproduce.kept(tmp_path).values()] == [2, 3]


def test_the_report_of_a_run_that_is_still_going(small, tmp_path, capsys):
    """A method without trials, one with some, one with all, and half a trial at the end."""
    blobs = replace(small[0], seeds=(2, 3, 5))
    reproduce.reproduce([blobs], tmp_path)
    folder = tmp_path / "records" / "blobs"
    lines = [json.loads(x) for x in (folder / "records.jsonl").read_text().splitlines()]
    left = [row for row in lines if row["method"] == "norm"]
    left += [row for row in lines if row["method"] == "sm" and row["seed"] != 5]
    left += [row for row in lines if row["method"] == "sm" and row["seed"] == 5][:3]
    text = "".join(json.dumps(row) + "\n" for row in left)
    (folder / "records.jsonl").write_text(text)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(SystemExit) as end:
        cli.main(["reproduce", "--report-only", "-o", str(tmp_path)])
    assert end.value.code == 0
    assert "index.html" in capsys.readouterr().out
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "sm (2 of 3), random (0 of 3)" in page
    assert "2 of 3 trials of sm are finished." in page
    assert "<b>Not run.</b> There are no records of Box," in page


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.4, "0 s"), (89, "89 s"), (150, "2 min"), (7_200, "2.0 h")]
)
def test_durations(seconds, said):
    assert duration(seconds) == said
