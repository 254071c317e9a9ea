"""``poise plot``: what is read, what the numbers are, and what people see."""

import csv
import io
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hand_made import hand_made, of_paper, with_curve

from poise.cli.main import main
from poise.errors import DataError, InputError
from poise.experiments.experiment import Experiment, Method
from poise.experiments.plot.page import plot_files
from poise.experiments.plot.ranking import ranking, verdict
from poise.experiments.plot.runs import read_runs
from poise.experiments.records import Records, Store, read_records
from poise.experiments.summary import mean_band


def written(records: Records, folder: Path) -> Path:
    """The folder that a run of the experiment would have written."""
    about = {key: value for key, value in records.about.items() if key != "runs"}
    store = Store(folder, records.experiment)
    store.open(about | {"run": records.about["runs"][0]})
    for rows in records.trials.values():
        store.append(rows)
    return folder


@pytest.fixture
def blobs(tmp_path: Path) -> Path:
    experiment = of_paper("blobs", "norm", "sm", "random")
    levels = {"norm": 0.8, "sm": 0.7999, "random": 0.5}
    records = hand_made(experiment, levels, unfinished=(("random", 5),))
    return written(with_curve(records, "norm", np.linspace(0.7, 0.92, 11)), tmp_path / "blobs")


@pytest.fixture
def box(tmp_path: Path) -> Path:
    return written(hand_made(of_paper("box", "norm", "sm"), {"norm": 0.9}), tmp_path / "box")


def poise(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stopped:
        main(list(map(str, arguments)))
    out, err = capsys.readouterr()
    return stopped.value.code, out, err


def test_records_are_read_without_their_experiment(blobs: Path) -> None:
    before = (blobs / "records.jsonl").read_bytes()
    records = read_records(blobs)
    assert records.experiment.name == "blobs"
    assert [method.name for method in records.methods] == ["norm", "sm", "random"]
    assert records.experiment.seeds == (2, 3, 5, 6)
    assert records.seeds("random") == [2, 3, 6]
    assert records.accuracy("norm").mean(axis=0) == pytest.approx(np.linspace(0.7, 0.92, 11))
    assert records.about["points"] == 1000
    assert (blobs / "records.jsonl").read_bytes() == before


def test_parts_that_cannot_be_made_again_do_not_matter(tmp_path: Path) -> None:
    mine = Method("mine", acquisition=lambda snapshot: snapshot.graph.degrees)
    experiment = Experiment("own", "digits", (mine, Method("norm")), budget=10, seeds=(1, 2))
    folder = written(hand_made(experiment, {"mine": 0.9}), tmp_path / "own")
    (run,) = read_runs([folder])
    assert [each.row.method for each in ranking(run, "pwll")] == ["mine", "norm"]


def test_the_numbers_are_those_of_the_trials(blobs: Path) -> None:
    (run,) = read_runs([blobs])
    first, *others = ranking(run, "pwll")
    assert (first.row.method, first.behind) == ("norm", None)
    assert first.row.area == pytest.approx(np.linspace(0.7, 0.92, 11)[1:].mean())
    assert first.row.labels_to_90 == 2 + 10
    behind = {each.row.method: each.behind for each in others}
    curves = run.records
    expected = first.row.area - curves.accuracy("sm")[:, 1:].mean()
    assert behind["sm"].mean == pytest.approx(expected)
    assert (behind["sm"].trials, behind["random"].trials) == (4, 3), "only trials with equal seeds"


def test_best_is_said_only_of_a_method_that_is_ahead(tmp_path: Path) -> None:
    experiment = of_paper("blobs", "norm", "sm", "random")

    def said(name: str, **levels: float) -> str:
        (run,) = read_runs([written(hand_made(experiment, levels), tmp_path / name)])
        return verdict(ranking(run, "pwll"))

    assert said("ahead", norm=0.9, sm=0.6, random=0.5) == "norm is ahead of every other method."
    one = said("one", norm=0.9, sm=0.8999, random=0.5)
    assert one == "norm has the highest mean accuracy, but is not shown to be ahead of sm."
    two = said("two", norm=0.9, sm=0.8999, random=0.8998)
    assert two.endswith("is not shown to be ahead of sm and random.")
    single = hand_made(of_paper("blobs", "norm", "sm", trials=1), {"norm": 0.9})
    (run,) = read_runs([written(single, tmp_path / "single")])
    assert "not shown to be ahead of sm" in verdict(ranking(run, "pwll")), "one trial has no spread"


def test_curves_are_written_as_csv(blobs: Path, box: Path) -> None:
    runs = read_runs([blobs, box])
    rows = list(csv.DictReader(io.StringIO(plot_files(runs)["curves.csv"])))
    for run in runs:
        for method in (each.name for each in run.records.methods):
            band = mean_band(run.records.accuracy(method, "pwll"))
            mine = [
                row
                for row in rows
                if (row["experiment"], row["method"], row["measure"], row["model"])
                == (run.label, method, "accuracy", "pwll")
            ]
            assert [int(row["labels"]) for row in mine] == list(range(2, 13))
            for name in ("mean", "low", "high"):
                values = [float(row[name]) for row in mine]
                assert values == pytest.approx(getattr(band, name), abs=1e-6)
    assert {row["measure"] for row in rows} == {"accuracy", "balanced accuracy", "clusters"}


def test_the_page_shows_every_method_of_every_experiment(blobs: Path, box: Path) -> None:
    files = plot_files(read_runs([blobs, box]))
    page = files["index.html"]
    assert list(files)[-1] == "index.html"
    figures = {name for name in files if name.endswith(".svg")}
    assert figures == {
        f"figures/{run}-{what}.svg"
        for run in ("blobs", "box")
        for what in ("choosing", "pwll", "clusters")
    }
    for name in figures:
        root = ElementTree.fromstring(files[name])
        assert root.tag.endswith("svg")
        assert "norm" in files[name]
    assert page.count("<figure>") == len(figures)
    assert page.count('class="band') == 2 * 3 * 3 - 3, "three lines and two lines, three measures"
    assert "://" not in page


def test_the_command_prints_a_table_that_fits_and_writes_the_page(
    blobs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = poise(capsys, "plot", blobs, "--model", "pwll", "-o", tmp_path / "plot")
    assert (code, err) == (0, "")
    assert "…" not in out
    rows = re.findall(r"^ (\w+) +(\d) +([\d.]+)\s±\s[\d.]+% ", out, re.MULTILINE)
    assert max(map(len, out.splitlines()[:-1])) <= 80
    assert [row[:2] for row in rows] == [("norm", "4"), ("sm", "4"), ("random", "3")]
    assert rows[0][2] == "82.1"
    assert "own model" not in out
    assert (tmp_path / "plot" / "index.html").as_posix() in out
    assert {path.name for path in (tmp_path / "plot").iterdir()} == {
        "index.html",
        "summary.csv",
        "curves.csv",
        "figures",
    }
    summary = list(csv.DictReader(io.StringIO((tmp_path / "plot" / "summary.csv").read_text())))
    assert {row["model"] for row in summary} == {"pwll"}


def test_the_command_as_json(
    blobs: Path, box: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--json", "--only", "norm", "--only", "sm", "-o", tmp_path / "plot"]
    code, out, _ = poise(capsys, "plot", blobs.parent, *options)
    read = json.loads(out)
    assert code == 0
    assert {(row["experiment"], row["method"]) for row in read["methods"]} == {
        (run, method) for run in ("blobs", "box") for method in ("norm", "sm")
    }
    assert all(
        set(row["behind"] or {}) <= {"mean", "low", "high", "trials"} for row in read["methods"]
    )


def test_a_file_of_records_and_equal_names(blobs: Path, tmp_path: Path) -> None:
    other = written(hand_made(of_paper("blobs", "norm"), {}), tmp_path / "later" / "blobs")
    first, second = read_runs([blobs / "records.jsonl", other, blobs])
    assert (first.label, second.label) == (blobs.as_posix(), other.as_posix())
    assert first.file != second.file
    assert "/" not in first.file


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], "there is no folder nowhere: give a folder that poise run wrote"),
        (["empty"], "there are no records in empty: give a folder that poise run wrote"),
        (["blobs", "--model", "pwl"], "no evaluation model in these records is called 'pwl': did"),
        (["blobs", "--only", "nrm"], "no method in these records is called 'nrm': did you mean"),
        (["unfinished"], "no trial in unfinished is finished: run its experiment first"),
        (["alone"], "alone/records.jsonl has no experiment.json beside it"),
        (["blobs", "-o", "file"], "cannot create the folder file"),
    ],
)
def test_mistakes_are_one_line(
    blobs: Path,
    tmp_path: Path,
    arguments: list[str],
    words: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "alone").mkdir()
    (tmp_path / "alone" / "records.jsonl").touch()
    experiment = of_paper("box", "norm", trials=1)
    written(hand_made(experiment, {}, unfinished=(("norm", 2),)), tmp_path / "unfinished")
    (tmp_path / "unfinished" / "records.jsonl").touch()
    code, out, err = poise(capsys, "plot", *arguments)
    assert (code, out) == (2, "")
    assert re.fullmatch(rf"poise: {re.escape(words)}[^\n]*\n", err), err


def test_records_of_another_version_are_refused(blobs: Path) -> None:
    header = json.loads((blobs / "experiment.json").read_text("utf-8"))
    header["experiment"]["later"] = 1
    (blobs / "experiment.json").write_text(json.dumps(header))
    with pytest.raises(DataError, match="another version of poise"):
        read_records(blobs)
    (blobs / "experiment.json").unlink()
    (blobs / "records.jsonl").unlink()
    with pytest.raises(InputError, match="there are no records"):
        read_records(blobs)
